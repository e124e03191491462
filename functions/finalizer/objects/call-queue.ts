/** The queue of a rule's calls: when the clean-up of an object has its turn. Pure: no I/O, no clock. */
import type { RateLimit } from '../../../shared/domain/finalizer-rule.ts';
import { RUN_ENDS_WITHIN } from '../../../shared/domain/run-end.ts';
import { addDuration, isDue, toDurationMs, type EpochMs } from '../../../shared/domain/time.ts';

/** The calls of one rule. */
export interface CallQueue {
  /** Until when places are taken. */
  readonly taken?: EpochMs;
  /** Calls under way, by object: until when they may be. */
  readonly running?: Readonly<Record<string, EpochMs>>;
}

/**
 * A place in a rule's queue: as many at once as may be under way, then one each interval. A place that has come takes up one of those that
 * may be under way; where all are, it is behind the others again.
 *
 * @param own whose place it is: a UID; `isPlaced`: its place has come
 */
export function takeSlot(
  { taken, running = {} }: CallQueue,
  { uid: own, isPlaced }: { readonly uid: string; readonly isPlaced: boolean },
  { perSecond, concurrent }: RateLimit,
  now: EpochMs,
): { readonly slot: EpochMs; readonly queue: CallQueue } {
  const interval = toDurationMs(Math.ceil(1000 / perSecond));
  const left = Object.fromEntries(Object.entries(running).filter(([uid, until]) => uid !== own && !isDue(now, until)));
  const from = taken !== undefined && taken > now ? taken : now;
  const early = addDuration(from, toDurationMs(-concurrent * interval));
  const isFull = Object.keys(left).length >= concurrent;
  const next = addDuration(from, interval);
  const begun = { ...left, [own]: addDuration(now, RUN_ENDS_WITHIN) };
  if (isPlaced && !isFull) return { slot: now, queue: { ...(taken !== undefined && { taken }), running: begun } };
  const slot = isFull ? next : early > now ? early : now;
  return { slot, queue: { taken: next, running: slot > now ? left : begun } };
}

/** The queue when a call has ended. */
export const endCall = ({ running = {}, ...queue }: CallQueue, own: string): CallQueue => ({
  ...queue,
  running: Object.fromEntries(Object.entries(running).filter(([uid]) => uid !== own)),
});
