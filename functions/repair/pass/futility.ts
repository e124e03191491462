/** Repairs that did not help: the history that a pool keeps of them, and when it holds further ones back. Pure. */
import type { NodeView } from '../../../shared/domain/node.ts';
import type { RepairSettings } from '../../../shared/domain/repair-policy.ts';
import { addDuration, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import type { DueNode } from '../decide.ts';
import type { Hold, Surroundings } from './guards.ts';
import type { PoolState, RepairAttempt } from './pool.ts';

/** How a condition is named in the history of repairs. */
export const failureOf = ({ incident }: Pick<DueNode, 'incident'>): string =>
  `${incident.conditionType}=${incident.conditionStatus}`;

/**
 * Futility: so many repairs for one reason within the window, and the node that fails for it now was made after them: another
 * replacement would fail, too. It ends by itself when the window has passed.
 */
export function futility(
  { settings, now, scope }: Pick<Surroundings, 'settings' | 'now' | 'scope'>,
  due: Pick<DueNode, 'incident'>,
  node: Pick<NodeView, 'creationTime'>,
  repairs: PoolState['repairs'],
): Hold | undefined {
  const { futility: rule } = settings;
  const { creationTime } = node;
  if (rule === undefined || creationTime === undefined) return undefined;
  const failure = failureOf(due);
  const before = repairs
    .filter(({ condition, time }) => condition === failure && time <= creationTime && time + rule.window > now)
    .toSorted((a, b) => a.time - b.time);
  // When this one has left the window, too few are left in it.
  const last = before.at(-rule.repairs);
  if (last === undefined) return undefined;
  const until = addDuration(last.time, rule.window);
  return {
    reason: 'FutileRepairs',
    message: `${before.length} repairs in ${scope} did not help: their replacements fail the same way (${failure}); held until ${toTimestamp(until)}`,
    until,
  };
}

/** No more than so many are remembered: the newest. */
const MAX_REPAIRS = 100;

/** The repairs that `futility` counts, with those that begin now. */
export function recentRepairs(
  repairs: PoolState['repairs'],
  begun: readonly RepairAttempt[],
  { futility: rule }: RepairSettings,
  now: EpochMs,
): PoolState['repairs'] {
  if (rule === undefined) return [];
  const terminations = begun.filter(({ action }) => action === 'Terminate');
  const added = terminations.map(attempt => ({ condition: failureOf(attempt), time: now }));
  return [...repairs, ...added].filter(({ time }) => time + rule.window > now).slice(-MAX_REPAIRS);
}
