/**
 * Queue of drains where a policy limits how many nodes of a pool are drained at once (`drain.maxConcurrent`). Pure; part of `decide`.
 *
 * No list says which nodes are drained: each Node carries the mark `curfew.dev/drain`, and each look reads the Nodes of the pool. So that two
 * looks at once never give one slot away twice, a drain first marks its Node as taking a slot, and then looks again. It begins if all marks
 * that it sees then, its own among them, have room; else it takes the mark back. Of several that mark their Nodes, the last one to do so sees
 * the marks of all the others.
 */
import {
  slotsOf,
  type DrainLimits,
  type KnownLimits,
  type DrainLimitsInForce,
} from '../../../shared/domain/drain-limits.ts';
import { FINALIZER_SOURCE, OPERATOR_SOURCE, REPAIR_SOURCE } from '../../../shared/domain/source.ts';
import { invariant } from '../../../shared/domain/invariant.ts';
import {
  addDuration,
  isDue,
  minutes,
  seconds,
  toDurationMs,
  earliest,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import { retryNotBefore } from '../../../shared/domain/refusal.ts';
import type { DrainDecision } from './decision.ts';
import { cordonFor, isPrepared, NODE_ANNOTATION, firstRequestTimeOf } from './node-annotations.ts';
import type { PoolDrains, ReadyObservation, WaitingDrain } from './observation.ts';
import { isEnding } from './phase.ts';
import { withTimeLeft } from './progress.ts';
import type { ActiveDrain, DrainRecord, OpenPhase } from '../record.ts';
import type { DrainOutcome, DrainRequest } from '../request-record.ts';

/** Limits of a policy that says how many nodes are drained at once. */
type WithSlots = KnownLimits & { readonly maxConcurrent: NonNullable<DrainLimits['maxConcurrent']> };

/** Whether the drain of these requests waits until others are over. */
export function mustWait(limits: DrainLimitsInForce, requests: readonly DrainRequest[]): limits is WithSlots {
  return limits.kind === 'known' && limits.maxConcurrent !== undefined && !requests.some(waitsForNobody);
}

const WAIT_FOR_NOBODY: readonly string[] = [REPAIR_SOURCE, FINALIZER_SOURCE, OPERATOR_SOURCE, NODE_ANNOTATION];
/** Whether a drain begins at once, and still counts: repair, a termination or a person asks for it. */
export const waitsForNobody = ({ requestedBy }: Pick<DrainRequest, 'requestedBy'>): boolean =>
  WAIT_FOR_NOBODY.includes(requestedBy);

type Waiting = Extract<OpenPhase, { kind: 'waiting' }>;

export type QueuePosition =
  /** A slot is free, and the Node is marked for it next. */
  | { readonly kind: 'take' }
  | { readonly kind: 'begin' }
  /** Other drains were faster: the mark is taken back. */
  | { readonly kind: 'giveBack' }
  | { readonly kind: 'wait'; readonly until: EpochMs; readonly message: string };

/** Time after which the head of the queue looks again, should nobody tell it that a slot is free. */
const ASKED_AGAIN_AFTER = minutes(1);
/** Time added for each drain ahead: a thousand that wait read the pool a thousand times. */
const LATER_FOR_EACH = seconds(5);

/** The position of a drain in the queue. @param takesSlot the Node is marked as taking a slot, and `poolDrains` were read after that */
export function queuePositionOf(
  { uid, since, takesSlot }: WaitingDrain & { readonly takesSlot: boolean },
  poolDrains: PoolDrains,
  maxConcurrent: NonNullable<DrainLimits['maxConcurrent']>,
  now: EpochMs,
): QueuePosition {
  const slots = slotsOf(maxConcurrent, poolDrains.total);
  const free = Math.max(0, slots - poolDrains.drainingCount);
  if (takesSlot) return free > 0 ? { kind: 'begin' } : { kind: 'giveBack' };
  const ahead = poolDrains.waiters.filter(each => goesBefore(each, { uid, since })).length;
  if (ahead < free) return { kind: 'take' };
  const delay = toDurationMs(Math.max(ASKED_AGAIN_AFTER, (ahead - free) * LATER_FOR_EACH));
  const most = 'count' in maxConcurrent ? `${maxConcurrent.count}` : `${maxConcurrent.percent}%, here ${slots},`;
  const message = `the node is cordoned and waits for its turn: drain.maxConcurrent allows ${most} of the pool's nodes to be drained at the same time`;
  return { kind: 'wait', until: addDuration(now, delay), message };
}

/** Orders by age, and drains of the same age by UID, which is the same for all. */
export function goesBefore(one: WaitingDrain, other: WaitingDrain): boolean {
  return one.since < other.since || (one.since === other.since && one.uid < other.uid);
}

/** The drains that wait, the oldest first. */
export const sortByAge = <Each extends WaitingDrain>(waiting: readonly Each[]): readonly Each[] =>
  waiting.toSorted((a, b) => (goesBefore(a, b) ? -1 : 1));

/** Drains that may begin now, the oldest first. @param waiting all that wait */
export const nextDrains = <Each extends WaitingDrain>(
  waiting: readonly Each[],
  draining: number,
  slots: number,
): readonly Each[] => sortByAge(waiting).slice(0, Math.max(0, slots - draining));

/** Keys of the refused changes by which a drain marks its Node, or takes the mark off. */
const MARKS = ['prepare', 'finish'] as const;

/** Whether a drain that waits passes its turn to the next one: its end is decided, or its Node must not be marked until that is tried again. */
export function skipsItsTurn({ active, refusals }: DrainRecord, now: EpochMs): boolean {
  if (active !== undefined && isEnding(active)) return true;
  return MARKS.some(key => {
    const refusal = refusals?.[key];
    return refusal !== undefined && retryNotBefore(refusal, { basis: refusal.basis, now }) !== undefined;
  });
}

/** The instant until which a drain may wait; undefined: there is no deadline. */
function waitsUntil(since: EpochMs, { pausedFor }: ActiveDrain, limits: DrainLimits): EpochMs | undefined {
  return limits.deadline && addDuration(addDuration(since, limits.deadline), pausedFor);
}

/** The outcome of a drain that never began. */
function waitedTooLong({ refusals }: DrainRecord): DrainOutcome {
  const refused = refusals?.[MARKS[0]]?.message;
  const message =
    refused === undefined
      ? 'its turn did not come within drain.deadline: other nodes of the pool are drained all the time'
      : `it did not begin within drain.deadline; a change of its Node was refused: ${refused}`;
  return { status: 'Failed', reason: 'DrainWaitedTooLong', message, left: [] };
}

/** Decides about a drain that waits, cordoned, until fewer nodes of its pool are drained. */
export function decideQueued(observation: ReadyObservation, active: ActiveDrain, phase: Waiting): DrainDecision {
  const { now, node, inForce, poolDrains, record, configuration } = observation;
  const { limits } = inForce;
  const timeout = configuration.settings.deleteAfterTimeout;
  const requests = timeout ? active.requests.map(each => withTimeLeft(each, timeout, now)) : active.requests;
  // For what it was paused while it waited, only its waiting was longer.
  const counted = { startTime: now, pausedFor: toDurationMs(0) };
  const begun: ActiveDrain = { ...active, phase: { kind: 'draining' }, requests, ...counted };
  const start: DrainDecision = { kind: 'start', record: { ...record, active: begun }, active: begun };
  if (!mustWait(limits, active.requests)) return start;
  const latestTime = waitsUntil(phase.since, active, limits);
  if (latestTime !== undefined && isDue(now, latestTime))
    return { kind: 'finish', active, outcome: waitedTooLong(record), plan: undefined };
  const self = { uid: node.uid, since: firstRequestTimeOf(active), takesSlot: phase.takesSlot };
  const position = poolDrains && queuePositionOf(self, poolDrains, limits.maxConcurrent, now);
  // Decided first: where the Node must not be marked, its record says what it would be marked as.
  const takesSlot = position?.kind === 'take' || position?.kind === 'begin';
  if (active.cordon !== undefined && position !== undefined && takesSlot !== phase.takesSlot)
    return { kind: 'note', record: { ...record, active: { ...active, phase: { ...phase, takesSlot } } } };
  if (!isPrepared(observation, active, false)) {
    const cordon = cordonFor(active, node);
    return { kind: 'prepare', active, cordon, showDraining: false, plan: undefined };
  }
  invariant(position !== undefined, 'the other nodes of the pool are read for a drain that may have to wait');
  if (position.kind !== 'wait') return start;
  return { kind: 'queue', active, message: position.message, until: earliest(position.until, latestTime) };
}
