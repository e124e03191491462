import { describe, expect, test } from 'vitest';
import { ageOf, humanDuration } from '../../../src/http/tables/age.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

describe('a duration in a table', () => {
  test.each([
    [-3 * second, '<invalid>'],
    [-1 * second, '0s'],
    [0, '0s'],
    [999, '0s'],
    [119 * second, '119s'],
    [120 * second, '2m'],
    [9 * minute + 59 * second, '9m59s'],
    [10 * minute + 59 * second, '10m'],
    [179 * minute, '179m'],
    [3 * hour, '3h'],
    [7 * hour + 59 * minute, '7h59m'],
    [8 * hour + 59 * minute, '8h'],
    [47 * hour, '47h'],
    [2 * day, '2d'],
    [2 * day + 3 * hour, '2d3h'],
    [8 * day - hour, '7d23h'],
    [8 * day, '8d'],
    [729 * day, '729d'],
    [730 * day, '2y'],
    [731 * day, '2y1d'],
    [8 * 365 * day, '8y'],
  ])('%i ms is %s', (duration, text) => {
    expect(humanDuration(duration)).toBe(text);
  });

  test('an age counts to now, and says when there is no instant to count from', () => {
    expect(ageOf('2026-01-01T00:00:00Z', Date.parse('2026-01-01T00:05:00Z'))).toBe('5m');
    expect(ageOf(undefined, 0)).toBe('<unknown>');
    expect(ageOf('soon', 0)).toBe('<invalid>');
  });
});
