/**
 * Reads that do not depend on each other, at once. Like `Promise.all`, but a failure is told only when all have ended: nothing may
 * run on after a handler has answered, because Lambda freezes the environment there and what is left thaws minutes later.
 */
export async function inParallel<const Parts extends readonly unknown[]>(
  parts: Parts,
): Promise<{ -readonly [Index in keyof Parts]: Awaited<Parts[Index]> }> {
  try {
    return await Promise.all(parts);
  } catch (error) {
    await Promise.allSettled(parts);
    throw error;
  }
}

/** Calls under way at the same time: a round of them must not become a storm on the API server. */
const AT_ONCE = 10;

/** Does the work for every item, a few at a time; a failure ends it after the batch. */
export async function inBatches<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += AT_ONCE) {
    await inParallel(items.slice(start, start + AT_ONCE).map(work));
  }
}
