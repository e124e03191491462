/** More texts than these are forgotten together: a cluster has fewer policies and pools. */
const REMEMBERED = 500;

/**
 * The parser with a memory: a part of an object that was parsed before is not parsed again. Every look at a node asks what applies to
 * its pool, and between two looks hardly anything has changed. Known by identity, else by its text, so that what comes again from the
 * API server is known, too. `parse` is pure, and nobody changes what it was given or what it answered.
 */
export function parsedOnce<Result>(
  parse: (value: unknown, path: string) => Result,
): (value: unknown, path: string) => Result {
  const byIdentity = new WeakMap<object, Map<string, Result>>();
  const byText = new Map<string, Result>();
  const remembered = (value: object, path: string): Result => {
    const text = `${path} ${JSON.stringify(value)}`;
    const known = byText.get(text);
    if (known !== undefined) return known;
    const result = parse(value, path);
    if (byText.size >= REMEMBERED) byText.clear();
    byText.set(text, result);
    return result;
  };
  return (value, path) => {
    if (typeof value !== 'object' || value === null) return parse(value, path);
    const known = byIdentity.get(value) ?? new Map<string, Result>();
    const parsed = known.get(path);
    if (parsed !== undefined) return parsed;
    const result = remembered(value, path);
    known.set(path, result);
    byIdentity.set(value, known);
    return result;
  };
}
