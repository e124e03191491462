import { inParallel } from '../../../shared/cluster/in-parallel.ts';

/** Calls under way at the same time: a pass must not become a storm on the API server. */
const AT_ONCE = 10;

/** Does the work for every item, a few at a time; a failure ends it after the batch. */
export async function inBatches<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += AT_ONCE) {
    await inParallel(items.slice(start, start + AT_ONCE).map(work));
  }
}
