import { describe, expect, it } from 'vitest';
import { isKept } from '../../../bench/report/row.ts';
import { flatRow, growthOf, quartersOf } from '../../../bench/soak/flat.ts';

describe('growth over a run', () => {
  it('compares the last quarter with the one before, and leaves out the first half, in which everything fills up', () => {
    expect(quartersOf([1, 2, 3, 4, 5, 6, 7, 8, 9])).toEqual({ third: [6, 7], last: [8, 9] });
    expect(growthOf([1, 50, 70, 90, 100, 100, 100, 100])).toBe(1);
    expect(growthOf([0, 0, 5, 5, 10, 10, 20, 20])).toBe(2);
  });

  it('does not mind a peak, and sees a line', () => {
    const peak = Array.from({ length: 40 }, (_, index) => (index === 35 ? 900 : 100));
    const line = Array.from({ length: 40 }, (_, index) => 100 + index);
    const judge = (series: readonly number[]) => isKept(flatRow({ name: 'x', unit: 'B', series, limit: 1.05 }));
    expect([judge(peak), judge(line)]).toEqual([true, false]);
  });

  it('is none of nothing, and is without end where something came of nothing', () => {
    expect(growthOf([0, 0, 0, 0])).toBe(1);
    expect(growthOf([0, 0, 0, 3])).toBe(Infinity);
  });
});
