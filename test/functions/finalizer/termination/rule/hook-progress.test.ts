import { describe, expect, it } from 'vitest';
import {
  afterAnswer,
  hookTimeoutTime,
  nextTimeout,
  reasonNotAwaited,
  withAnswers,
  withCalls,
  withLaterCalls,
  type ResourceAnswer,
} from '../../../../../functions/finalizer/termination/rule/hook-progress.ts';
import type { HookProgress, TerminationRecord } from '../../../../../functions/finalizer/termination/record.ts';
import type { TerminationHook } from '../../../../../shared/domain/termination.ts';
import { addDuration, minutes, toEpochMs } from '../../../../../shared/domain/time.ts';

const NOW = toEpochMs(1000);
const called = { phase: 'intended', firstInvokedTime: toEpochMs(0), lastSeenTime: toEpochMs(0), attempts: 1 } as const;
const resource = { group: 'example.com', version: 'v1', resource: 'backups', name: 'backup-1', seenVersion: '7' };

describe('an answer to a hook that waits for the next turn, because another run had written the record', () => {
  it('keeps where the custom resource is found, so that it is looked at', () => {
    const { backup } = withAnswers({ backup: called }, new Map([['backup', { kind: 'pending', resource }]]), NOW);
    expect(backup).toEqual({ ...called, phase: 'pending', lastSeenTime: NOW, resource });
  });

  it('is a mere heartbeat when it names none: what was known of the resource stays', () => {
    const { backup } = withAnswers(
      { backup: { ...called, phase: 'pending', resource } },
      new Map([['backup', { kind: 'pending' }]]),
      NOW,
    );
    expect(backup).toEqual({ ...called, phase: 'pending', lastSeenTime: NOW, resource });
  });
});

describe('an answer that comes late', () => {
  const said = { ...called, phase: 'pending', message: '429' } as const;
  const timedOut = { ...said, phase: 'timedOut' } as const;
  const passed = { ...said, phase: 'passed' } as const;
  const succeeded = { ...called, phase: 'succeeded' } as const;
  const FAILED = { kind: 'failed', message: 'no space' } as const;
  const failureReport = { message: 'no space', time: NOW };

  it.each<[string, HookProgress, ResourceAnswer | undefined, HookProgress]>([
    ['is none', said, undefined, said],
    ['ends the hook', said, { kind: 'succeeded' }, { ...called, phase: 'succeeded', lastSeenTime: NOW }],
    ['ends a hook whose time was over', timedOut, { kind: 'succeeded' }, { ...called, phase: 'succeeded', lastSeenTime: NOW }], // prettier-ignore
    ['says why it failed', said, FAILED, { ...called, phase: 'failed', lastSeenTime: NOW, message: 'no space', failureReport }], // prettier-ignore
    ['says why a hook failed whose time was over', timedOut, FAILED, { ...timedOut, message: 'no space' }], // prettier-ignore
    ['is no sign of life of a hook whose time was over', timedOut, { kind: 'pending' }, timedOut],
    ['changes no success', succeeded, FAILED, succeeded],
    ['changes nothing of a hook that was passed over', passed, FAILED, passed],
  ])('%s', (_, before, answer, after) => {
    const answers = new Map(answer === undefined ? [] : [['backup', answer]]);
    expect(withAnswers({ backup: before }, answers, NOW)).toStrictEqual({ backup: after });
  });
});

describe('the time of a hook', () => {
  const hook = { deadline: minutes(10), heartbeat: minutes(2) } as TerminationHook;
  const at = (count: number) => addDuration(toEpochMs(0), minutes(count));
  const pending = (lastSeen: number): HookProgress => ({ ...called, phase: 'pending', lastSeenTime: at(lastSeen) });

  it.each<[string, TerminationHook, HookProgress, number]>([
    ['is its deadline, without heartbeats', { deadline: minutes(10) } as TerminationHook, pending(3), 10],
    ['is over when its worker is silent', hook, pending(3), 5],
    ['is its deadline, though its worker was heard', hook, pending(9), 10],
    ['is its deadline, before a worker is at it', hook, called, 10],
  ])('%s', (_, given, progress, expected) => {
    expect(hookTimeoutTime(given, progress)).toBe(at(expected));
  });

  it.each<[string, Record<string, HookProgress>, number | undefined]>([
    ['none is called', {}, undefined],
    ['one is over', { a: { ...called, phase: 'succeeded' }, b: { ...called, phase: 'timedOut' } }, undefined],
    ['nobody waits for it', { a: { ...called, phase: 'pending', unawaited: 'once' } }, undefined],
    ['one is at work', { a: { ...called, phase: 'succeeded' }, b: pending(1) }, 3],
    ['two are called', { a: { ...called, phase: 'failed', message: '' }, b: pending(9) }, 5],
  ])('is the next to be looked at where %s', (_, progress, expected) => {
    const hooks = [
      { ...hook, name: 'a', deadline: minutes(5) },
      { ...hook, name: 'b' },
    ];
    expect(nextTimeout(hooks, progress)).toBe(expected === undefined ? undefined : at(expected));
  });
});

describe('an answer to the call that was just made', () => {
  it.each([
    ['is the end of the hook', { kind: 'succeeded' }, { phase: 'succeeded' }],
    [
      'says why it failed',
      { kind: 'failed', message: 'no space' },
      { phase: 'failed', message: 'no space', failureReport: { message: 'no space', time: NOW } },
    ],
    ['says where its custom resource is found', { kind: 'pending', resource }, { phase: 'pending', resource }],
  ] as const)('%s, and what it said before is forgotten', (_, answer, changed) => {
    const before = { ...called, phase: 'pending', message: '429' } as const;
    expect(afterAnswer(before, answer, NOW)).toEqual({ ...called, lastSeenTime: NOW, ...changed });
  });
});

describe('calls that two records of one instance know', () => {
  const later = { ...called, lastSeenTime: NOW, phase: 'succeeded' } as const;

  type Calls = Readonly<Record<string, HookProgress>>;
  it.each<[string, Calls, Calls, Calls]>([
    ['what only the other knows', {}, { backup: called }, { backup: called }],
    ['a hook called `constructor` that only the other knows', {}, { constructor: called }, { constructor: called }],
    ['the later look', { backup: called }, { backup: later }, { backup: later }],
    ['the later look of its own', { backup: later }, { backup: called }, { backup: later }],
    [
      'its own look of the same instant',
      { backup: later },
      { backup: { ...later, phase: 'failed', message: '' } },
      { backup: later },
    ],
    [
      'the later attempt',
      { backup: later },
      { backup: { ...called, attempts: 2 } },
      { backup: { ...called, attempts: 2 } },
    ],
    [
      'the later attempt of its own',
      { backup: { ...called, attempts: 2 } },
      { backup: later },
      { backup: { ...called, attempts: 2 } },
    ],
  ])('keep %s', (_, hooks, noted, kept) => {
    expect(withLaterCalls(hooks, noted)).toEqual(kept);
  });
});

describe('what an answer leaves as it was', () => {
  const known = {
    lateLookTime: toEpochMs(7),
    failureReport: { message: '429', time: toEpochMs(5) },
    unawaited: 'once',
  } as const;
  const calls = { firstInvokedTime: toEpochMs(0), lastSeenTime: NOW, attempts: 1 };

  it('is the late look, the report, and that nobody waits', () => {
    expect(afterAnswer({ ...called, ...known, phase: 'pending' }, { kind: 'succeeded' }, NOW)).toStrictEqual({
      ...calls,
      ...known,
      phase: 'succeeded',
    });
    expect(afterAnswer(called, { kind: 'pending' }, NOW)).toStrictEqual({ ...calls, phase: 'pending' });
  });

  it('is the message of the last failure, while the worker is at it again', () => {
    const failed: HookProgress = { ...called, phase: 'failed', message: 'no space' };
    const after = (before: HookProgress, answer: ResourceAnswer) =>
      withAnswers({ backup: before }, new Map([['backup', answer]]), NOW)['backup'];
    expect(after(failed, { kind: 'pending' })).toStrictEqual({ ...calls, phase: 'pending', message: 'no space' });
    expect(after(called, { kind: 'pending' })).toStrictEqual({ ...calls, phase: 'pending' });
    expect(after(failed, { kind: 'succeeded' })).toStrictEqual({ ...calls, phase: 'succeeded' });
  });

  it('is for nobody to wait for, and for the termination once its time is over', () => {
    expect(reasonNotAwaited(undefined)).toBeUndefined();
    expect(reasonNotAwaited({ ...called, unawaited: 'once' })).toBe('once');
    expect(reasonNotAwaited({ ...called, phase: 'timedOut', unawaited: 'once' } as HookProgress)).toBeUndefined();
  });
});

describe('a record with the calls of another one', () => {
  const record = (fields: Partial<TerminationRecord>): TerminationRecord =>
    ({ hooks: {}, ...fields }) as TerminationRecord;

  it('has the points that either has reported, once each, and its own key before the other', () => {
    const own = record({ reportedHookPoints: ['before-drain'], hookKeyUid: 'own' });
    const other = record({ reportedHookPoints: ['before-drain', 'before-terminate'], hookKeyUid: 'other' });
    expect(withCalls(own, other)).toStrictEqual({
      hooks: {},
      reportedHookPoints: ['before-drain', 'before-terminate'],
      hookKeyUid: 'own',
    });
    expect(withCalls(record({}), other)).toStrictEqual({
      hooks: {},
      reportedHookPoints: ['before-drain', 'before-terminate'],
      hookKeyUid: 'other',
    });
  });

  it('has neither where none has', () => {
    expect(withCalls(record({}), record({}))).toStrictEqual({ hooks: {} });
  });
});
