/** Futility: stops replacing nodes when the new ones fail the same way. Pure. */
import type { GuardInputs } from './guard-inputs.ts';
import type { Blocker } from '../node/rule/verdict.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import { addDuration, type EpochMs, isDue, toTimestamp } from '../../../shared/domain/time.ts';

/**
 * Blocks a due node if its pool has terminated at least `repairs` nodes for the same condition within the window, and
 * this node was created after them: another replacement would fail, too. The block ends by itself once the window has
 * passed.
 */
export function futilityBlocker(
  { settings: { futility: limits }, now, place }: Pick<GuardInputs, 'settings' | 'now' | 'place'>,
  failure: string,
  { creationTime }: Pick<NodeView, 'creationTime'>,
  terminations: readonly { readonly condition: string; readonly time: EpochMs }[],
): Blocker | undefined {
  if (limits === undefined || creationTime === undefined) return undefined;
  const similar = terminations
    .filter(
      ({ condition, time }) =>
        condition === failure && time <= creationTime && !isDue(now, addDuration(time, limits.window)),
    )
    .toSorted((a, b) => a.time - b.time);
  // When this one has left the window, too few are left in it.
  const last = similar.at(-limits.repairs);
  if (last === undefined) return undefined;
  const until = addDuration(last.time, limits.window);
  return {
    kind: 'futility',
    reason: 'FutileRepairs',
    message: `${similar.length} repairs ${place} did not help: their replacements fail the same way (${failure}); held until ${toTimestamp(until)}`,
    setting: { field: 'spec.repair.futility', numbers: { repairs: similar.length, allowed: limits.repairs } },
    until,
  };
}
