import { describe, expect, it } from 'vitest';
import { isFirstCallUnknown } from '../../../../../functions/finalizer/termination/rule/hook-progress.ts';
import type { HookProgress } from '../../../../../functions/finalizer/termination/record.ts';
import { addDuration, seconds, toEpochMs } from '../../../../../shared/domain/time.ts';

const start = toEpochMs(Date.parse('2024-11-01T15:00:00Z'));
const intended = (attempts: number, later = seconds(0)): HookProgress => ({
  phase: 'intended',
  firstInvokedTime: start,
  lastSeenTime: addDuration(start, later),
  attempts,
});

describe('the first call of a hook', () => {
  it('is not known to be made while it stands only in the record', () => {
    expect(isFirstCallUnknown(intended(1))).toBe(true);
  });

  it('is not known to be made after a second run ended before its call, either', () => {
    expect(isFirstCallUnknown(intended(2))).toBe(true);
  });

  it('was made when one that followed it stands in the record', () => {
    expect(isFirstCallUnknown(intended(2, seconds(5)))).toBe(false);
  });

  it('was made when it was answered', () => {
    expect(isFirstCallUnknown({ ...intended(1), phase: 'pending' })).toBe(false);
  });
});
