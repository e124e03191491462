import { describe, expect, it } from 'vitest';
import { inParallel } from '../../../shared/cluster/in-parallel.ts';

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
