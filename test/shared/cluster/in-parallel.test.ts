import { describe, expect, it } from 'vitest';
import { RetryableError, TerminalError } from '../../../shared/errors.ts';
import { batchesOf, fewAtATime, inParallel, limitTo, oneByOne } from '../../../shared/cluster/in-parallel.ts';

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
    expect(await both).toMatchObject({ message: '2 failures: first; second' });
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

  it('goes on after a failure, and tells of all when all have ended', async () => {
    const done: number[] = [];
    const all = fewAtATime(items, async item => {
      await turn();
      if (item % 2 === 0) throw new Error(String(item));
      done.push(item);
    });
    await expect(all).rejects.toThrow(/^13 failures: 0; 2; .*; 24$/);
    expect(done).toEqual(items.filter(item => item % 2 === 1));
  });
});

describe('what is done one by one', () => {
  it('goes on in its order after a failure, and tells of all at the end', async () => {
    const seen: number[] = [];
    const all = oneByOne([1, 2, 3], async item => {
      seen.push(item);
      if (item === 1) throw new TerminalError('Invalid', 'one is refused');
      if (item === 2) throw new RetryableError('two is throttled', { reason: 'TooManyRequests' });
    });
    // What may pass is tried again, whatever failed before it.
    await expect(all).rejects.toMatchObject({
      name: 'RetryableError',
      reason: 'TooManyRequests',
      message: '2 failures: one is refused; two is throttled',
    });
    expect(seen).toEqual([1, 2, 3]);
  });
});

/** Work that begins when it is called and ends when the test says so. */
function createWork() {
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const work = (id: string): Promise<void> => {
    begun.push(id);
    const end = Promise.withResolvers<void>();
    ends.set(id, end);
    return end.promise;
  };
  return {
    begun,
    work,
    ends: (id: string) => ends.get(id)?.resolve(),
    fails: (id: string) => ends.get(id)?.reject(new Error(id)),
  };
}

/** Until everything that can go on has gone on. */
const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

describe('limitTo', () => {
  it('begins the next one that waits when one has ended or failed', async () => {
    const { begun, work, ends, fails } = createWork();
    const limited = limitTo(2);
    const outcomes = Promise.allSettled(['a', 'b', 'c', 'd'].map(id => limited(() => work(id))));
    await settled();
    expect(begun).toEqual(['a', 'b']);
    fails('b');
    await settled();
    expect(begun).toEqual(['a', 'b', 'c']);
    for (const id of ['a', 'c']) ends(id);
    await settled();
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    ends('d');
    expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  });
});

describe('batchesOf', () => {
  it.each([
    [[], []],
    [['a'], [['a']]],
    [
      ['a', 'b', 'c'],
      [['a', 'b'], ['c']],
    ],
  ])('two at most of %j', (items, batches) => {
    expect(batchesOf(items, 2)).toEqual(batches);
  });
});
