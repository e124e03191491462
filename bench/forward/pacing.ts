/** Which steps of a workload are carried out next. Pure. */
import type { Step } from './workload.ts';

/** A server gets its writes one by one: more at once would be a burst that no cluster makes. */
const BATCH_MAX = 64;

/**
 * The steps from the `from`th on that are due `after` the start, no two of them about one object, so that the order within the batch
 * does not matter.
 */
export function nextBatch(steps: readonly Step[], from: number, after: number): readonly Step[] {
  const objects = new Set<string>();
  let end = from;
  for (; end < Math.min(steps.length, from + BATCH_MAX); end += 1) {
    const step = steps[end];
    if (step === undefined || step.after > after || objects.has(step.object)) break;
    objects.add(step.object);
  }
  return steps.slice(from, end);
}
