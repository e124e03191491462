import { describe, expect, it } from 'vitest';
import { MAX_BUG_RECEIVES, MAX_RECEIVES } from '../../../shared/contract/inbox.ts';
import { retryDelay } from '../../../shared/lambda/retry-delay.ts';

describe('retryDelay', () => {
  it.each([
    [1, undefined, 5000],
    [2, undefined, 10_000],
    [3, undefined, 20_000],
    [6, undefined, 160_000],
    [7, undefined, 180_000],
    [1000, undefined, 180_000],
    [1, 30_000, 30_000],
    [5, 1000, 80_000],
    [1, 900_000, 180_000],
  ])('receive %s, asked for %s ms: %s ms', (receiveCount, asked, delay) => {
    expect(retryDelay(receiveCount, asked)).toBe(delay);
  });

  it.each([
    [1, 5000],
    [2, 5000],
    [6, 5000],
    [7, 180_000],
    [1000, 180_000],
  ])('receive %s, not begun: %s ms', (receiveCount, delay) => {
    expect(retryDelay(receiveCount, undefined, { begun: false })).toBe(delay);
  });

  const minutesOf = (receives: number, begun: boolean): number =>
    Array.from({ length: receives }, (_, index): number => retryDelay(index + 1, undefined, { begun })).reduce(
      (sum, delay) => sum + delay,
    ) / 60_000;

  it('ADR 0048: receives last a day, and those of a bug most of an hour, also when none of them begins', () => {
    for (const begun of [true, false]) {
      expect(minutesOf(MAX_RECEIVES, begun)).toBeGreaterThan(24 * 60);
      expect(minutesOf(MAX_BUG_RECEIVES - 1, begun)).toBeGreaterThan(39);
    }
  });
});
