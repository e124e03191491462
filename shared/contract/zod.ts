/**
 * zod in its small edition, for all that the functions' bundles carry: the full one, whose schemas have a method for everything,
 * makes up a third of a function's start. Its messages are those of the full edition, which users read.
 */
import * as mini from 'zod/mini';
import en from 'zod/v4/locales/en.js';

/**
 * The message about a missing value. Without it, zod says the same as about a value that is not one of those expected.
 */
function ofMissingValue(issue: mini.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'invalid_value' || issue.input !== undefined) return undefined;
  const values = issue.values.map(value => JSON.stringify(value)).join(', ');
  return `is missing, ${issue.values.length > 1 ? 'one of ' : ''}${values} expected`;
}

mini.config({ ...en(), customError: ofMissingValue });

export * from 'zod/mini';

/** An array that nobody changes. */
export const list = <Schema extends mini.ZodMiniType>(schema: Schema) => mini.readonly(mini.array(schema));

/** Checks of a length look at texts and lists only: JSON may have an object whose own `length` cannot be compared. */
function ofTextsAndLists<Check extends ReturnType<typeof mini.minLength> | ReturnType<typeof mini.maxLength>>(
  check: Check,
): Check {
  check._zod.def.when = ({ value }) => typeof value === 'string' || Array.isArray(value);
  return check;
}

/** Checks texts and lists. Any other value passes: its own type refuses it. */
export const minLength: typeof mini.minLength = (minimum, params) => ofTextsAndLists(mini.minLength(minimum, params));
/** Checks texts and lists. Any other value passes: its own type refuses it. */
export const maxLength: typeof mini.maxLength = (maximum, params) => ofTextsAndLists(mini.maxLength(maximum, params));

/**
 * Makes a value at its first use, and keeps it: a schema of a hundred parts costs a start 3 ms, and only some messages
 * need it.
 */
export function madeOnce<Made>(make: () => Made): () => Made {
  let made: { readonly value: Made } | undefined;
  return () => (made ??= { value: make() }).value;
}
