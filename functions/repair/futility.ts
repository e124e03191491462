/** What holds a single act back: too many at the same time, or too many before that did not help. Pure. */
import type { NodeView } from '../../shared/domain/node.ts';
import { type EpochMs, addDuration, toTimestamp } from '../../shared/domain/time.ts';
import type { Surroundings } from './guards.ts';
import { HOLD_CHECK } from './times.ts';
import type { Hold } from './verdict.ts';

/** What holds a node back where so many repairs are in flight as may be. */
export function budgetHold(scope: string, inFlight: number, limit: number, now: EpochMs): Hold {
  return {
    reason: 'ConcurrencyBudget',
    message: `${inFlight} ${inFlight === 1 ? 'repair is' : 'repairs are'} under way in ${scope}, maxConcurrentRepairs allows ${limit}`,
    basis: { field: 'spec.repair.maxConcurrentRepairs', numbers: { underWay: inFlight, allowed: limit } },
    until: addDuration(now, HOLD_CHECK),
  };
}

/** How a condition is named among the terminations. */
export const failureOf = (incident: { readonly conditionType: string; readonly conditionStatus: string }): string =>
  `${incident.conditionType}=${incident.conditionStatus}`;

/**
 * Futility: so many terminations for one reason within the window, and the node that fails for it now was made after them: another
 * replacement would fail, too. It ends by itself when the window has passed.
 */
export function futility(
  { settings: { futility: rule }, now, scope }: Pick<Surroundings, 'settings' | 'now' | 'scope'>,
  failure: string,
  { creationTime }: Pick<NodeView, 'creationTime'>,
  terminations: readonly { readonly condition: string; readonly time: EpochMs }[],
): Hold | undefined {
  if (rule === undefined || creationTime === undefined) return undefined;
  const before = terminations
    .filter(({ condition, time }) => condition === failure && time <= creationTime && time + rule.window > now)
    .toSorted((a, b) => a.time - b.time);
  // When this one has left the window, too few are left in it.
  const last = before.at(-rule.repairs);
  if (last === undefined) return undefined;
  const until = addDuration(last.time, rule.window);
  return {
    reason: 'FutileRepairs',
    message: `${before.length} repairs in ${scope} did not help: their replacements fail the same way (${failure}); held until ${toTimestamp(until)}`,
    basis: { field: 'spec.repair.futility', numbers: { repairs: before.length, allowed: rule.repairs } },
    until,
  };
}
