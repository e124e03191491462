/**
 * Texts of others (annotations, answers of the API server, of webhooks and of workers) may be megabytes. Cuts what is kept or said of them, and
 * lists.
 */

/** Characters of a text of others that a record, condition, Event or audit line takes: a record has room for 400 KB. */
export const MAX_TEXT_OF_OTHERS = 1024;
const MAX_QUOTED = 80;

/** The beginning of the text, with an ellipsis in place of what is left out: at most `max` characters, and never half of one. */
export function cutText(text: string, max: number = MAX_TEXT_OF_OTHERS): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Cuts a text and quotes it, as a value stands in a message. */
export const quoteCut = (text: string, max: number = MAX_QUOTED): string => JSON.stringify(cutText(text, max));

const MAX_LISTED = 5;

/** The first of them, and how many more there are. */
export function listed(items: readonly string[], max: number = MAX_LISTED): string {
  const more = items.length - max;
  return `${items.slice(0, max).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
