import { describe, expect, it } from 'vitest';
import { RetryableError } from '../../../shared/errors.ts';
import { whenNeeded } from '../../../shared/lambda/when-needed.ts';

describe('what is loaded when it is needed', () => {
  it('is loaded by the first call, once, and by nothing before', async () => {
    let loads = 0;
    const client = whenNeeded('the client', async () => ({ number: (loads += 1) }));
    expect(loads).toBe(0);
    const [first, second] = await Promise.all([client(), client()]);
    expect(await client()).toBe(first);
    expect(second).toBe(first);
    expect(loads).toBe(1);
  });

  it.each<[string, () => Promise<never>]>([
    ['rejects', async () => Promise.reject(new Error('EMFILE: too many open files'))],
    [
      'throws',
      () => {
        throw new Error('EMFILE: too many open files');
      },
    ],
  ])('reaches who waits as a failed call when loading %s, and is loaded anew by the next', async (_, fail) => {
    const loads = [fail, fail, async () => 'loaded'];
    const client = whenNeeded<string>('the EC2 client', () => (loads.shift() ?? fail)());
    const failures = await Promise.allSettled([client(), client()]);
    expect(failures).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    expect(loads).toHaveLength(2);
    const error: unknown = await client().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(RetryableError);
    expect(error).toMatchObject({
      message: 'loading the EC2 client: EMFILE: too many open files',
      reason: 'NotLoaded',
      // Nothing was called.
      outcomeUnknown: false,
    });
    expect(await client()).toBe('loaded');
  });
});
