/** What keeps the record of a node's drains below the 400 KB of an item, whatever the node's monitors send. Pure; part of `decide`. */

export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** The newest of a list whose newest is last: as many as allowed, while their JSON stays within the bytes. */
export function newestOf<Entry>(
  all: readonly Entry[],
  { count, maxBytes }: { readonly count: number; readonly maxBytes: number },
): readonly Entry[] {
  const newest = all.slice(-count);
  let bytes = 0;
  return newest.slice(newest.findLastIndex(each => (bytes += bytesOf(each)) > maxBytes) + 1);
}
