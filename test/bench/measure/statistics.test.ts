import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compare, percentile, summarize } from '../../../bench/measure/statistics.ts';

const samples = fc.array(fc.double({ min: 0.001, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 50 });

describe('percentile', () => {
  it.each([
    [[5], 50, 5],
    [[3, 1, 2], 50, 2],
    [[1, 2, 3, 4], 50, 2.5],
    [[4, 1, 3, 2], 0, 1],
    [[4, 1, 3, 2], 100, 4],
    [[0, 10], 99, 9.9],
  ])('of %j at %d %% is %d', (values, percent, expected) => {
    expect(percentile(values, percent)).toBeCloseTo(expected, 9);
  });

  it('refuses no samples and percentages that do not exist', () => {
    expect(() => percentile([], 50)).toThrow('no samples');
    expect(() => percentile([1], 101)).toThrow('101th');
  });

  it('stays within the samples and never falls as the percentage rises', () => {
    fc.assert(
      fc.property(samples, fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 100 }), (values, a, b) => {
        const [low, high] = [percentile(values, Math.min(a, b)), percentile(values, Math.max(a, b))];
        expect(low).toBeLessThanOrEqual(high * (1 + 1e-12));
        expect(low).toBeGreaterThanOrEqual(Math.min(...values));
      }),
    );
  });

  it('does not change the samples', () => {
    const values = [3, 1, 2];
    percentile(values, 50);
    expect(values).toEqual([3, 1, 2]);
  });
});

describe('summarize', () => {
  it('gives the middle and the range', () => {
    expect(summarize([7, 1, 4])).toEqual({ median: 4, min: 1, max: 7, count: 3 });
  });
});

describe('compare', () => {
  it('divides the medians and ranges over the rounds', () => {
    expect(compare([2, 6, 20], [1, 2, 20])).toEqual({ median: 3, min: 1, max: 3, count: 3 });
  });

  it('refuses rounds that measured one side only', () => {
    expect(() => compare([1, 2], [1])).toThrow('both sides');
  });
});
