import { describe, expect, it } from 'vitest';
import { parseScheduleExpression } from '../src/schedule-expression.ts';
import { parseTimestamp, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';

function at(text: string): EpochMs {
  const time = parseTimestamp(text);
  if (time === undefined) throw new Error(`not an instant: ${text}`);
  return time;
}

function next(expression: string, from: string, start = '2024-11-01T15:00:30Z'): string | undefined {
  const time = parseScheduleExpression(expression)(at(start), at(from));
  return time === undefined ? undefined : toTimestamp(time);
}

describe('schedule expression', () => {
  it.each([
    ['rate(1 minute)', '2024-11-01T15:00:30Z', '2024-11-01T15:00:30Z'],
    ['rate(1 minute)', '2024-11-01T15:00:31Z', '2024-11-01T15:01:30Z'],
    ['rate(5 minutes)', '2024-11-01T15:10:30Z', '2024-11-01T15:10:30Z'],
    ['rate(1 hour)', '2024-11-01T16:00:31Z', '2024-11-01T17:00:30Z'],
    ['rate(2 days)', '2024-11-01T15:00:31Z', '2024-11-03T15:00:30Z'],
    ['at(2024-11-01T16:00:00)', '2024-11-01T15:00:00Z', '2024-11-01T16:00:00Z'],
    ['at(2024-11-01T16:00:00)', '2024-11-01T16:00:01Z', undefined],
    ['cron(0 12 * * ? *)', '2024-11-01T15:00:00Z', '2024-11-02T12:00:00Z'],
    ['cron(0/15 * * * ? *)', '2024-11-01T15:01:00Z', '2024-11-01T15:15:00Z'],
    ['cron(5,10 15-16 * * ? *)', '2024-11-01T15:10:01Z', '2024-11-01T16:05:00Z'],
    // The 1st of November 2024 is a Friday; Sunday is 1.
    ['cron(0 0 ? * 1 *)', '2024-11-01T15:00:00Z', '2024-11-03T00:00:00Z'],
    ['cron(0 0 29 2 ? *)', '2024-11-01T15:00:00Z', '2028-02-29T00:00:00Z'],
    ['cron(0 0 1 1 ? 2020)', '2024-11-01T15:00:00Z', undefined],
  ])('%s fires next after %s at %s', (expression, from, expected) => {
    expect(next(expression, from)).toBe(expected);
  });

  it.each([
    'every minute',
    'rate(0 minutes)',
    'rate(1 second)',
    'rate(1.5 hours)',
    'at(tomorrow)',
    'cron(0 12 * *)',
    'cron(60 * * * ? *)',
    'cron(0 12 ? * MON *)',
    'cron(5-1 * * * ? *)',
    'cron(0/0 * * * ? *)',
  ])('refuses %s', expression => {
    expect(() => parseScheduleExpression(expression)).toThrow(expression);
  });
});
