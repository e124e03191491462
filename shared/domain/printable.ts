/**
 * Text that others wrote (annotations, ids, reasons of conditions), made safe to read: what a terminal obeys or an eye cannot see stands
 * as an escape. So nobody can clear a screen, turn the order of characters around, or forge a line by what they name a thing.
 */

/** Control characters, directional formatting, and the line breaks of Unicode; not line breaks and tabs as such. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Its line breaks and tabs stay: a failure may be a whole stack trace. */
export const printable = (text: string): string => text.replace(UNSEEN, escaped);

/** Makes a text printable on one line, where each line says who speaks. */
export const onOneLine = (text: string): string => printable(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');

/** The beginning of the text in at most `max` bytes of UTF-8, with an ellipsis in place of what is left out, and no half character. */
export function cutToBytes(text: string, max: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= max) return text;
  const mark = '…';
  const room = bytes.subarray(0, max - new TextEncoder().encode(mark).length);
  // `stream` holds back a character that is cut in two.
  return new TextDecoder().decode(room, { stream: true }) + mark;
}
