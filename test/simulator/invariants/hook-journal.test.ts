import { describe, expect, it } from 'vitest';
import { addDuration, minutes, seconds, toDurationMs, toEpochMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { NewRecord } from '../../../shared/ports/record-store.ts';
import { createHookJournal } from '../../../simulator/invariants/hook-journal.ts';
import { CLOCK_LAG, type PortCall, type Run } from '../../../simulator/invariants/invariant.ts';
import { mirrorOf } from '../../builders/mirror.ts';

const WRITTEN = { kind: 'answered', value: { kind: 'written' } } as const;
const INSTANCE = 'aws:///z/i-a';
const STARTED = toEpochMs(Date.parse('2024-11-01T15:00:00Z'));
const HOOK = {
  name: 'announce',
  at: 'after-terminate',
  periodMs: minutes(10),
  onTimeout: 'Proceed',
  conditionType: 'Done',
  isIdleAfterEnd: false,
};

/** A journal in which that hook was noted down while the instance was in that state, and the run that noted it. */
function notedHook(now: () => EpochMs, state: string | undefined) {
  const journal = createHookJournal({
    now,
    mirror: mirrorOf({}),
    policiesInForce: policies => policies,
    instanceState: () => state,
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
  journal.onCall({ port: 'records', method: 'put', args: [record], time: now(), outcome: { kind: 'pending' } }, run);
  return { journal, run };
}

describe('the time of a hook whose resource could not be made', () => {
  it('begins with the run that noted it down, however long the run took until then', () => {
    let now = addDuration(STARTED, seconds(7));
    const { journal, run } = notedHook(() => now, 'running');

    now = toEpochMs(addDuration(STARTED, minutes(10)) - CLOCK_LAG - 1);
    expect(journal.isOver(INSTANCE, HOOK, run)).toBe(false);
    now = addDuration(STARTED, minutes(10));
    expect(journal.isOver(INSTANCE, HOOK, run)).toBe(true);
  });
});

describe('a hook that is called again', () => {
  const about = { uid: 'u1' };
  const callTwice = (between: (journal: ReturnType<typeof notedHook>['journal']) => void) => (): void => {
    const { journal, run } = notedHook(() => STARTED, 'running');
    const args = [{ purpose: 'hook', name: 'announce', about, details: { providerID: INSTANCE } }];
    const call = (): void => {
      const made: PortCall = { port: 'hooks', method: 'call', args, time: STARTED, outcome: { kind: 'pending' } };
      const put: PortCall = { ...made, port: 'records', method: 'put', args: [{}], outcome: WRITTEN };
      run.calls.push(put);
      journal.onCall(made, run);
      run.calls.push({ ...made, outcome: { kind: 'answered', value: { kind: 'succeeded' } } }, put);
      Object.assign(made, { outcome: { kind: 'answered', value: { kind: 'succeeded' } } });
    };
    journal.onRecord('finalizer/nodeclaim/u1', { state: { hooks: { announce: {} } } } as unknown as NewRecord);
    call();
    between(journal);
    call();
  };

  it('after its answer is wrong', () => {
    expect(callTwice(() => {})).toThrow('again, whose answer it has');
    expect(callTwice(journal => journal.onRecord('finalizer/nodeclaim/u1', undefined))).toThrow('again');
    expect(callTwice(journal => journal.onClusterRestored())).toThrow('again');
  });

  it('is another one, once a restored cluster has forgotten the deletion, and the record is closed', () => {
    const restored = (journal: ReturnType<typeof notedHook>['journal']): void => {
      journal.onClusterRestored();
      journal.onRecord('finalizer/nodeclaim/u1', undefined);
    };
    expect(callTwice(restored)).not.toThrow();
  });
});

describe('a hook that is to be called before the end of the instance', () => {
  it.each([
    ['running', true, false],
    ['shutting-down', true, true],
    ['terminated', true, true],
    [undefined, true, true],
    [undefined, false, false],
  ])('noted down when it is %s, under Keep %s: holds nothing %s', (state, isIdleAfterEnd, isOver) => {
    const { journal, run } = notedHook(() => STARTED, state);
    expect(journal.isOver(INSTANCE, { ...HOOK, at: 'before-drain', isIdleAfterEnd }, run)).toBe(isOver);
  });
});
