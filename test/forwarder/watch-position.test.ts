import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { delayAfter, next, START, type WatchPosition, type WatchStep } from '../../forwarder/watch-position.ts';
import { seconds } from '../../shared/domain/time.ts';

const after = (...steps: readonly WatchStep[]): WatchPosition => steps.reduce(next, START);
const LISTED = { kind: 'listed', from: '100' } as const;
const FAILED = { kind: 'failed', expired: false } as const;
const EXPIRED = { kind: 'failed', expired: true } as const;

describe('the position of a list-watch', () => {
  it.each<{ name: string; steps: readonly WatchStep[]; from: string | undefined; failures?: number }>([
    { name: 'is that of the list at first', steps: [LISTED], from: '100' },
    { name: 'is none while the resource is not served', steps: [{ kind: 'listed', from: undefined }], from: undefined },
    {
      name: 'is that of the last message, also after the watch has ended',
      steps: [LISTED, { kind: 'messageHandled', resourceVersion: '107' }, { kind: 'watchEnded' }],
      from: '107',
    },
    { name: 'is kept over two failures', steps: [LISTED, FAILED, FAILED], from: '100', failures: 2 },
    {
      name: 'is given up at the third failure in a row',
      steps: [LISTED, FAILED, FAILED, FAILED],
      from: undefined,
      failures: 3,
    },
    {
      name: 'is kept where a message came between failures',
      steps: [LISTED, FAILED, FAILED, { kind: 'messageCame' }, FAILED],
      from: '100',
      failures: 1,
    },
    { name: 'is given up at once when it has expired', steps: [LISTED, EXPIRED], from: undefined, failures: 1 },
    {
      name: 'is not trusted after silence (W3)',
      steps: [LISTED, { kind: 'fellSilent' }, FAILED],
      from: undefined,
      failures: 1,
    },
    {
      name: 'is given up at the end of a watch whose consumer failed (W2)',
      steps: [LISTED, { kind: 'consumerFailed' }, { kind: 'watchEnded' }],
      from: undefined,
    },
    {
      name: 'counts again once the next list has begun',
      steps: [LISTED, { kind: 'consumerFailed' }, { kind: 'listBegins' }, LISTED, { kind: 'watchEnded' }],
      from: '100',
    },
  ])('$name', ({ steps, from, failures = 0 }) => {
    expect(after(...steps)).toMatchObject({ from, failures });
  });
});

describe('the delay after a failure', () => {
  const range = { first: seconds(1), longest: seconds(30) };
  it('doubles; an expired position costs none the first time', () => {
    const once = after(LISTED, FAILED);
    expect(delayAfter(once, { expired: false }, range)).toBe(seconds(1));
    expect(delayAfter(next(once, FAILED), { expired: false }, range)).toBe(seconds(2));
    expect(delayAfter(after(EXPIRED), { expired: true }, range)).toBe(0);
    expect(delayAfter(after(EXPIRED, EXPIRED), { expired: true }, range)).toBe(seconds(1));
  });

  it('is what the API server asks for, and never longer than the longest', () => {
    fc.assert(
      fc.property(fc.nat(50), fc.nat(100_000), fc.boolean(), (failures, asked, expired) => {
        const delay = delayAfter({ ...START, failures: failures + 1 }, { expired, asked }, range);
        expect(delay).toBeGreaterThanOrEqual(Math.min(asked, range.longest));
        expect(delay).toBeLessThanOrEqual(range.longest);
      }),
    );
  });
});
