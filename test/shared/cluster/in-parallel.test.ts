import { describe, expect, it } from 'vitest';
import { fewAtATime, inParallel } from '../../../shared/cluster/in-parallel.ts';

describe('what runs in parallel', () => {
  it('answers in the order in which it was asked, whichever ends first', async () => {
    const slow = Promise.withResolvers<string>();
    const both = inParallel([slow.promise, Promise.resolve(2), undefined]);
    slow.resolve('slow');
    expect(await both).toEqual(['slow', 2, undefined]);
  });

  it('tells of a failure only when nothing runs any more', async () => {
    const slow = Promise.withResolvers<void>();
    let told = false;
    const both = inParallel([Promise.reject(new Error('first')), slow.promise]).catch((error: unknown) => {
      told = true;
      return error;
    });
    await new Promise(resolve => setImmediate(resolve));
    expect(told).toBe(false);
    slow.reject(new Error('second'));
    expect(await both).toEqual(new Error('first'));
  });
});

describe('what is done a few at a time', () => {
  const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));
  const items = Array.from({ length: 25 }, (_, index) => index);

  it('goes on while one item takes long', async () => {
    const slow = Promise.withResolvers<void>();
    const done: number[] = [];
    const all = fewAtATime(items, async item => {
      if (item === 0) await slow.promise;
      done.push(item);
    });
    await turn();
    expect(done.toSorted((a, b) => a - b)).toEqual(items.slice(1));
    slow.resolve();
    await all;
    expect(done).toHaveLength(items.length);
  });

  it('begins nothing after a failure, and tells of it when all that run have ended', async () => {
    const slow = Promise.withResolvers<void>();
    const begun: number[] = [];
    let told: unknown;
    const all = fewAtATime(items, async item => {
      begun.push(item);
      if (item === 0) throw new Error('first');
      await slow.promise;
    }).catch((error: unknown) => {
      told = error;
    });
    await turn();
    const begunBefore = begun.length;
    expect(told).toBeUndefined();
    slow.resolve();
    await all;
    expect(told).toEqual(new Error('first'));
    expect(begun).toHaveLength(begunBefore);
    expect(begun.length).toBeLessThan(items.length);
  });
});
