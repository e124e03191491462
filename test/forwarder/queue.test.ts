import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { merge } from '../../forwarder/queue-entries.ts';
import { createChangeQueue, type ChangeQueue } from '../../forwarder/queue.ts';
import type { ObjectChange } from '../../forwarder/tracker.ts';
import { toEpochMs } from '../../shared/domain/time.ts';
import { aChange } from './builders.ts';

const at = toEpochMs;
const key = (uid: string): string => `NodeChanged/${uid}`;
const forever = new AbortController().signal;
const takeAll = (queue: ChangeQueue, now = at(0)): string[] =>
  queue.take(1000, now).map(({ change }) => `${change.change} ${change.subject.uid} v${change.resourceVersion}`);

describe('change queue', () => {
  it('keeps the order in which objects first arrived, with the latest state of each', async () => {
    const queue = createChangeQueue(10);
    await queue.offer(aChange({ uid: 'a', resourceVersion: '1' }), forever);
    await queue.offer(aChange({ uid: 'b', resourceVersion: '2' }), forever);
    expect(await queue.offer(aChange({ uid: 'a', resourceVersion: '3' }), forever)).toBe('merged');
    expect(takeAll(queue)).toEqual(['Modified a v3', 'Modified b v2']);
  });

  it('keeps an object out of the next batch while it is in one, and what arrives meanwhile for later', async () => {
    const queue = createChangeQueue(10);
    await queue.offer(aChange({ uid: 'a', resourceVersion: '1' }), forever);
    queue.take(10, at(0));
    await queue.offer(aChange({ uid: 'a', resourceVersion: '2' }), forever);
    expect(takeAll(queue)).toEqual([]);
    expect(queue.availability(at(0))).toEqual({ kind: 'empty' });
    queue.published(key('a'), at(0));
    expect(takeAll(queue)).toEqual(['Modified a v2']);
  });

  it('merges what is tried again under what arrived meanwhile, and holds it back until its time', async () => {
    const queue = createChangeQueue(10);
    await queue.offer(aChange({ uid: 'a', resourceVersion: '1', changed: ['taints'] }), forever);
    queue.take(10, at(0));
    await queue.offer(aChange({ uid: 'a', resourceVersion: '2', changed: ['conditions'] }), forever);
    queue.giveBack(key('a'), at(5));
    expect(queue.availability(at(4))).toEqual({ kind: 'at', time: 5 });
    expect(takeAll(queue, at(4))).toEqual([]);
    const [again] = queue.take(10, at(5));
    expect(again).toMatchObject({ change: { resourceVersion: '2', changed: ['conditions', 'taints'] }, attempts: 1 });
  });

  it('keeps the time at which conditions were seen that wait under a later change, and of other changes the latest', () => {
    const seen = (changed: readonly string[], ms: number, since?: number) =>
      aChange({ uid: 'a', changed, observedTime: at(ms), ...(since !== undefined && { since: at(since) }) });
    expect(merge(seen(['conditions'], 5), seen(['labels'], 9))).toMatchObject({ observedTime: 9, since: 5 });
    expect(merge(seen(['conditions'], 5, 2), seen(['conditions'], 9))).toMatchObject({ since: 2 });
    expect(merge(seen(['labels'], 5), seen(['conditions'], 9, 7))).toMatchObject({ observedTime: 9, since: 7 });
    expect(merge(seen(['labels'], 5), seen(['conditions'], 9)).since).toBeUndefined();
  });

  it('makes a change that meets a repeat one about everything, in whichever order they come', () => {
    const change = aChange({ uid: 'a', changed: ['taints'] });
    const repeat = aChange({ uid: 'a', changed: [], resync: true });
    for (const both of [merge(change, repeat), merge(repeat, change)])
      expect(both).toMatchObject({ change: 'Modified', changed: ['taints'], resync: true });
    expect(merge(repeat, repeat)).toMatchObject({ changed: [], resync: true });
    // To a reader an object that was found by the first list is there, and one that has changed since has come.
    expect(merge(aChange({ uid: 'a', change: 'Added', resync: true }), change).resync).toBeUndefined();
  });

  it('puts what failed with the whole batch back in its place, and what failed alone at the end', async () => {
    const queue = createChangeQueue(10);
    for (const uid of ['a', 'b', 'c']) await queue.offer(aChange({ uid }), forever);
    queue.take(2, at(0));
    queue.giveBack(key('b'));
    queue.giveBack(key('a'), at(0));
    expect(takeAll(queue)).toEqual(['Modified b v1', 'Modified c v1', 'Modified a v1']);
  });

  it('lets others pass while one is held back', async () => {
    const queue = createChangeQueue(10);
    await queue.offer(aChange({ uid: 'a' }), forever);
    queue.take(10, at(0));
    queue.giveBack(key('a'), at(60));
    await queue.offer(aChange({ uid: 'b' }), forever);
    expect(queue.availability(at(1))).toEqual({ kind: 'now' });
    expect(takeAll(queue, at(1))).toEqual(['Modified b v1']);
  });

  it('makes an offer wait while it is full, though not one for an object that has its place', async () => {
    const queue = createChangeQueue(1);
    await queue.offer(aChange({ uid: 'a' }), forever);
    expect(await queue.offer(aChange({ uid: 'a' }), forever)).toBe('merged');
    let entered = false;
    const offer = queue.offer(aChange({ uid: 'b' }), forever).then(() => (entered = true));
    await new Promise(resolve => setImmediate(resolve));
    expect(entered).toBe(false);
    queue.take(1, at(0));
    queue.published(key('a'), at(0));
    await offer;
    expect(queue.depth()).toBe(1);
  });

  it('refuses an offer that waits when its signal aborts', async () => {
    const queue = createChangeQueue(1);
    await queue.offer(aChange({ uid: 'a' }), forever);
    const stop = new AbortController();
    const offer = queue.offer(aChange({ uid: 'b' }), stop.signal);
    stop.abort(new Error('stopping'));
    await expect(offer).rejects.toThrow('stopping');
    expect(queue.depth()).toBe(1);
  });

  it('tells when it is empty', async () => {
    const queue = createChangeQueue(10);
    await queue.emptied(forever);
    await queue.offer(aChange({ uid: 'a' }), forever);
    let emptied = false;
    const wait = queue.emptied(forever).then(() => (emptied = true));
    queue.take(10, at(0));
    await new Promise(resolve => setImmediate(resolve));
    expect(emptied).toBe(false);
    queue.published(key('a'), at(0));
    await wait;
  });
});

describe('merge', () => {
  it.each<[ObjectChange['change'], ObjectChange['change'], ObjectChange['change'], string[]]>([
    ['Added', 'Modified', 'Added', ['conditions', 'taints']],
    ['Modified', 'Modified', 'Modified', ['conditions', 'taints']],
    ['Added', 'Deleted', 'Deleted', []],
    ['Modified', 'Deleted', 'Deleted', []],
    ['Deleted', 'Added', 'Added', ['conditions']],
    ['Modified', 'Added', 'Added', ['conditions', 'taints']],
  ])('%s then %s is %s', (older, newer, change, changed) => {
    const before = aChange({ change: older, changed: older === 'Deleted' ? [] : ['taints'], resourceVersion: '1' });
    const after = aChange({ change: newer, changed: newer === 'Deleted' ? [] : ['conditions'], resourceVersion: '2' });
    expect(merge(before, after)).toMatchObject({ change, changed, resourceVersion: '2' });
  });
});

describe('properties of the change queue', () => {
  const uid = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const command = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('offer' as const), uid, deleted: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('take' as const), limit: fc.integer({ min: 1, max: 3 }) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('settle' as const),
        uid,
        how: fc.constantFrom('publish' as const, 'back' as const, 'postpone' as const),
      }),
    },
  );

  it('loses nothing, publishes the latest state last, and holds no more than one place per object (Q1, Q3)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 60 }), async commands => {
        const queue = createChangeQueue(5);
        const offered = new Map<string, number>();
        const published = new Map<string, number>();
        const inFlight = new Map<string, number>();
        const take = (limit: number): void => {
          for (const { change } of queue.take(limit, at(0))) {
            const id = change.subject.uid;
            expect(inFlight.has(id)).toBe(false);
            expect(Number(change.resourceVersion)).toBe(offered.get(id));
            inFlight.set(id, Number(change.resourceVersion));
          }
        };
        const settle = (id: string, settlement: 'publish' | 'back' | 'postpone'): void => {
          const version = inFlight.get(id);
          if (settlement !== 'publish') queue.giveBack(key(id), settlement === 'postpone' ? at(0) : undefined);
          else queue.published(key(id), at(0));
          if (version === undefined) return;
          inFlight.delete(id);
          if (settlement === 'publish') published.set(id, version);
        };
        for (const [index, step] of commands.entries()) {
          if (step.kind === 'take') take(step.limit);
          else if (step.kind === 'settle') settle(step.uid, step.how);
          else {
            offered.set(step.uid, index);
            const change = step.deleted ? ('Deleted' as const) : ('Modified' as const);
            await queue.offer(aChange({ uid: step.uid, resourceVersion: String(index), change }), forever);
          }
          expect(queue.depth()).toBeLessThanOrEqual(offered.size);
        }
        for (let round = 0; round < 3; round++) {
          take(1000);
          for (const id of inFlight.keys()) settle(id, 'publish');
        }
        expect(published).toEqual(offered);
        expect(queue.depth()).toBe(0);
      }),
    );
  });

  it('never holds more objects than its bound, and everything gets through all the same (Q2)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 30 }), async (bound, objects) => {
        const queue = createChangeQueue(bound);
        const seen: string[] = [];
        const offers = Promise.all(
          Array.from({ length: objects }, (_, index) => queue.offer(aChange({ uid: `u${index}` }), forever)),
        );
        while (seen.length < objects) {
          expect(queue.depth()).toBeLessThanOrEqual(bound);
          for (const { change } of queue.take(2, at(0))) {
            seen.push(change.subject.uid);
            queue.published(key(change.subject.uid), at(0));
          }
          await new Promise(resolve => setImmediate(resolve));
        }
        await offers;
        expect(new Set(seen).size).toBe(objects);
      }),
      { numRuns: 30 },
    );
  });
});
