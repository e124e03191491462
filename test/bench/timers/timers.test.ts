import { describe, expect, it } from 'vitest';
import { recordFor, timerAt, type TimerPlan } from '../../../bench/timers/armed.ts';
import { createLatenessLog } from '../../../bench/timers/lateness.ts';
import { measureSweep } from '../../../bench/timers/sweep.ts';
import { createMemoryRecordStore } from '../../../runtime/memory/record-store.ts';
import { nodeCodec } from '../../../functions/repair/record.ts';
import { addDuration, minutes, seconds, toEpochMs } from '../../../shared/domain/time.ts';

const NOON = toEpochMs(Date.UTC(2026, 0, 5, 12));
const plan: TimerPlan = { armed: 1000, due: 40, windowStart: NOON, window: minutes(4) };
const timers = Array.from({ length: plan.armed }, (_unused, index) => timerAt(plan, index));

describe('timerAt', () => {
  it('puts as many into the window as planned, evenly, and the others later', () => {
    const inMinute = [0, 1, 2, 3].map(
      minute =>
        timers.filter(({ dueTime }) => dueTime >= NOON + minutes(minute) && dueTime < NOON + minutes(minute + 1))
          .length,
    );
    expect(inMinute.reduce((sum, count) => sum + count)).toBe(plan.due);
    for (const count of inMinute) expect(Math.abs(count - 10)).toBeLessThanOrEqual(2);
    expect(timers.filter(({ dueTime }) => dueTime >= NOON + minutes(120))).toHaveLength(960);
  });

  it('names every timer differently', () => {
    expect(new Set(timers.map(({ name }) => name)).size).toBe(plan.armed);
    expect(new Set(timers.map(({ uid }) => uid)).size).toBe(plan.armed);
  });
});

describe('recordFor', () => {
  it('is a record that the repair function can read', () => {
    const timer = timerAt(plan, 7);
    const { state, nextWakeTime } = recordFor(timer);
    expect(nodeCodec.parse(state).incident?.dueTime).toBe(timer.dueTime);
    expect(nextWakeTime).toBe(timer.dueTime);
  });
});

describe('createLatenessLog', () => {
  it('counts the first look at or after the due time, and nothing before', () => {
    const log = createLatenessLog([{ name: 'a', uid: '1', dueTime: NOON }]);
    log.looked('a', toEpochMs(NOON - 1));
    log.looked('stranger', NOON);
    expect([log.open(), log.lateness()]).toEqual([1, []]);
    log.looked('a', toEpochMs(NOON + 250));
    log.looked('a', toEpochMs(NOON + 9000));
    expect([log.open(), log.lateness()]).toEqual([0, [250]]);
  });
});

describe('measureSweep', () => {
  it('counts what the timer function reads and would send', async () => {
    const store = createMemoryRecordStore();
    for (const timer of timers) await store.put(recordFor(timer), 0);
    const quiet = await measureSweep(store, addDuration(NOON, minutes(-10)));
    expect(quiet).toMatchObject({ pagesPerShard: 1, wakeUps: 0 });
    const inNinetySeconds = timers.filter(({ dueTime }) => dueTime <= addDuration(NOON, seconds(90))).length;
    expect(await measureSweep(store, NOON)).toMatchObject({ pagesPerShard: 1, wakeUps: inNinetySeconds });
  });
});
