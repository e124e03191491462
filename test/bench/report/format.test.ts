import { describe, expect, it } from 'vitest';
import { formatNumber, formatQuantity } from '../../../bench/report/format.ts';

describe('formatNumber', () => {
  it.each([
    [41.234, 'ms', '41.2 ms'],
    [0.0421, 'ms', '42.1 µs'],
    [1500, 'ms', '1.50 s'],
    [90_000, 'ms', '1.50 min'],
    [554_000, 'B', '554 kB'],
    [1_234_567_890, 'B', '1.23 GB'],
    [0, 'B', '0 B'],
    [1_000_000, '1', '1,000,000'],
    [0.123, '1', '0.123'],
    [2345.6, '1/s', '2,346 /s'],
  ] as const)('%d %s is %s', (value, unit, expected) => {
    expect(formatNumber(value, unit)).toBe(expected);
  });
});

describe('formatQuantity', () => {
  it('shows the range in the unit of the median', () => {
    expect(formatQuantity({ unit: 'ms', median: 1200, range: { min: 900, max: 2000 } })).toBe('1.20 s (0.900–2)');
  });
});
