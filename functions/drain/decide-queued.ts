/** What becomes of a drain that waits for its turn, cordoned. Pure; part of `decide`. */
import type { LimitsInForce } from '../../shared/domain/drain-limits.ts';
import { earliest } from '../../shared/domain/time.ts';
import type { DrainDecision } from './decision.ts';
import type { ActiveDrain, DrainRequest } from './model.ts';
import type { DrainObservation } from './observation.ts';
import { notOverdue } from './overdue.ts';
import { holdFor, isPrepared } from './prepared.ts';
import { mustWait, turnOf, waitedTooLong, waitsForNobody, waitsUntil } from './queue.ts';
import { sinceOf } from './under-way.ts';

/** Nothing begins where nobody can say how many drains are allowed, but what waits for nobody. */
export function unreadableLimits(limits: LimitsInForce, requests: readonly DrainRequest[]): DrainDecision | undefined {
  if (typeof limits !== 'string' || requests.some(waitsForNobody)) return undefined;
  return { kind: 'hold', reason: 'UnreadableLimits', message: limits };
}

/** The same of a drain that waits for its turn. One that has begun goes on. */
export const holdOfQueue = (
  { limits }: DrainObservation,
  { queue, requests }: ActiveDrain,
): DrainDecision | undefined => (queue === undefined ? undefined : unreadableLimits(limits, requests));

/** The drain waits, cordoned, until fewer nodes of its pool are drained. */
export function decideQueued(observation: DrainObservation, active: ActiveDrain): DrainDecision {
  const { now, node, limits, neighbours, record, rules } = observation;
  const { queue, ...rest } = active;
  if (queue === undefined) throw new RangeError('the drain does not wait');
  const timeout = rules?.settings.deleteAfterTimeout;
  const requests = timeout ? active.requests.map(each => notOverdue(each, timeout, now)) : active.requests;
  const begun: ActiveDrain = { ...rest, requests, startTime: now };
  const start: DrainDecision = { kind: 'start', record: { ...record, active: begun }, active: begun };
  if (typeof limits === 'string' || limits.maxConcurrent === undefined || !mustWait(limits, active.requests))
    return start;
  const tooLong = waitedTooLong(active, limits, now);
  if (tooLong !== undefined) return { kind: 'finish', active, outcome: tooLong, pass: undefined };
  if (!isPrepared(observation, active, false)) {
    const hold = active.hold ?? holdFor(active, node);
    return { kind: 'prepare', active, hold, showDraining: false, pass: undefined };
  }
  if (neighbours === undefined) throw new RangeError('nobody has read the other nodes of the pool');
  const self = { uid: node.uid, since: sinceOf(active), takes: queue.takes };
  const turn = turnOf(self, neighbours, limits.maxConcurrent, now);
  switch (turn.kind) {
    case 'begin':
      return start;
    case 'take':
    case 'giveBack':
      return {
        kind: 'note',
        record: { ...record, active: { ...active, queue: { ...queue, takes: turn.kind === 'take' } } },
      };
    case 'wait': {
      const until = earliest(turn.until, waitsUntil(active, limits)) ?? turn.until;
      return { kind: 'queue', active, message: turn.message, until };
    }
  }
}
