/** The queue of a FinalizerRule's calls: it gives the clean-up of an object its turn. Pure: no I/O, no clock. */
import type { RateLimit } from '../../../../shared/domain/finalizer-rule.ts';
import { RUN_ENDS_WITHIN } from '../../../../shared/domain/run-end.ts';
import {
  addDuration,
  isAhead,
  isDue,
  latest,
  toDurationMs,
  whileAhead,
  type EpochMs,
} from '../../../../shared/domain/time.ts';

/** The calls of one FinalizerRule. */
export interface CallQueue {
  /** Time from which the next call may be made; absent: now. */
  readonly nextFreeTime?: EpochMs;
  /** Times when the calls under way count as over, by UID of the object. */
  readonly callEndTimes?: Readonly<Record<string, EpochMs>>;
}

/**
 * The time of a call: as many are made at once as may be under way, then one each interval. A call whose time has come is made if another one may
 * be under way. If none may, the object queues again at the end.
 *
 * @param own whose call it is: a UID; `isCallDue`: its time has come
 */
export function reserveCallTime(
  { nextFreeTime, callEndTimes = {} }: CallQueue,
  { uid: own, isCallDue }: { readonly uid: string; readonly isCallDue: boolean },
  { perSecond, concurrent }: RateLimit,
  now: EpochMs,
): { readonly callTime: EpochMs; readonly queue: CallQueue } {
  const interval = toDurationMs(Math.ceil(1000 / perSecond));
  const underWay = Object.fromEntries(
    Object.entries(callEndTimes).filter(([uid, until]) => uid !== own && !isDue(now, until)),
  );
  const from = whileAhead(now, nextFreeTime) ?? now;
  const early = addDuration(from, toDurationMs(-concurrent * interval));
  const isFull = Object.keys(underWay).length >= concurrent;
  const next = addDuration(from, interval);
  const withOwn = { ...underWay, [own]: addDuration(now, RUN_ENDS_WITHIN) };
  if (isCallDue && !isFull)
    return { callTime: now, queue: { ...(nextFreeTime !== undefined && { nextFreeTime }), callEndTimes: withOwn } };
  const callTime = isFull ? next : latest(early, now);
  return { callTime, queue: { nextFreeTime: next, callEndTimes: isAhead(now, callTime) ? underWay : withOwn } };
}

/** The queue when a call has ended. */
export const withoutCall = ({ callEndTimes = {}, ...queue }: CallQueue, own: string): CallQueue => ({
  ...queue,
  callEndTimes: Object.fromEntries(Object.entries(callEndTimes).filter(([uid]) => uid !== own)),
});
