import { describe, expect, it } from 'vitest';
import type { HookProgress, KeptSettings } from '../../../../../functions/finalizer/termination/record.ts';
import {
  settingsInForce,
  whileSettingsUnreadable,
} from '../../../../../functions/finalizer/termination/rule/settings-in-force.ts';
import type { EffectiveTermination } from '../../../../../functions/finalizer/termination/settings.ts';
import type { KubernetesObject } from '../../../../../shared/domain/kubernetes-object.ts';
import type { TerminationHook } from '../../../../../shared/domain/termination.ts';
import { addDuration, minutes, seconds, toEpochMs } from '../../../../../shared/domain/time.ts';

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
const called = (phase: 'pending' | 'timedOut'): HookProgress => ({
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

  it.each<[string, EffectiveTermination, 'pending' | 'timedOut', readonly string[]]>([
    ['lose a hook that holds when its policy is taken away', NONE, 'timedOut', ['notify']],
    ['keep a hook that is at work when its policy is taken away', NONE, 'pending', ['backup', 'notify']],
    ['keep a hook that holds while its policy cannot be read', INVALID, 'timedOut', ['backup', 'notify']],
  ])('%s', (_, termination, phase, expected) => {
    const inForce = settingsInForce(termination, { settings: OLD, hooks: { backup: called(phase) } });
    expect(inForce?.hooks.map(({ name }) => name)).toEqual(expected);
  });
});

describe('a termination whose NodePool or policies cannot be read', () => {
  const DELETION = toEpochMs(Date.parse('2024-11-01T15:00:00Z'));
  const claim = (metadata: Partial<KubernetesObject['metadata']> = {}, spec = {}): KubernetesObject => ({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      name: 'c1',
      uid: 'u1',
      resourceVersion: '1',
      creationTimestamp: '2024-11-01T14:00:00Z',
      finalizers: ['curfew.dev/termination'],
      deletionTimestamp: '2024-11-01T15:00:00Z',
      ...metadata,
    },
    spec,
  });
  const next = (now: ReturnType<typeof seconds>, fields: Partial<Parameters<typeof whileSettingsUnreadable>[0]> = {}) =>
    whileSettingsUnreadable({
      now: addDuration(DELETION, now),
      object: claim(),
      nodes: [],
      isUnderWay: false,
      isNotServed: false,
      ...fields,
    });
  const { deletionTimestamp: _, ...living } = claim().metadata;
  const LIVING = { ...claim(), metadata: living };
  const OF_A_MINUTE = claim({}, { terminationGracePeriod: '1m' });

  it.each<[string, Parameters<typeof next>, ReturnType<typeof next>]>([
    ['is tried again at first', [seconds(299)], 'tryAgain'],
    ['waits as for a block that cannot be read once that has lasted', [minutes(5)], 'await'],
    ['is tried again before the deadline of its NodeClaim', [seconds(59), { object: OF_A_MINUTE }], 'tryAgain'],
    ['waits as for such a block at the deadline of its NodeClaim', [minutes(1), { object: OF_A_MINUTE }], 'await'],
    ['is tried again where a Node says so', [minutes(1), { object: { ...OF_A_MINUTE, kind: 'Node' } }], 'tryAgain'],
    ['is tried again while a kind is not served', [minutes(5), { isNotServed: true }], 'tryAgain'],
    ['is tried again while it lives', [minutes(5), { object: LIVING }], 'tryAgain'],
    ['is tried again where nothing is ours', [minutes(5), { object: claim({ finalizers: [] }) }], 'tryAgain'],
    [
      'waits where its Node alone is ours',
      [minutes(5), { object: claim({ finalizers: [] }), nodes: [claim()] }],
      'await',
    ],
    ['keeps its deadline once it has begun', [minutes(0), { isUnderWay: true }], 'goOn'],
    ['keeps its deadline whatever is not served', [minutes(5), { isUnderWay: true, isNotServed: true }], 'goOn'],
  ])('%s', (_, given, expected) => {
    expect(next(...given)).toBe(expected);
  });
});
