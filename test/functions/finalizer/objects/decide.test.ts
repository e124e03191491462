/** What one object of a FinalizerRule needs. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPastRelease } from '../../../../functions/finalizer/objects/rule/deadline.ts';
import type { ObservedEntry } from '../../../../functions/finalizer/objects/rule/entry.ts';
import {
  decide as decideObject,
  type ObjectObservation,
  type ObservedState,
} from '../../../../functions/finalizer/objects/decide.ts';
import { addDuration, type EpochMs, hours, minutes, seconds } from '../../../../shared/domain/time.ts';
import { at } from '../../../builders/repair.ts';

const NOW = at('2024-11-01T15:00:00Z');
const seen = (fields: Partial<ObjectObservation> = {}): ObjectObservation => ({
  now: NOW,
  rule: {
    group: 'database.example.com',
    version: 'v1',
    kind: 'ManagedDatabase',
    finalizerName: 'database.example.com/cleanup',
    cleanup: { kind: 'lambda', functionName: 'f' },
    deadline: undefined,
    onDeadline: 'Keep',
    rateLimit: { perSecond: 5, concurrent: 20, longestBackoff: minutes(5) },
  },
  isFinalizerRuleTerminating: false,
  object: { hasFinalizer: true, deletionTime: NOW },
  entry: { phase: 'finalizerAdded', time: NOW },
  isOwnIntent: false,
  addsFinalizer: true,
  ...fields,
});

describe('an object of a FinalizerRule', () => {
  it('is in the ledger before it carries the finalizer', () => {
    const object = { hasFinalizer: false, deletionTime: undefined };
    expect(decideObject(seen({ object, entry: undefined }))).toEqual({ kind: 'addFinalizer', object });
  });

  it('is called for by the run alone that noted the call down, until a minute has passed (I4)', () => {
    const entry = { phase: 'intended', attempts: 1, time: NOW } as const;
    expect(decideObject(seen({ entry, isOwnIntent: true }))).toEqual({ kind: 'call', entry });
    expect(decideObject(seen({ entry }))).toMatchObject({ kind: 'wait', until: addDuration(NOW, minutes(1)) });
    expect(decideObject(seen({ entry, now: addDuration(NOW, minutes(1)) }))).toEqual({ kind: 'intend' });
  });

  it('is never released but cleaned, or at a deadline whose rule says Release (I1)', () => {
    const phases = ['finalizerAdded', 'intended', 'pending', 'failed', 'cleaned', 'orphaned'] as const;
    fc.assert(
      fc.property(
        fc.constantFrom(...phases),
        fc.nat(20),
        fc.nat(7_200_000),
        fc.option(fc.nat(7_200_000), { nil: undefined }),
        fc.constantFrom('Keep' as const, 'Release' as const),
        fc.boolean(),
        (phase, attempts, elapsed, period, onDeadline, isOwnIntent) => {
          const deadline = period === undefined ? undefined : seconds(period / 1000);
          const base = seen({ entry: { phase, attempts, time: NOW }, isOwnIntent });
          const now = addDuration(NOW, seconds(elapsed / 1000));
          const decision = decideObject({ ...base, now, rule: { ...base.rule, deadline, onDeadline } });
          if (decision.kind !== 'release') return;
          const isOver = period !== undefined && elapsed >= period;
          expect(decision.because === 'cleaned' ? phase === 'cleaned' : isOver && onDeadline === 'Release').toBe(true);
        },
      ),
    );
  });

  it('that went without a clean-up is a possible orphan', () => {
    expect(decideObject(seen({ object: undefined }))).toEqual({ kind: 'orphan' });
    expect(decideObject(seen({ object: { hasFinalizer: false, deletionTime: NOW } }))).toEqual({ kind: 'orphan' });
    const entry = { phase: 'cleaned', attempts: 1, time: NOW } as const;
    expect(decideObject(seen({ object: undefined, entry }))).toEqual({ kind: 'close' });
  });

  const living = (hasFinalizer: boolean): ObservedState => ({ hasFinalizer, deletionTime: undefined });
  const going = (hasFinalizer: boolean): ObservedState => ({ hasFinalizer, deletionTime: NOW });
  const entryIn = (
    phase: ObservedEntry['phase'],
    more: { readonly time?: EpochMs; readonly callTime?: EpochMs; readonly unreported?: true } = {},
  ): ObservedEntry => ({
    phase,
    attempts: 1,
    time: NOW,
    ...more,
  });
  const soon = addDuration(NOW, seconds(1));
  const deadline = { ...seen().rule, deadline: seconds(1) };

  it.each<[string, Partial<ObjectObservation>, string]>([
    ['lives, held and in the ledger', { object: living(true) }, 'watch'],
    ['lives, and somebody has taken the finalizer off', { object: living(false) }, 'addFinalizer'],
    ['lives, and carries the finalizer by another hand', { object: living(true), entry: undefined }, 'addFinalizer'],
    ['lives, held, and its rule ends', { object: living(true), isFinalizerRuleTerminating: true }, 'free'],
    [
      'lives, in the ledger alone, and its rule ends',
      { object: living(false), isFinalizerRuleTerminating: true },
      'free',
    ],
    [
      'lives, held by a run that died, and its rule ends',
      { object: living(true), entry: undefined, isFinalizerRuleTerminating: true },
      'free',
    ],
    [
      'lives, has nothing of ours, and its rule ends',
      { object: living(false), entry: undefined, isFinalizerRuleTerminating: true },
      'ignore',
    ],
    ['goes, and has nothing of ours', { object: going(false), entry: undefined }, 'ignore'],
    ['goes, and is known as a possible orphan', { object: going(false), entry: entryIn('orphaned') }, 'ignore'],
    ['goes, cleaned and released', { object: going(false), entry: entryIn('cleaned') }, 'close'],
    ['goes, and nobody has called yet', {}, 'intend'],
    ['goes, and is not in the ledger', { entry: undefined }, 'intend'],
    ['goes, and waits for its time', { entry: entryIn('finalizerAdded', { callTime: soon }) }, 'wait'],
    ['goes, and its time has come', { entry: entryIn('finalizerAdded', { callTime: NOW }) }, 'intend'],
    ['goes, and failed', { entry: entryIn('failed') }, 'wait'],
    [
      'goes, and is asked for by another run, whatever this one did before',
      { entry: entryIn('pending'), isOwnIntent: true },
      'wait',
    ],
    ['is gone, and is known as a possible orphan', { object: undefined, entry: entryIn('orphaned') }, 'watch'],
    ['is gone, and nothing is known of it', { object: undefined, entry: undefined }, 'ignore'],
  ])('that %s', (_, fields, kind) => {
    expect(decideObject(seen(fields)).kind).toBe(kind);
  });

  it('whose finalizer was put back three times gets it again a minute after the third', () => {
    const entry = { ...entryIn('finalizerAdded'), effort: { times: 3, lastTime: NOW } };
    const object = living(false);
    const until = addDuration(NOW, minutes(1));
    expect(decideObject(seen({ object, entry }))).toEqual({ kind: 'watch', entry, until });
    expect(decideObject(seen({ object, entry, now: until }))).toEqual({ kind: 'addFinalizer', object });
  });

  it('is released once it is cleaned, or at a deadline whose rule says so', () => {
    const cleaned = entryIn('cleaned');
    expect(decideObject(seen({ entry: cleaned }))).toMatchObject({ kind: 'release', because: 'cleaned' });
    const rule = { ...deadline, onDeadline: 'Release' as const };
    const failed = entryIn('failed', { time: soon });
    expect(decideObject(seen({ rule, now: soon, entry: failed }))).toMatchObject({
      kind: 'release',
      because: 'deadline',
    });
    expect(decideObject(seen({ rule, now: soon, entry: cleaned }))).toMatchObject({
      kind: 'release',
      because: 'cleaned',
    });
    expect(decideObject(seen({ rule }))).toEqual({ kind: 'intend' });
  });

  it('is not released at its deadline while a call that was due before is owed (I1)', () => {
    const rule = { ...deadline, onDeadline: 'Release' as const };
    const late = addDuration(soon, hours(1));
    const inAMinute = addDuration(late, minutes(1));
    const kindFor = (entry: ObservedEntry | undefined): string => decideObject(seen({ rule, now: late, entry })).kind;
    // Nobody was asked, or the next call was due before.
    expect(kindFor(undefined)).toBe('intend');
    expect(kindFor(entryIn('finalizerAdded'))).toBe('intend');
    expect(kindFor(entryIn('finalizerAdded', { callTime: NOW }))).toBe('intend');
    expect(kindFor(entryIn('failed', { time: addDuration(NOW, seconds(-5)) }))).toBe('intend');
    // It began to queue after the deadline, or its call is under way.
    expect(kindFor(entryIn('finalizerAdded', { time: late, callTime: inAMinute }))).toBe('wait');
    expect(kindFor(entryIn('intended', { time: late }))).toBe('wait');
    // It has been asked about since, or was still in the queue of its rule at the deadline.
    expect(kindFor(entryIn('failed', { time: late }))).toBe('release');
    expect(kindFor(entryIn('finalizerAdded', { callTime: inAMinute }))).toBe('release');
    // It began to queue at the very deadline.
    expect(kindFor(entryIn('finalizerAdded', { time: soon, callTime: inAMinute }))).toBe('release');
  });

  it('that is not released at its deadline is looked at again when its call is due', () => {
    const rule = { ...deadline, onDeadline: 'Release' as const };
    const late = addDuration(soon, hours(1));
    const until = addDuration(late, minutes(1));
    const entry = entryIn('finalizerAdded', { time: late, callTime: until });
    expect(decideObject(seen({ rule, now: late, entry }))).toEqual({ kind: 'wait', entry, until, isOverdue: true });
  });

  it('is not released before a worker that is asked past the deadline could answer', () => {
    const rule = { ...deadline, onDeadline: 'Release' as const };
    const late = addDuration(soon, hours(1));
    const pending = entryIn('pending');
    // One that is asked at the very deadline is not asked past it.
    expect(decideObject(seen({ rule, now: soon, entry: entryIn('pending', { time: soon }) })).kind).toBe('release');
    // Its answer may wait in the inbox: Curfew was away.
    expect(decideObject(seen({ rule, now: soon, entry: pending })).kind).toBe('release');
    expect(decideObject(seen({ rule, now: late, entry: pending }))).toEqual({ kind: 'intend' });
    const asked = entryIn('pending', { time: late });
    const until = addDuration(late, seconds(210));
    const waits = { kind: 'wait', until, isOverdue: true };
    expect(decideObject(seen({ rule, now: late, entry: asked }))).toMatchObject(waits);
    expect(decideObject(seen({ rule, now: until, entry: asked })).kind).toBe('release');
    // Curfew was away once more.
    expect(decideObject(seen({ rule, now: addDuration(until, minutes(1)), entry: asked })).kind).toBe('intend');
  });

  it('that went is reported once the ledger has it (I11)', () => {
    const unreported = entryIn('orphaned', { unreported: true });
    expect(decideObject(seen({ object: undefined, entry: unreported })).kind).toBe('orphan');
    expect(decideObject(seen({ object: { hasFinalizer: false, deletionTime: NOW }, entry: unreported })).kind).toBe(
      'orphan',
    );
  });

  it('is asked about again after ten minutes, and one that was a possible orphan after its back-off', () => {
    const until = addDuration(NOW, minutes(10));
    expect(decideObject(seen({ entry: entryIn('pending') }))).toMatchObject({ kind: 'wait', until, isOverdue: false });
    expect(decideObject(seen({ entry: entryIn('orphaned') }))).toMatchObject({
      kind: 'wait',
      until: addDuration(NOW, seconds(5)),
    });
  });

  it('that waits is looked at again at its deadline, and is overdue from then on', () => {
    const entry = entryIn('failed');
    const next = addDuration(NOW, seconds(5));
    expect(decideObject(seen({ entry }))).toMatchObject({ kind: 'wait', until: next, isOverdue: false });
    expect(decideObject(seen({ entry, rule: deadline }))).toMatchObject({
      kind: 'wait',
      until: soon,
      isOverdue: false,
    });
    expect(decideObject(seen({ entry, rule: deadline, now: soon }))).toMatchObject({
      kind: 'wait',
      until: next,
      isOverdue: true,
    });
  });

  it('that waits for a day without a deadline is overdue, as a termination is', () => {
    const tomorrow = addDuration(NOW, hours(24));
    const entry = { ...entryIn('pending'), time: addDuration(NOW, minutes(24 * 60 - 5)) };
    const rule = { ...seen().rule, rateLimit: { perSecond: 5, concurrent: 20, longestBackoff: hours(24) } };
    const almost = addDuration(NOW, minutes(24 * 60 - 1));
    const until = addDuration(tomorrow, minutes(5));
    expect(decideObject(seen({ entry, rule, now: almost }))).toMatchObject({
      kind: 'wait',
      until: tomorrow,
      isOverdue: false,
    });
    expect(decideObject(seen({ entry, rule, now: tomorrow }))).toMatchObject({ kind: 'wait', until, isOverdue: true });
    // A deadline of two days is kept to.
    const later = { ...rule, deadline: hours(48) };
    expect(decideObject(seen({ entry, rule: later, now: tomorrow }))).toMatchObject({
      kind: 'wait',
      until,
      isOverdue: false,
    });
  });

  it('that is not served counts as nothing: its entry is kept, and looked for again', () => {
    const phases = ['finalizerAdded', 'intended', 'pending', 'failed', 'cleaned', 'orphaned'] as const;
    const { rule } = seen();
    for (const phase of phases) {
      const entry = { phase, attempts: 1, time: NOW };
      const isQuiet = phase === 'finalizerAdded' || phase === 'orphaned';
      const until = addDuration(NOW, isQuiet ? hours(24) : minutes(5));
      const late = addDuration(NOW, hours(1));
      const forced = { ...rule, deadline: minutes(5), onDeadline: 'Release' as const };
      // One that waits for its call is under way.
      const queued = { ...entry, callTime: NOW };
      expect(decideObject(seen({ object: 'notServed', entry: queued }))).toMatchObject({
        kind: 'watch',
        until: addDuration(NOW, phase === 'orphaned' ? hours(24) : minutes(5)),
      });
      expect(decideObject(seen({ object: 'notServed', entry }))).toMatchObject({ kind: 'watch', until });
      expect(
        decideObject(seen({ object: 'notServed', entry, isFinalizerRuleTerminating: true, now: late, rule: forced }))
          .kind,
      ).toBe('watch');
    }
    expect(decideObject(seen({ object: 'notServed', entry: undefined }))).toEqual({ kind: 'ignore' });
  });

  it('waits no longer than its deadline, and says when that has passed', () => {
    const { rule } = seen();
    const entry = { phase: 'pending', attempts: 1, time: NOW } as const;
    const late = seen({ entry, rule: { ...rule, deadline: minutes(5) } });
    expect(decideObject(late)).toMatchObject({ kind: 'wait', until: addDuration(NOW, minutes(5)), isOverdue: false });
    expect(decideObject({ ...late, now: addDuration(NOW, minutes(6)) })).toMatchObject({
      kind: 'wait',
      isOverdue: true,
    });
  });

  it('is set free when its rule ends, unless it is being deleted', () => {
    const living = seen({ isFinalizerRuleTerminating: true, object: { hasFinalizer: true, deletionTime: undefined } });
    expect(decideObject(living)).toMatchObject({ kind: 'free' });
    expect(decideObject(seen({ isFinalizerRuleTerminating: true }))).toEqual({ kind: 'intend' });
  });
});

describe('the deadline that releases an object', () => {
  const { rule } = seen();
  const releasing = { ...rule, deadline: minutes(5), onDeadline: 'Release' as const };
  const after = addDuration(NOW, minutes(6));
  it.each<[string, Partial<ObjectObservation>, boolean]>([
    ['is ahead a second before', { rule: releasing, now: addDuration(NOW, seconds(299)) }, false],
    ['has passed from its time on', { rule: releasing, now: addDuration(NOW, minutes(5)) }, true],
    ['never passes where the object is kept', { rule: { ...releasing, onDeadline: 'Keep' }, now: after }, false],
    ['never passes where the rule names none', { rule: { ...releasing, deadline: undefined }, now: after }, false],
    [
      'has not begun while the object lives',
      { rule: releasing, object: { hasFinalizer: true, deletionTime: undefined }, now: after },
      false,
    ],
    ['does not count while the object is not served', { rule: releasing, object: 'notServed', now: after }, false],
    ['does not count when the object is gone', { rule: releasing, object: undefined, now: after }, false],
  ])('%s', (_, fields, isPast) => {
    expect(isPastRelease(seen(fields))).toBe(isPast);
  });
});

describe('a rule in conflict, or refused', () => {
  const other = (fields: Partial<ObjectObservation>): ObjectObservation => seen({ addsFinalizer: false, ...fields });
  const living = (hasFinalizer: boolean) => ({ hasFinalizer, deletionTime: undefined });
  it.each<[string, Partial<ObjectObservation>, string]>([
    ['puts its finalizer on nothing new', { object: living(false), entry: undefined }, 'ignore'],
    ['forgets what somebody took its finalizer off', { object: living(false) }, 'close'],
    ['notes down what carries it', { object: living(true), entry: undefined }, 'addFinalizer'],
    ['cleans up what carries it', { entry: undefined }, 'intend'],
    ['sets living objects free when it ends', { object: living(true), isFinalizerRuleTerminating: true }, 'free'],
  ])('%s', (_, fields, kind) => {
    expect(decideObject(other(fields)).kind).toBe(kind);
  });
});
