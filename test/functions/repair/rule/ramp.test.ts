/** How repairs begin again after a guard has ended: 1, 2, 4 … a minute, from the first act on. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  advanceRamp,
  nextRamp,
  rampAllows,
  unexpiredRamp,
  rampBlocker,
  rampWakeTime,
  withoutUndoneGrants,
} from '../../../../functions/repair/rule/ramp.ts';
import type { Ramp } from '../../../../functions/repair/pool-record.ts';
import { addDuration, hours, minutes, seconds, toDurationMs, type EpochMs } from '../../../../shared/domain/time.ts';
import { T } from '../../../builders/repair.ts';

const at = (minute: number): EpochMs => addDuration(T, toDurationMs(minute * 60_000));
const ramp = (step: number, minute: number, granted: number): Ramp => ({ step, stepTime: at(minute), granted });
const FIRST = ramp(0, 0, 0);

describe('a ramp', () => {
  const due = { blockingGuards: [], poolSize: 100 };
  it.each<[string, Parameters<typeof nextRamp>, Ramp | undefined]>([
    ['begins when a guard ends that blocked a due repair', [{ blockingGuards: ['threshold'] }, due, at(0)], FIRST],
    [
      'begins with each of several guards',
      [{ blockingGuards: ['cluster', 'zone/a'] }, { ...due, blockingGuards: ['cluster'] }, at(0)],
      FIRST,
    ],
    [
      'does not begin while they block',
      [{ blockingGuards: ['cluster'] }, { ...due, blockingGuards: ['cluster'] }, at(0)],
      undefined,
    ],
    ['does not begin where nothing was blocked', [{ blockingGuards: [] }, due, at(0)], undefined],
    [
      'begins anew when a guard ends in it',
      [{ blockingGuards: ['cluster'], ramp: ramp(3, 0, 8) }, due, at(5)],
      ramp(0, 5, 0),
    ],
    ['waits for its first act, however long that takes', [{ blockingGuards: [], ramp: FIRST }, due, at(300)], FIRST],
    [
      'stays for a minute after it',
      [{ blockingGuards: [], ramp: ramp(0, 0, 1) }, due, addDuration(at(1), seconds(-1))],
      ramp(0, 0, 1),
    ],
    ['allows twice as many after that', [{ blockingGuards: [], ramp: ramp(0, 0, 1) }, due, at(1)], ramp(1, 1, 0)],
    [
      'goes on after a quiet time where it was',
      [{ blockingGuards: [], ramp: ramp(1, 0, 2) }, due, at(60)],
      ramp(2, 60, 0),
    ],
    [
      'goes on while the next minute allows less than the pool has nodes',
      [{ blockingGuards: [], ramp: ramp(1, 0, 2) }, { ...due, poolSize: 5 }, at(1)],
      ramp(2, 1, 0),
    ],
    [
      'ends when the next minute allows as many as the pool has nodes',
      [{ blockingGuards: [], ramp: ramp(1, 0, 2) }, { ...due, poolSize: 4 }, at(1)],
      undefined,
    ],
    ['that nobody made use of is over after a day', [{ blockingGuards: [], ramp: FIRST }, due, at(1440)], undefined],
  ])('%s', (_, given, expected) => {
    expect(nextRamp(...given)).toEqual(expected);
  });

  it('begins its first minute with its first act, and gives back what was not carried out', () => {
    const acted = advanceRamp(FIRST, 1, at(7));
    expect(acted).toEqual(ramp(0, 7, 1));
    expect(rampAllows(acted)).toBe(0);
    expect(rampAllows(withoutUndoneGrants(acted, 1))).toBe(1);
    expect(advanceRamp(FIRST, 0, at(7))).toEqual(FIRST);
    expect(rampAllows(undefined)).toBe(Infinity);
  });

  it('allows 1, 2, 4 … in its steps, less what has begun, and stops to grow', () => {
    expect([0, 1, 2, 3].map(step => rampAllows(ramp(step, 0, 0)))).toEqual([1, 2, 4, 8]);
    expect(rampAllows(ramp(3, 0, 5))).toBe(3);
    expect(rampAllows(ramp(1_000, 0, 0))).toBe(rampAllows(ramp(31, 0, 0)));
  });

  it('counts from the first act of its step, and not from a later one', () => {
    expect(advanceRamp(ramp(2, 0, 1), 2, at(0.5))).toEqual(ramp(2, 0, 3));
    expect(advanceRamp(undefined, 2, at(0))).toBeUndefined();
  });

  it('gives back no more than it has granted', () => {
    expect(withoutUndoneGrants(ramp(2, 0, 3), 2)).toEqual(ramp(2, 0, 1));
    expect(withoutUndoneGrants(ramp(2, 0, 1), 2)).toEqual(ramp(2, 0, 0));
    expect(withoutUndoneGrants(ramp(2, 0, 1), 0)).toEqual(ramp(2, 0, 1));
    expect(withoutUndoneGrants(undefined, 2)).toBeUndefined();
  });

  it.each([
    [
      'a minute after its first act',
      ramp(2, 0, 4),
      at(1),
      '4 in this minute, twice as many from 2024-11-01T15:03:48Z on',
    ],
    [
      'in a minute where nothing has begun',
      ramp(0, 0, 0),
      at(1.5),
      '1 in this minute, twice as many from 2024-11-01T15:04:18Z on',
    ],
  ])('says how many may begin, and when more may: %s', (_, given, until, words) => {
    expect(rampBlocker(given, at(0.5))).toEqual({
      kind: 'ramp',
      reason: 'RampUp',
      message: `repairs start again slowly after an outage: ${words}`,
      until,
    });
  });

  it('is looked at when its step, or it itself, is over', () => {
    expect(rampWakeTime(ramp(0, 0, 1), T)).toBe(addDuration(T, minutes(1)));
    expect(rampWakeTime(FIRST, T)).toBe(addDuration(T, hours(24)));
  });

  it('asks for no pass when its step has ended while repair was off, and is over after a day', () => {
    expect(rampWakeTime(ramp(0, 0, 1), addDuration(T, minutes(1)))).toBe(addDuration(T, hours(24)));
    expect(unexpiredRamp(ramp(0, 0, 1), addDuration(T, minutes(60)))).toEqual(ramp(0, 0, 1));
    expect(unexpiredRamp(ramp(0, 0, 1), addDuration(T, hours(24)))).toBeUndefined();
  });
});

it('property: in the n-th minute of a ramp no more than 2^n begin, and within one minute never more than the last two steps allow', () => {
  const findings = fc.array(
    fc.record({ seconds: fc.integer({ min: 1, max: 90 }), due: fc.integer({ min: 0, max: 20 }) }),
    {
      maxLength: 40,
    },
  );
  fc.assert(
    fc.property(findings, story => {
      let now = T;
      let current: Ramp | undefined = FIRST;
      const begun: { time: EpochMs; step: number }[] = [];
      for (const look of story) {
        now = addDuration(now, seconds(look.seconds));
        current = nextRamp(
          { blockingGuards: [], ...(current && { ramp: current }) },
          { blockingGuards: [], poolSize: Infinity },
          now,
        );
        if (current === undefined) throw new Error('the ramp is over');
        const { step }: Ramp = current;
        const granted = Math.min(look.due, rampAllows(current));
        for (let index = 0; index < granted; index++) begun.push({ time: now, step });
        current = advanceRamp(current, granted, now);
      }
      for (const [step, list] of Map.groupBy(begun, each => each.step)) {
        expect(list.length).toBeLessThanOrEqual(2 ** step);
        const [first] = list;
        const within = begun.filter(
          ({ time }) => first !== undefined && time >= first.time && time < first.time + minutes(1),
        );
        expect(within.length).toBeLessThanOrEqual(2 ** step);
      }
    }),
    { numRuns: 300 },
  );
});
