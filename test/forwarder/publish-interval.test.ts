import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPublishInterval, type PublishIntervalSettings } from '../../forwarder/publish-interval.ts';
import { createChangeQueue } from '../../forwarder/queue.ts';
import { keyOfChange } from '../../forwarder/tracker.ts';
import { seconds, toEpochMs } from '../../shared/domain/time.ts';
import { aChange } from './builders.ts';

const at = (second: number) => toEpochMs(1_000_000 + second * 1000);
const forever = new AbortController().signal;
const SETTINGS = { period: seconds(30), burst: 3 };

/** A queue with a bus that takes everything at once. */
function setUp(settings: PublishIntervalSettings = SETTINGS) {
  const interval = createPublishInterval(settings);
  const queue = createChangeQueue(100, interval);
  const published: { second: number; uid: string; changed: readonly string[]; version: string }[] = [];
  const drain = (second: number): void => {
    for (const { change } of queue.take(100, at(second))) {
      const { subject, changed, resourceVersion: version } = change;
      published.push({ second, uid: subject.uid, changed, version });
      queue.published(keyOfChange(change), at(second));
    }
  };
  const offer = async (second: number, change: Parameters<typeof aChange>[0]): Promise<void> => {
    await queue.offer(aChange(change), forever);
    drain(second);
  };
  return { interval, queue, published, drain, offer };
}

describe('the interval of publishing', () => {
  it('lets the first changes of a part through at once and then one per period, the latest state last', async () => {
    const { published, offer, drain, queue } = setUp();
    for (let second = 0; second < 10; second++) {
      await offer(second, { changed: ['annotations'], resourceVersion: String(second) });
    }
    expect(published.map(({ second }) => second)).toEqual([0, 1, 2]);
    expect(queue.availability(at(10))).toEqual({ kind: 'at', time: at(30) });
    drain(29);
    drain(30);
    expect(published.slice(3)).toEqual([{ second: 30, uid: 'u1', changed: ['annotations'], version: '9' }]);
  });

  it('has an allowance of its own for a part that has one', async () => {
    const { published, offer, drain } = setUp({ ...SETTINGS, ofPart: { pods: { period: seconds(2), burst: 1 } } });
    for (const second of [0, 0.5, 1]) await offer(second, { changed: ['pods'], resourceVersion: String(second) });
    await offer(1, { uid: 'u2', changed: ['pods'] });
    drain(1.9);
    expect(published.map(({ second, uid }) => [second, uid])).toEqual([
      [0, 'u1'],
      [1, 'u2'],
    ]);
    drain(2);
    expect(published.at(-1)).toMatchObject({ uid: 'u1', second: 2, version: '1' });
  });

  it('never delays a condition because of a flapping label, and takes the label along', async () => {
    const { published, offer } = setUp();
    for (let second = 0; second < 10; second++) await offer(second, { changed: ['labels'] });
    await offer(11, { changed: ['conditions'] });
    expect(published.at(-1)).toMatchObject({ second: 11, changed: ['conditions', 'labels'] });
  });

  it('keeps objects apart, and holds back neither deletions nor repeats', async () => {
    const { published, offer } = setUp({ period: seconds(30), burst: 1 });
    await offer(0, { uid: 'a', changed: ['spec'] });
    await offer(1, { uid: 'b', changed: ['spec'] });
    await offer(2, { uid: 'b', changed: [], resync: true });
    await offer(3, { uid: 'b', changed: ['spec'] });
    await offer(4, { uid: 'a', change: 'Deleted', changed: [] });
    expect(published.map(({ second }) => second)).toEqual([0, 1, 2, 4]);
  });

  it('lets a change go that has met a repeat', async () => {
    const { published, offer } = setUp({ period: seconds(30), burst: 1 });
    await offer(0, { changed: ['taints'] });
    await offer(1, { changed: ['taints'] });
    await offer(2, { changed: [], resync: true });
    expect(published).toMatchObject([{ second: 0 }, { second: 2, changed: ['taints'] }]);
  });

  it('is off with a period of zero, and lifted when the forwarder stops', async () => {
    const off = setUp({ period: seconds(0), burst: 3 });
    for (let second = 0; second < 10; second++) await off.offer(second, {});
    expect(off.published).toHaveLength(10);
    const { queue, offer } = setUp({ period: seconds(30), burst: 1 });
    await offer(0, {});
    await offer(1, {});
    expect(queue.depth()).toBe(1);
    queue.dropInterval();
    expect(queue.availability(at(1))).toEqual({ kind: 'now' });
  });

  it('remembers only objects that were published lately', async () => {
    const { interval, offer } = setUp();
    for (let index = 0; index < 50; index++) await offer(index, { uid: `u${index}`, changed: ['spec'] });
    await offer(200, { uid: 'last', changed: ['spec'] });
    expect(interval.size()).toBe(1);
  });

  it('bounds what any writer can cause, and always publishes the last state within a period', async () => {
    const step = fc.record({ wait: fc.nat(40), parts: fc.subarray(['a', 'b', 'c'], { minLength: 1 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), async (steps, burst) => {
        const period = seconds(30);
        const { published, offer, drain, queue } = setUp({ period, burst });
        let second = 0;
        for (const [index, { wait, parts }] of steps.entries()) {
          for (let passed = 0; passed < wait; passed++) drain((second += 1));
          await offer(second, { changed: parts, resourceVersion: String(index) });
        }
        for (let passed = 0; passed <= 30; passed++) drain((second += 1));
        expect(queue.depth()).toBe(0);
        if (steps.length > 0) expect(published.at(-1)?.version).toBe(String(steps.length - 1));
        // A part that has an allowance takes the others along, so the bound is that of all parts together.
        for (const from of published) {
          const within = published.filter(({ second: other }) => other >= from.second && other < from.second + 90);
          expect(within.length).toBeLessThanOrEqual(3 * (burst + 3));
        }
      }),
      { numRuns: 50 },
    );
  });
});
