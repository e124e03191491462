import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createVirtualTime } from '../../simulator/virtual-time.ts';
import { addDuration, seconds, toDurationMs, toEpochMs } from '../../shared/domain/time.ts';

const START = toEpochMs(Date.UTC(2024, 10, 1));
const after = (ms: number) => addDuration(START, toDurationMs(ms));

describe('createVirtualTime', () => {
  it('runs actions in order of time, and those of one instant as they were scheduled', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 }), async delays => {
        const time = createVirtualTime({ start: START });
        const seen: { delay: number; index: number; now: number }[] = [];
        delays.forEach((delay, index) =>
          time.at(after(delay), () => seen.push({ delay, index, now: time.now() - START })),
        );
        await time.runUntil(after(20));
        const expected = delays.map((delay, index) => ({ delay, index, now: delay }));
        expect(seen).toEqual(expected.toSorted((a, b) => a.delay - b.delay || a.index - b.index));
      }),
    );
  });

  it('lets everything settle that does not wait for time before it goes on', async () => {
    const time = createVirtualTime({ start: START });
    const seen: string[] = [];
    time.at(after(1), () => {
      void (async () => {
        for (let turn = 0; turn < 50; turn++) await Promise.resolve();
        seen.push(`settled at ${time.now() - START}`);
      })();
    });
    time.at(after(1), () => seen.push('next of the instant'));
    time.at(after(2), () => seen.push('later'));
    await time.runUntil(after(5));
    expect(seen).toEqual(['settled at 1', 'next of the instant', 'later']);
  });

  it('includes the last instant and stops there', async () => {
    const time = createVirtualTime({ start: START });
    const seen: number[] = [];
    for (const ms of [999, 1000, 1001]) time.at(after(ms), () => seen.push(ms));
    await time.runUntil(after(1000));
    expect(seen).toEqual([999, 1000]);
    expect(time.now()).toBe(after(1000));
    await time.runUntil(after(1001));
    expect(seen).toEqual([999, 1000, 1001]);
  });

  it('runs what is scheduled for the past at once, without going back', async () => {
    const time = createVirtualTime({ start: START });
    let seen: number | undefined;
    time.at(after(10), () => time.at(after(1), () => (seen = time.now())));
    await time.runUntil(after(10));
    expect(seen).toBe(after(10));
  });

  it('does not run what was called off', async () => {
    const time = createVirtualTime({ start: START });
    const callOff = time.at(after(5), () => expect.unreachable());
    time.at(after(4), callOff);
    await time.runUntil(after(10));
  });

  it('wakes a sleeper at its instant, and rejects one whose signal aborts first', async () => {
    const time = createVirtualTime({ start: START });
    const seen: unknown[] = [];
    const controller = new AbortController();
    const note = (text: string) => () => seen.push([text, time.now() - START]);
    time.sleep(seconds(2)).then(note('woke'), note('?'));
    time.sleep(seconds(9), controller.signal).then(note('?'), note('aborted'));
    time.at(after(3000), () => controller.abort());
    time.sleep(seconds(1), AbortSignal.abort('why')).catch(reason => seen.push(reason));
    await time.runUntil(after(20_000));
    expect(seen).toEqual(['why', ['woke', 2000], ['aborted', 3000]]);
  });

  it('rejects with what an action threw', async () => {
    const time = createVirtualTime({ start: START });
    time.at(after(1), () => {
      throw new Error('broken');
    });
    await expect(time.runUntil(after(2))).rejects.toThrow('broken');
  });

  it('orders an instant by the tie-break when there is one', async () => {
    const ranks = [3, 1, 2];
    const time = createVirtualTime({ start: START, tieBreak: () => ranks.shift() ?? 0 });
    const seen: string[] = [];
    for (const name of ['a', 'b', 'c']) time.at(after(1), () => seen.push(name));
    await time.runUntil(after(1));
    expect(seen).toEqual(['b', 'c', 'a']);
  });
});
