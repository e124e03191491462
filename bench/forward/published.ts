/** What the bus took, beside what it had to take. Pure. */
import type { Step } from './workload.ts';

export interface Published {
  /** Events that were published. */
  readonly total: number;
  /** Changes that somebody wants to hear of. */
  readonly changes: number;
  /** Events about objects of which nothing changed that anybody wants to hear of. */
  readonly forHeartbeats: number;
  /** Events beyond one for each change of an object. */
  readonly surplus: number;
}

/** `counts`: events by object, in the spelling of `Step.object`. */
export function comparePublished(
  steps: readonly Pick<Step, 'object' | 'changes'>[],
  counts: ReadonlyMap<string, number>,
): Published {
  const expected = new Map<string, number>();
  for (const { object, changes } of steps) expected.set(object, (expected.get(object) ?? 0) + changes);
  const published = { total: 0, changes: 0, forHeartbeats: 0, surplus: 0 };
  for (const object of new Set([...expected.keys(), ...counts.keys()])) {
    const [wanted, got] = [expected.get(object) ?? 0, counts.get(object) ?? 0];
    published.total += got;
    published.changes += wanted;
    published.surplus += Math.max(0, got - wanted);
    if (wanted === 0) published.forHeartbeats += got;
  }
  return published;
}
