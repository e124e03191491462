/**
 * The health of a node (docs/node-repair.md): which repair conditions are true of it, which of them decides, and when it is due. Pure.
 */
import { cumulativeDueTime } from './flapping.ts';
import { readableSettings } from './incident.ts';
import { type JudgedNode, type OnsetContext, type UnhealthyCondition, unhealthyConditions } from './onset.ts';
import { isMarked } from './reboot-marks.ts';
import type { RepairInForce } from './settings-in-force.ts';
import type { DueCondition } from '../attempt-record.ts';
import type { Episode } from '../record.ts';
import { formatDuration } from '../../../../shared/domain/go-duration.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import {
  AWS_REPAIR_CONDITIONS,
  matchRepairConditions,
  type RepairCondition,
} from '../../../../shared/domain/repair-policy.ts';
import {
  addDuration,
  earliest,
  type EpochMs,
  isDue,
  latest,
  minutes,
  toTimestamp,
} from '../../../../shared/domain/time.ts';

/** A pass that sees a condition before its event waits this long for it. The event shows whether the time can be right. */
const HEARD_WITHIN = minutes(1);

/** Health of a node. @property unhealthy every repair condition that is true of it, with its onset */
export type Health = { readonly unhealthy: readonly UnhealthyCondition[] } & (
  | { readonly kind: 'healthy' }
  | { readonly kind: 'noTransitionTime'; readonly message: string }
  | {
      readonly kind: 'unhealthy';
      readonly dueCondition: DueCondition;
      /** A message with the condition and its due time. */
      readonly message: string;
      /** The repair condition that decides. */
      readonly entry: UnhealthyCondition;
      /** Time since which any of the repair conditions has been due. */
      readonly dueSince: EpochMs;
    }
);

export interface HealthContext extends OnsetContext {
  readonly repair: Pick<RepairInForce, 'settings'>;
  /** Earlier times in which the node was unhealthy; read only with `flapping`. */
  readonly episodes: readonly Episode[];
}

/**
 * Judges the health of the node by the entry that decides; without settings that can be read no node is unhealthy. Each
 * repair condition that is true has an onset: the transition time of the condition, but no time before the Node was created,
 * and the first look if the time cannot be right. The record keeps the onset, since an agent may write a new time with
 * each report.
 */
export function judgeHealth(node: JudgedNode, context: HealthContext): Health {
  const settings = readableSettings(context.repair);
  if (settings === undefined) return { kind: 'healthy', unhealthy: [] };
  const unhealthy = unhealthyConditions(node, settings, context);
  const [some] = unhealthy;
  if (some === undefined) return { kind: 'healthy', unhealthy };
  const timed = unhealthy.flatMap(dueTimesOf).toSorted((a, b) => a.dueTime - b.dueTime);
  const [soonest] = timed;
  const deciding = decidingOf(timed, context.now);
  if (deciding === undefined || soonest === undefined) {
    const { type, status } = some.condition;
    const message = `${type}=${status} has no lastTransitionTime that can be read: how long it lasts is not known`;
    return { kind: 'noTransitionTime', unhealthy, message };
  }
  const { entry, start, dueTime } = deciding;
  const since = timed.map(each => each.start).reduce((least, time) => earliest(least, time));
  const { flapping } = settings;
  const flappingTime = flapping && cumulativeDueTime(since, context.episodes, flapping);
  const isFlapping = flappingTime !== undefined && flappingTime < dueTime;
  const { repairCondition, condition } = entry;
  const field = isFlapping ? 'spec.repair.flapping' : repairCondition.field;
  const dueCondition: DueCondition = {
    conditionType: condition.type,
    conditionStatus: condition.status,
    lastTransitionTime: start,
    dueTime: isFlapping ? flappingTime : dueTime,
    ...(field !== undefined && { field }),
    ...(repairCondition.priority !== undefined &&
      repairCondition.priority > 0 && { priority: repairCondition.priority }),
  };
  const why =
    isFlapping && flapping !== undefined
      ? `unhealthy for ${formatDuration(flapping.unhealthyFor)} in all within ${formatDuration(flapping.window)}`
      : `tolerated ${formatDuration(repairCondition.toleration)}`;
  const message = `${condition.type}=${condition.status} since ${toTimestamp(start)}, ${why}${dueClause(dueCondition)}`;
  const dueSince = earliest(soonest.dueTime, isFlapping ? flappingTime : undefined);
  return { kind: 'unhealthy', unhealthy, dueCondition, message, entry, dueSince };
}

/** A repair condition with its onset, and when it is due. */
interface Timed {
  readonly entry: UnhealthyCondition;
  readonly start: EpochMs;
  readonly dueTime: EpochMs;
}

function dueTimesOf(entry: UnhealthyCondition): readonly Timed[] {
  const { repairCondition, onset } = entry;
  if (onset === undefined) return [];
  const { start, seenTime } = onset;
  const tolerated = addDuration(start, repairCondition.toleration);
  const dueTime = seenTime === undefined ? tolerated : latest(tolerated, addDuration(seenTime, HEARD_WITHIN));
  return [{ entry, start, dueTime }];
}

const priorityOf = ({ entry: { repairCondition } }: Timed): number => repairCondition.priority ?? 0;

/**
 * The repair condition that decides: among those that are due the one with the highest priority, then the one that is due
 * first, then the first listed. If none is due, the one that is due first.
 * @param timed those with an onset, in the order in which they are due
 */
function decidingOf(timed: readonly Timed[], now: EpochMs): Timed | undefined {
  const due = timed.filter(({ dueTime }) => isDue(now, dueTime));
  return due.toSorted((a, b) => priorityOf(b) - priorityOf(a))[0] ?? timed[0];
}

/** The end of a message about a condition: when the repair is due. */
const dueClause = ({ dueTime }: Pick<DueCondition, 'dueTime'>): string => `, repair is due at ${toTimestamp(dueTime)}`;

/** The message without that end, for a caller that shows the time by itself. */
export const withoutDueClause = (message: string, dueCondition: DueCondition): string =>
  message.replace(dueClause(dueCondition), '');

/**
 * Whether a repair condition calls the node unhealthy: one of the provider, or one of these. A node that carries marks of a
 * repair counts, too: it has a record, or the table has lost it.
 */
export const mayNeedRepair = (node: NodeView, repairConditions: readonly RepairCondition[]): boolean =>
  matchRepairConditions(node, AWS_REPAIR_CONDITIONS).length > 0 ||
  matchRepairConditions(node, repairConditions).length > 0 ||
  isMarked(node);
