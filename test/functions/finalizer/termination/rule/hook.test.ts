import { describe, expect, it } from 'vitest';
import {
  nextForHook,
  type HookEffect,
  type HookObservation,
} from '../../../../../functions/finalizer/termination/rule/hook.ts';
import type { HookProgress } from '../../../../../functions/finalizer/termination/record.ts';
import type { TerminationHook } from '../../../../../shared/domain/termination.ts';
import { addDuration, hours, minutes, seconds, type EpochMs } from '../../../../../shared/domain/time.ts';
import { HOOK_TIME, hookNamed, hookProgress } from '../../../../builders/hook.ts';

const NOW = HOOK_TIME;
const later = (count: number): EpochMs => addDuration(NOW, seconds(count));
const seen = (fields: Partial<HookObservation> = {}): HookObservation => ({
  now: NOW,
  hook: hookNamed('backup'),
  mode: 'awaited',
  progress: undefined,
  isOwn: false,
  hooks: {},
  ...fields,
});
const note = (more: Partial<HookProgress> = {}): HookEffect => ({
  kind: 'recordCall',
  progress: hookProgress('intended', more),
});
const wait = (on: string, until: EpochMs): HookEffect => ({ kind: 'wait', on, until });
const done = { kind: 'done' } as const;

describe('a hook that is waited for', () => {
  const target = { kind: 'customResource', template: 't', conditionType: 'Done' } as const;
  const resource = { group: 'g', version: 'v1', resource: 'backups', name: 'b-1', seenVersion: '7' };
  const long = { lastSeenTime: later(-60), firstInvokedTime: later(-60) };
  it.each<[string, Partial<HookObservation>, HookEffect]>([
    ['is noted down before its first call', {}, note()],
    [
      'is called by the run that noted it down',
      { progress: hookProgress('intended'), isOwn: true },
      { kind: 'call', progress: hookProgress('intended') },
    ],
    [
      'is left to another run while that may call it',
      { progress: hookProgress('intended') },
      wait('hook backup is being called', later(60)),
    ],
    [
      'has its time from a call that was made: the note of a run that ended says nothing',
      { progress: hookProgress('intended', long) },
      note({ attempts: 2 }),
    ],
    [
      'keeps its time when a second call may not have been made',
      { progress: hookProgress('intended', { ...long, firstInvokedTime: later(-90), attempts: 2 }) },
      note({ firstInvokedTime: later(-90), attempts: 3 }),
    ],
    ['is done when it has answered', { progress: hookProgress('succeeded') }, done],
    ['is done when it was passed over', { progress: hookProgress('passed') }, done],
    [
      'is done when it was called and nobody waited',
      { progress: hookProgress('pending', { unawaited: 'once' }) },
      done,
    ],
    [
      'is called anew where such a call was only noted down',
      { progress: hookProgress('intended', { ...long, unawaited: 'once', attempts: 2 }) },
      note(),
    ],
    ['waits for its worker', { progress: hookProgress('pending') }, wait('hook backup is at work', later(600))],
    [
      'counts the silence of its worker',
      { hook: hookNamed('backup', { heartbeat: minutes(2) }), progress: hookProgress('pending') },
      wait('hook backup is at work', later(120)),
    ],
    [
      'is tried again after a failure, ever later',
      { progress: hookProgress('failed', { attempts: 2, message: 'no space' }) },
      wait('hook backup failed: no space', later(10)),
    ],
    [
      'is not tried past its time',
      { progress: hookProgress('failed', { firstInvokedTime: later(-597), attempts: 2, message: 'no space' }) },
      wait('hook backup failed: no space', later(3)),
    ],
    [
      'is noted down again when that time has come',
      { progress: hookProgress('failed', { ...long, message: 'no space' }) },
      note({ firstInvokedTime: later(-60), attempts: 2 }),
    ],
    [
      'is looked at where a custom resource stands for it',
      { hook: hookNamed('backup', { target }), progress: hookProgress('pending', { resource }) },
      {
        kind: 'look',
        progress: hookProgress('pending', { resource }),
        target,
        resource,
        on: 'hook backup is at work',
        until: later(8),
      },
    ],
    [
      'is only waited for until that is known',
      { hook: hookNamed('backup', { target }), progress: hookProgress('pending') },
      wait('hook backup is at work', later(600)),
    ],
  ])('%s', (_, fields, effect) => {
    expect(nextForHook(seen(fields))).toEqual(effect);
  });
});

describe('a hook that ran out of time', () => {
  const failed = hookProgress('failed', { firstInvokedTime: later(-600), message: 'no space' });
  const said = (effect: string): string => `hook backup did not succeed in time; it last said: no space: ${effect}`;
  const goesOn = said('the termination goes on without it');
  const holds = said('the termination is held until somebody takes the hook out of its policy, or until its deadline');
  const forces = said('the termination is forced from now on');
  const timedOut: HookProgress = { ...failed, phase: 'timedOut' };
  it.each<[string, TerminationHook['onTimeout'], HookProgress, HookEffect]>([
    [
      'is passed over',
      'Proceed',
      failed,
      { kind: 'timeOut', progress: { ...failed, phase: 'passed' }, message: goesOn },
    ],
    ['is said to hold', 'Abort', failed, { kind: 'timeOut', progress: timedOut, message: holds }],
    ['is said to force', 'Escalate', failed, { kind: 'timeOut', progress: timedOut, message: forces }],
    ['holds', 'Abort', timedOut, wait(holds, later(300))],
    ['forces, also after a run that died before it did', 'Escalate', timedOut, { kind: 'force', because: forces }],
    ['holds nothing when its policy says Proceed by now', 'Proceed', timedOut, done],
    [
      'stays out of time when its deadline is ahead again',
      'Abort',
      { ...timedOut, firstInvokedTime: NOW },
      wait(holds, later(300)),
    ],
  ])('%s', (_, onTimeout, own, effect) => {
    expect(nextForHook(seen({ hook: hookNamed('backup', { onTimeout }), progress: own }))).toEqual(effect);
  });

  it('waits for answers that may wait in the inbox, where nobody looked in time', () => {
    const pending = hookProgress('pending');
    const back = later(600 + 2400);
    const late = { ...pending, lateLookTime: back };
    expect(nextForHook(seen({ now: back, progress: pending }))).toEqual({ kind: 'noteLate', progress: late });
    const until = addDuration(back, seconds(210));
    expect(nextForHook(seen({ now: back, progress: late }))).toMatchObject({ kind: 'wait', until });
    const judged = { ...late, phase: 'passed' };
    expect(nextForHook(seen({ now: until, progress: late }))).toMatchObject({ kind: 'timeOut', progress: judged });
    // Nobody looked at that time either.
    const again = addDuration(until, minutes(1));
    expect(nextForHook(seen({ now: again, progress: late }))).toMatchObject({ kind: 'noteLate' });
    // A worker that was silent, and is heard again, may be silent as long as before.
    const silent = hookNamed('backup', { deadline: hours(3), heartbeat: minutes(5) });
    const heard = { ...late, lastSeenTime: addDuration(back, minutes(1)) };
    expect(nextForHook(seen({ hook: silent, now: heard.lastSeenTime, progress: heard }))).toEqual(
      wait('hook backup is at work', addDuration(back, minutes(6))),
    );
  });

  it('is called again meanwhile where it had failed, without more time for that', () => {
    const back = later(600 + 2400);
    const own = { ...failed, firstInvokedTime: NOW, lateLookTime: back };
    const again = nextForHook(seen({ now: back, progress: own }));
    expect(again).toMatchObject({ kind: 'recordCall', progress: { lateLookTime: back, firstInvokedTime: NOW } });
  });

  it('is decided once its custom resource was looked at, which may be done by then', () => {
    const target = { kind: 'customResource', template: 't', conditionType: 'Done' } as const;
    const resource = { group: 'g', version: 'v1', resource: 'backups', name: 'b-1', seenVersion: '7' };
    const next = (onTimeout: TerminationHook['onTimeout'], progress: HookProgress, isLookedAt: boolean) =>
      nextForHook(seen({ hook: hookNamed('backup', { target, onTimeout }), progress, isLookedAt }));
    const own = hookProgress('pending', { firstInvokedTime: later(-600), resource });
    expect(next('Escalate', own, false)).toEqual({
      kind: 'look',
      isLast: true,
      progress: own,
      target,
      resource,
      on: 'hook backup is at work',
      until: NOW,
    });
    expect(next('Escalate', own, true).kind).toBe('timeOut');
    const held: HookProgress = { ...timedOut, resource };
    expect(next('Abort', held, false)).toEqual({
      kind: 'look',
      progress: held,
      target,
      resource,
      on: holds,
      until: later(300),
    });
    expect(next('Escalate', held, false).kind).toBe('force');
    expect(next('Proceed', held, false)).toEqual(done);
  });

  it('is asked only once it was called for certain', () => {
    const own = hookProgress('intended', { firstInvokedTime: later(-900), lastSeenTime: later(-60), attempts: 3 });
    expect(nextForHook(seen({ progress: own })).kind).toBe('recordCall');
  });
});

describe('a hook that nothing waits for', () => {
  const forced = { unawaited: 'forced' } as const;
  const once = { unawaited: 'once' } as const;
  const giveUp = (own: HookProgress, message: string): HookEffect => ({
    kind: 'giveUp',
    progress: { ...own, phase: 'passed', lastSeenTime: NOW, message },
  });
  const spent = (name: string) => [name, hookProgress('failed', { ...forced, firstInvokedTime: later(-5) })] as const;
  const allSpent = Object.fromEntries(['a', 'b', 'c'].map(spent));
  const lost = hookProgress('intended', { ...forced, lastSeenTime: later(-5), firstInvokedTime: later(-5) });
  const notTaken = hookProgress('failed', { ...forced, message: '429' });
  it.each<[string, HookObservation['mode'], Partial<HookObservation>, HookEffect]>([
    ['is noted down before its call', 'once', {}, note(once)],
    [
      'is called anew where somebody waited for it and its call may not have been made',
      'forced',
      { progress: hookProgress('intended', { attempts: 3, firstInvokedTime: later(-300) }) },
      note(forced),
    ],
    [
      'is not called where somebody waited for it and it was called',
      'forced',
      { progress: hookProgress('failed') },
      done,
    ],
    [
      'may take 5 s beside Karpenter',
      'once',
      { progress: hookProgress('intended', once), isOwn: true, hooks: allSpent },
      { kind: 'call', progress: hookProgress('intended', once), within: seconds(5) },
    ],
    [
      'may take what is left of its 5 s at the deadline',
      'forced',
      { progress: hookProgress('intended', { ...forced, firstInvokedTime: later(-2) }), isOwn: true },
      {
        kind: 'call',
        progress: hookProgress('intended', { ...forced, firstInvokedTime: later(-2) }),
        within: seconds(3),
      },
    ],
    [
      'is given up when the others have taken 15 s',
      'forced',
      { progress: hookProgress('intended', forced), isOwn: true, hooks: allSpent },
      giveUp(hookProgress('intended', forced), 'the hooks before it took all the time that there was'),
    ],
    [
      'is left to another run for 5 s',
      'forced',
      { progress: hookProgress('intended', forced) },
      wait('hook backup is being called', later(5)),
    ],
    ['is noted down once more after that', 'forced', { progress: lost }, note({ ...forced, attempts: 2 })],
    [
      'is given up when a second run ended before its call',
      'forced',
      { progress: { ...lost, attempts: 2 } },
      giveUp({ ...lost, attempts: 2 }, 'nobody knows whether it was called'),
    ],
    ['is done when it was taken on', 'forced', { progress: hookProgress('pending', forced) }, done],
    ['is done when it was not taken on beside Karpenter', 'once', { progress: hookProgress('failed', once) }, done],
    [
      'is tried again 2 s after it was not taken on at the deadline',
      'forced',
      { progress: notTaken },
      wait('hook backup was not taken on: 429', later(2)),
    ],
    [
      'is noted down again then',
      'forced',
      { progress: { ...notTaken, firstInvokedTime: later(-2), lastSeenTime: later(-2) } },
      note({ ...forced, firstInvokedTime: later(-2), attempts: 2 }),
    ],
    ['is not tried a third time', 'forced', { progress: { ...notTaken, attempts: 2 } }, done],
    [
      'is not tried again where its time would be over',
      'forced',
      {
        progress: { ...notTaken, firstInvokedTime: later(-3) },
      },
      done,
    ],
  ])('%s', (_, mode, fields, effect) => {
    expect(nextForHook(seen({ mode, ...fields }))).toEqual(effect);
  });
});
