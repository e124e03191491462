/** What fails again and again has an Event an hour, and one at once where it fails for another reason. */
import { expect, it } from 'vitest';
import { reportOfFailure } from '../../../shared/domain/refusal.ts';
import { addDuration, minutes, type EpochMs } from '../../../shared/domain/time.ts';
import { at } from '../../builders/repair.ts';

const NOW = at('2024-11-01T15:00:00Z');
const after = (length: number): EpochMs => addDuration(NOW, minutes(length));
const BEFORE = { message: 'access denied (request 17)', time: NOW };

it('is new for the first failure', () => {
  expect(reportOfFailure(undefined, 'access denied', NOW)).toEqual({ message: 'access denied', time: NOW });
});

it('covers failures of the next hour that differ by numbers alone', () => {
  expect(reportOfFailure(BEFORE, 'access denied (request 18)', after(59))).toBe(BEFORE);
});

it.each([
  ['after an hour', 'access denied (request 18)', 60],
  ['for another cause', 'no such bucket', 1],
])('is new %s', (_, message, passed) => {
  expect(reportOfFailure(BEFORE, message, after(passed))).toEqual({ message, time: after(passed) });
});
