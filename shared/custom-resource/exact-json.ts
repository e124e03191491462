/**
 * JSON in which integers keep all their digits, as Go's int64 does: an ID of 18 digits is another one after it was a double.
 *
 * @param value as a YAML parser gives it: integers that are no exact double are bigints
 * @returns the same as JSON; such an integer is its text (`JSON.rawJSON`), which `JSON.stringify` writes as it stands
 * @throws RangeError for a number that JSON does not have
 */
export function exactJson(value: unknown): unknown {
  const text = JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === 'bigint') return json.rawJSON(String(each));
    if (typeof each === 'number' && !Number.isFinite(each)) throw new RangeError(`${each} is no number of JSON`);
    return each;
  });
  return json.parse(text ?? 'null', (_, each, { source = '' }) =>
    typeof each === 'number' && /^-?\d+$/.test(source) && !Number.isSafeInteger(each) ? json.rawJSON(source) : each,
  );
}

/** Part of ECMAScript's source text access, which the compiler's library does not declare yet. */
const json = JSON as unknown as {
  rawJSON(text: string): unknown;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
};
