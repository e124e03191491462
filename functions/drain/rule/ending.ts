/**
 * The end of a drain: what becomes of its requests, the Node, the custom resource and the record. Also who closes the record, and whether marks
 * are left on the Node. Pure.
 */
import { toFinished } from './take-request.ts';
import { isCordonKnown, isCordonOfRepair } from './cancellation.ts';
import type { EndPlan } from './decision.ts';
import { isOfMonitor } from './faults.ts';
import { hasEmptiedNode, hasNoEndKeepingCordon, remember, withUncordonedMark } from './history.ts';
import { hasStaleCordonMark, uncordonedMarkOf } from './node-annotations.ts';
import type { DrainedNode, DrainObservation } from './observation.ts';
import { endingPhase, recordedResource } from './phase.ts';
import type { ActiveDrain, DrainRecord, EndingPhase } from '../record.ts';
import type { DrainOutcome } from '../request-record.ts';
import { isDue, type EpochMs } from '../../../shared/domain/time.ts';

type Ended = Pick<DrainObservation, 'now' | 'node' | 'record'>;

/** The drain and its record once the end is decided. Requests that end with the drain no longer wait. */
export function withEnding(
  { now, node, record }: Ended,
  before: ActiveDrain,
  outcome: DrainOutcome,
): { readonly record: DrainRecord; readonly active: ActiveDrain; readonly ending: EndingPhase } {
  const ending = endingPhase(before, outcome, now);
  const active = { ...before, phase: ending };
  const requests = record.requests.filter(({ id }) => !active.requests.some(request => request.id === id));
  // Before the Node is changed, which may be refused until somebody else has cordoned it.
  return { record: withUncordonedMark({ ...record, requests, active }, uncordonedMarkOf(node)), active, ending };
}

/** Most custom resources that are left on a node: the end of a further drain waits for its own. */
const MAX_LEFT = 20;

/** The plan for the end of a drain. The node is opened after the last drain that keeps it cordoned, if the cordon is ours (I7). */
export function endPlanOf({ now, node, record }: Ended, active: ActiveDrain, { outcome, over }: EndingPhase): EndPlan {
  const { scope, startTime, drained, cordon } = active;
  const ended = active.requests.map(request => ({
    ...toFinished(request, outcome, { now, scope, drained, startTime }),
    recovered: over.includes(request.id),
    ...(cordon?.quarantined === true && isOfMonitor(request.event) && { quarantined: true }),
  }));
  const { active: _, ...idleRecord } = record;
  const isOver = ended.every(({ recovered }) => recovered);
  const isLast =
    (isOver || outcome.status === 'Cancelled') && idleRecord.requests.length === 0 && hasNoEndKeepingCordon(idleRecord);
  const uncordon = isLast && isCordonKnown(record, node);
  // Also where a run that died in between has opened the node.
  const status = isLast && (uncordon || !node.unschedulable) ? 'Cancelled' : outcome.status;
  const shown = hasEmptiedNode({ status, scope }) ? 'drained' : 'nothing';
  const next = remember(idleRecord, ended, node);
  const resource = recordedResource(active);
  const { leftResources = [] } = next;
  const mayLeaveResource = resource !== undefined && leftResources.length < MAX_LEFT;
  return {
    ended,
    status,
    shown,
    uncordon,
    record: next,
    recordIfResourceStays: mayLeaveResource
      ? { ...next, leftResources: [...leftResources, { id: active.id, resource }] }
      : undefined,
  };
}

interface RecordInHand {
  readonly now: EpochMs;
  /** Time when the record's timer is due. */
  readonly armed: EpochMs | undefined;
  /** Id of the drain that this run ended. */
  readonly endedDrainId: string | undefined;
}

/** Whether another run ended the drain a moment ago and is about to close it. Should that run have died, its timer comes. */
export const isEndedElsewhere = (
  { now, armed, endedDrainId }: RecordInHand,
  { id }: Pick<ActiveDrain, 'id'>,
): boolean => endedDrainId !== id && armed !== undefined && !isDue(now, armed);

/** Whether the Node carries marks of a drain that has ended. They keep a slot of the pool until they are removed. */
export const isLeftOver = (node: DrainedNode): boolean =>
  node.underWay !== undefined ||
  node.isWatched ||
  node.shownDrain === 'inProgress' ||
  (node.shownDrain === 'drained' && !node.unschedulable) ||
  isCordonOfRepair(node.cordonMark, node) ||
  hasStaleCordonMark(node);
