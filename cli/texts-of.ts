/** The entries of a ConfigMap's `data` that are texts; none where it is no object. */
export function textsOf(data: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(typeof data === 'object' && data !== null ? data : {});
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
