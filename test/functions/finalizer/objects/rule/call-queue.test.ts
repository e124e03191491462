/** When the clean-up of an object has its turn among the calls of its rule. */
import { describe, expect, it } from 'vitest';
import {
  withoutCall,
  reserveCallTime,
  type CallQueue,
} from '../../../../../functions/finalizer/objects/rule/call-queue.ts';
import { addDuration, hours, minutes, retryWait, seconds, toDurationMs } from '../../../../../shared/domain/time.ts';
import { at } from '../../../../builders/repair.ts';

const NOW = at('2024-11-01T15:00:00Z');

describe('calls of a rule', () => {
  const LIMIT = { perSecond: 5, concurrent: 20, longestBackoff: minutes(5) };
  const reserve = (queue: CallQueue, index: number, now = NOW, isCallDue = false, limit = LIMIT) =>
    reserveCallTime(queue, { uid: `uid-${index}`, isCallDue }, limit, now);

  it('are tried again after 5 s, 10 s, 20 s … the longest back-off', () => {
    expect([1, 2, 3, 4, 50].map(attempts => retryWait(attempts, LIMIT.longestBackoff))).toEqual(
      [5, 10, 20, 40, 300].map(seconds),
    );
    expect([1, 2, 50].map(attempts => retryWait(attempts, hours(24)))).toEqual([5, 10, 86_400].map(seconds));
  });

  it('of a thousand objects at once have a bounded rate', () => {
    let queue: CallQueue = {};
    const times = Array.from({ length: 1000 }, (_, index) => {
      const taken = reserve(queue, index);
      ({ queue } = taken);
      return taken.callTime;
    });
    expect(times.filter(time => time === NOW)).toHaveLength(20);
    const perSecond = Map.groupBy(times.slice(20), time => Math.ceil((time - NOW) / 1000));
    for (const group of perSecond.values()) expect(group.length).toBeLessThanOrEqual(5);
    // After a rest there is no queue any more.
    expect(reserve(queue, 1000, addDuration(NOW, hours(1))).callTime).toBe(addDuration(NOW, hours(1)));
  });

  it('under way at the same time are never more than the rule allows, and one that ends makes room', () => {
    const limit = { ...LIMIT, perSecond: 100, concurrent: 2 };
    let queue: CallQueue = {};
    for (const index of [1, 2]) ({ queue } = reserve(queue, index, NOW, false, limit));
    const later = addDuration(NOW, seconds(10));
    const third = reserve(queue, 3, later, false, limit);
    expect(third.callTime).toBeGreaterThan(later);
    // Its time has come, and the calls before it are still under way.
    const again = reserve(third.queue, 3, addDuration(later, seconds(1)), true, limit);
    expect(again.callTime).toBeGreaterThan(addDuration(later, seconds(1)));
    expect(reserve(withoutCall(again.queue, 'uid-1'), 3, addDuration(later, seconds(2)), true, limit).callTime).toBe(
      addDuration(later, seconds(2)),
    );
    // A run that died does not keep its turn.
    expect(reserve(again.queue, 3, addDuration(NOW, minutes(1)), true, limit).callTime).toBe(
      addDuration(NOW, minutes(1)),
    );
  });
});

describe('the time of a call', () => {
  const LIMIT = { perSecond: 5, concurrent: 2, longestBackoff: minutes(5) };
  const after = (milliseconds: number) => addDuration(NOW, toDurationMs(milliseconds));
  const END = after(60_000);

  it.each<[string, CallQueue, boolean, number, CallQueue]>([
    ['is now where there is no queue', {}, false, 0, { nextFreeTime: after(200), callEndTimes: { a: END } }],
    ['is now for as many as may be under way', { nextFreeTime: after(400) }, false, 0, { nextFreeTime: after(600), callEndTimes: { a: END } }], // prettier-ignore
    ['is now after a rest', { nextFreeTime: after(-400) }, false, 0, { nextFreeTime: after(200), callEndTimes: { a: END } }], // prettier-ignore
    ['is an interval behind the one before it', { nextFreeTime: after(600) }, false, 200, { nextFreeTime: after(800), callEndTimes: {} }], // prettier-ignore
    ['is behind all where as many are under way as may be', { callEndTimes: { b: END, c: END } }, false, 200, { nextFreeTime: after(200), callEndTimes: { b: END, c: END } }], // prettier-ignore
    ['is not put off by its own earlier call', { callEndTimes: { a: after(30_000), b: END } }, false, 0, { nextFreeTime: after(200), callEndTimes: { b: END, a: END } }], // prettier-ignore
    ['is not put off by one that counts as over', { callEndTimes: { b: NOW, c: END } }, false, 0, { nextFreeTime: after(200), callEndTimes: { c: END, a: END } }], // prettier-ignore
    ['that has come moves nobody', { nextFreeTime: after(600) }, true, 0, { nextFreeTime: after(600), callEndTimes: { a: END } }], // prettier-ignore
    ['that has come makes no queue', {}, true, 0, { callEndTimes: { a: END } }],
    ['that has come while all are under way is behind the others again', { nextFreeTime: after(600), callEndTimes: { b: END, c: END } }, true, 800, { nextFreeTime: after(800), callEndTimes: { b: END, c: END } }], // prettier-ignore
  ])('%s', (_, before, isCallDue, wait, queue) => {
    expect(reserveCallTime(before, { uid: 'a', isCallDue }, LIMIT, NOW)).toStrictEqual({
      callTime: after(wait),
      queue,
    });
  });

  it('is over alone', () => {
    const queue = { nextFreeTime: after(200), callEndTimes: { a: END, b: END } };
    expect(withoutCall(queue, 'a')).toEqual({ nextFreeTime: after(200), callEndTimes: { b: END } });
    expect(withoutCall({}, 'a')).toEqual({ callEndTimes: {} });
  });
});
