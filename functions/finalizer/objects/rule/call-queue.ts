/** The queue of a FinalizerRule's calls: it gives the clean-up of an object its turn. Pure: no I/O, no clock. */
import type { RateLimit } from '../../../../shared/domain/finalizer-rule.ts';
import { RUN_ENDS_WITHIN } from '../../../../shared/domain/run-end.ts';
import { addDuration, isDue, toDurationMs, type EpochMs } from '../../../../shared/domain/time.ts';

/** The calls of one FinalizerRule. */
export interface CallQueue {
  /** Time when the next slot is free; absent: now. */
  readonly nextSlotTime?: EpochMs;
  /** Times when the calls under way count as over, by UID of the object. */
  readonly callEndTimes?: Readonly<Record<string, EpochMs>>;
}

/**
 * A slot in a FinalizerRule's queue: as many at once as may be under way, then one each interval. A slot that is due uses a
 * free place. If none is free, the object queues again at the end.
 *
 * @param own whose slot it is: a UID; `isSlotDue`: its slot has come
 */
export function takeCallSlot(
  { nextSlotTime, callEndTimes = {} }: CallQueue,
  { uid: own, isSlotDue }: { readonly uid: string; readonly isSlotDue: boolean },
  { perSecond, concurrent }: RateLimit,
  now: EpochMs,
): { readonly slot: EpochMs; readonly queue: CallQueue } {
  const interval = toDurationMs(Math.ceil(1000 / perSecond));
  const underWay = Object.fromEntries(
    Object.entries(callEndTimes).filter(([uid, until]) => uid !== own && !isDue(now, until)),
  );
  const from = nextSlotTime !== undefined && nextSlotTime > now ? nextSlotTime : now;
  const early = addDuration(from, toDurationMs(-concurrent * interval));
  const isFull = Object.keys(underWay).length >= concurrent;
  const next = addDuration(from, interval);
  const withOwn = { ...underWay, [own]: addDuration(now, RUN_ENDS_WITHIN) };
  if (isSlotDue && !isFull)
    return { slot: now, queue: { ...(nextSlotTime !== undefined && { nextSlotTime }), callEndTimes: withOwn } };
  const slot = isFull ? next : early > now ? early : now;
  return { slot, queue: { nextSlotTime: next, callEndTimes: slot > now ? underWay : withOwn } };
}

/** The queue when a call has ended. */
export const freeCallSlot = ({ callEndTimes = {}, ...queue }: CallQueue, own: string): CallQueue => ({
  ...queue,
  callEndTimes: Object.fromEntries(Object.entries(callEndTimes).filter(([uid]) => uid !== own)),
});
