import { describe, expect, it } from 'vitest';
import { createRandom } from '../../simulator/random.ts';

const take = (seed: number, name: string, count: number): number[] => {
  const stream = createRandom(seed).stream(name);
  return Array.from({ length: count }, () => stream.next());
};

describe('createRandom', () => {
  it('gives the same numbers for the same seed and name, and others for others', () => {
    expect(take(7, 'a', 5)).toEqual(take(7, 'a', 5));
    expect(take(7, 'a', 5)).not.toEqual(take(8, 'a', 5));
    expect(take(7, 'a', 5)).not.toEqual(take(7, 'b', 5));
  });

  it('gives a stream the same numbers however much the others were used', () => {
    const root = createRandom(3);
    const expected = root.stream('late').next();
    for (let index = 0; index < 100; index++) root.stream('early').next();
    root.next();
    expect(root.stream('late').next()).toBe(expected);
  });

  it('spreads evenly over the unit interval', () => {
    const buckets = Array.from({ length: 10 }, () => 0);
    for (const number of take(1, 'even', 10_000)) {
      const bucket = Math.floor(number * 10);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    }
    for (const bucket of buckets) expect(Math.abs(bucket - 1000)).toBeLessThan(150);
  });

  it('includes both ends of a range of whole numbers', () => {
    const stream = createRandom(5).stream('dice');
    const rolls = new Set(Array.from({ length: 200 }, () => stream.integer(1, 6)));
    expect([...rolls].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('refuses to pick from nothing', () => {
    expect(() => createRandom(1).pick([])).toThrow(RangeError);
  });
});
