import { describe, expect, it } from 'vitest';
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
});
