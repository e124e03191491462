import { describe, expect, it } from 'vitest';
import type { HookProgress, KeptSettings } from '../../../../functions/finalizer/termination/record.ts';
import { settingsInForce } from '../../../../functions/finalizer/termination/settings-in-force.ts';
import type { EffectiveTermination } from '../../../../functions/finalizer/termination/settings.ts';
import type { TerminationHook } from '../../../../shared/domain/termination.ts';
import { minutes, toEpochMs } from '../../../../shared/domain/time.ts';

const hook = (name: string): TerminationHook => ({
  name,
  at: 'before-drain',
  target: { kind: 'lambda', functionName: name },
  deadline: minutes(5),
  heartbeat: undefined,
  onTimeout: 'Abort',
});
const settings = (finalizerName: string, ...hooks: readonly string[]): KeptSettings => ({
  finalizerName,
  scope: 'NodeOnly',
  hooks: hooks.map(hook),
});
const called = (phase: HookProgress['phase']): HookProgress => ({
  phase,
  firstInvokedTime: toEpochMs(0),
  lastSeenTime: toEpochMs(0),
  attempts: 1,
});

const MODE = { mode: 'Enforce', isBraked: false } as const;
const NONE: EffectiveTermination = { ...MODE, kind: 'none' };
const INVALID: EffectiveTermination = { ...MODE, kind: 'invalid', message: '', source: '', gracePeriod: undefined };
const custom = (own: KeptSettings): EffectiveTermination => ({
  ...MODE,
  kind: 'custom',
  source: 'NodePool web',
  settings: { ...own, builtin: 'Keep', gracePeriod: undefined },
});

const OLD = settings('example.com/old', 'backup', 'notify');
const NEW = settings('example.com/new');

describe('the settings of a termination', () => {
  it.each<[string, EffectiveTermination, KeptSettings | undefined, KeptSettings | undefined]>([
    ['are those in force now', custom(NEW), undefined, NEW],
    ['are those in force now, whatever was in force when it began', custom(NEW), OLD, NEW],
    ['are those of before once NodePool and policy are gone', NONE, OLD, OLD],
    ['are those of before while nobody can read what they say now', INVALID, OLD, OLD],
    ['are none where there never were any', NONE, undefined, undefined],
    ['are none where they could never be read', INVALID, undefined, undefined],
  ])('%s', (_, termination, kept, expected) => {
    expect(settingsInForce(termination, { hooks: {}, ...(kept && { settings: kept }) })).toEqual(expected);
  });

  it('are none before it has begun', () => {
    expect(settingsInForce(NONE, undefined)).toBeUndefined();
  });

  it.each<[string, EffectiveTermination, HookProgress['phase'], readonly string[]]>([
    ['lose a hook that holds when its policy is taken away', NONE, 'timedOut', ['notify']],
    ['keep a hook that is at work when its policy is taken away', NONE, 'pending', ['backup', 'notify']],
    ['keep a hook that holds while its policy cannot be read', INVALID, 'timedOut', ['backup', 'notify']],
  ])('%s', (_, termination, phase, expected) => {
    const inForce = settingsInForce(termination, { settings: OLD, hooks: { backup: called(phase) } });
    expect(inForce?.hooks.map(({ name }) => name)).toEqual(expected);
  });
});
