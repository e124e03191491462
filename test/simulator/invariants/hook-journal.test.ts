import { describe, expect, it } from 'vitest';
import { addDuration, minutes, seconds, toDurationMs, toEpochMs } from '../../../shared/domain/time.ts';
import { createHookJournal } from '../../../simulator/invariants/hook-journal.ts';
import { CLOCK_LAG, type Run } from '../../../simulator/invariants/invariant.ts';
import { mirrorOf } from '../../builders/mirror.ts';

const INSTANCE = 'aws:///z/i-a';
const STARTED = toEpochMs(Date.parse('2024-11-01T15:00:00Z'));
const HOOK = {
  name: 'announce',
  at: 'after-terminate',
  periodMs: minutes(10),
  onTimeout: 'Proceed',
  conditionType: 'Done',
};

describe('the time of a hook whose resource could not be made', () => {
  it('begins with the run that noted it down, however long the run took until then', () => {
    let now = addDuration(STARTED, seconds(7));
    const journal = createHookJournal({
      now: () => now,
      mirror: mirrorOf({}),
      policiesInForce: policies => policies,
      instanceState: () => 'running',
      instanceCheck: () => undefined,
      objects: () => [],
      current: () => undefined,
      failsCleanup: () => false,
      failsInstance: () => false,
      clockTolerance: toDurationMs(0),
      lastDenial: () => -Infinity,
      lastDenialOfItself: () => -Infinity,
      refusedUntil: () => -Infinity,
      quietSince: () => undefined,
      memoryOf: () => 'whole',
      violate: (invariant, message) => {
        throw new Error(`${invariant}: ${message}`);
      },
    });
    const run: Run = { by: 'finalizer', startTime: STARTED, calls: [] };
    const record = { state: { providerID: INSTANCE, hooks: { announce: {} } } };
    journal.onCall({ port: 'records', method: 'put', args: [record], time: now, outcome: { kind: 'pending' } }, run);

    now = toEpochMs(addDuration(STARTED, minutes(10)) - CLOCK_LAG - 1);
    expect(journal.isOver(INSTANCE, HOOK, run)).toBe(false);
    now = addDuration(STARTED, minutes(10));
    expect(journal.isOver(INSTANCE, HOOK, run)).toBe(true);
  });
});
