/** What a drain does with each pod of the node, when it looks again, and what it does not wait for. */
import { describe, expect, it } from 'vitest';
import {
  planPods,
  withPodReturns,
  type PodPlanInput,
  type PodPlan,
} from '../../../../functions/drain/rule/pod-plan.ts';
import type { DrainMode } from '../../../../shared/domain/drain-settings.ts';
import type { PodView } from '../../../../shared/domain/pod.ts';
import { DEFAULT_PROTECTION_POLICY } from '../../../../shared/domain/protection.ts';
import { addDuration, minutes, seconds, toDurationMs, type EpochMs } from '../../../../shared/domain/time.ts';
import { active, NOW, pod } from '../observations.ts';

const at = (count: number): EpochMs => addDuration(NOW, minutes(count));
const AN_INSTANT = toDurationMs(1);

interface Given extends Partial<Omit<PodPlanInput, 'criteria'>> {
  readonly criteria?: Partial<PodPlanInput['criteria']>;
}

function planned(pods: readonly PodView[], mode: DrainMode | 'system' | undefined, given: Given = {}): PodPlan {
  const { criteria, ...situation } = given;
  return planPods({
    now: NOW,
    pods,
    protection: DEFAULT_PROTECTION_POLICY,
    isProtectionOverridden: false,
    evictionGracePeriod: undefined,
    deleteTime: at(60),
    warnedUids: [],
    active: active(),
    forcedEndTime: undefined,
    deadline: given.forcedEndTime,
    ...situation,
    criteria: {
      scope: { kind: 'full' },
      modeOf: () => mode,
      force: false,
      gpuPodsOnly: false,
      notReadyTimeout: minutes(5),
      kubeletSilentSince: undefined,
      ...criteria,
    },
  });
}

const EMPTY: PodPlan = { acts: [], waits: [], leftPods: [], returnedPods: [], isDrained: true, nextTime: undefined };
const protectedFor = (value: string): object => ({ annotations: { 'karpenter.sh/do-not-disrupt': value } });
const going = { deletionTimestamp: '2024-11-01T15:00:30Z', deletionGracePeriodSeconds: 30 };
/** Made 20 seconds after the drain began, for a ReplicaSet. */
const back = (name: string, time = '2024-11-01T15:00:20Z'): PodView =>
  pod(name, {
    creationTimestamp: time,
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'rs', controller: true }],
  });

describe('a pod', () => {
  it.each<[string, PodView, DrainMode | 'system' | undefined]>([
    ['of a namespace that is never drained', pod('a'), 'system'],
    ['that no rule is about', pod('a'), undefined],
    ['that has ended', pod('a', {}, { phase: 'Succeeded' }), 'Immediate'],
  ])('%s is no matter of the drain', (_, given, mode) => {
    expect(planned([given], mode)).toEqual(EMPTY);
  });

  it('of which nobody can say whether it uses what is drained is waited for', () => {
    const unknown = pod('a', { annotations: { 'dgxc.nvidia.com/devices': 'no JSON' } });
    expect(planned([unknown], 'Immediate', { criteria: { scope: { kind: 'entities', entities: ['A'] } } })).toEqual({
      ...EMPTY,
      isDrained: false,
      waits: [
        {
          pod: unknown,
          because: 'Unknown',
          until: undefined,
          message: 'the annotation dgxc.nvidia.com/devices of pod ml/a cannot be read',
        },
      ],
    });
  });

  it('is evicted with its own grace, or with that of the configuration, in whole seconds and never without any', () => {
    const a = pod('a');
    const graces = [undefined, seconds(90), toDurationMs(1_001), toDurationMs(0)].map(
      evictionGracePeriod => planned([a], 'Immediate', { evictionGracePeriod }).acts,
    );
    const evict = { kind: 'evict', pod: a, overriddenProtection: undefined };
    expect(graces).toEqual([undefined, 90, 2, 1].map(gracePeriodSeconds => [{ ...evict, gracePeriodSeconds }]));
  });

  it('is waited for in the order of namespaces and names, where it ends by itself', () => {
    const pods = [pod('b'), pod('a'), pod('z', { namespace: 'db' })];
    expect(planned(pods, 'AllowCompletion').waits).toEqual(
      ['z', 'a', 'b'].map(name => ({
        pod: pods.find(each => each.name === name),
        because: 'Completion',
        until: undefined,
      })),
    );
  });

  it('that is protected is waited for until that ends', () => {
    const [a, b] = [pod('a', protectedFor('true')), pod('b', protectedFor('4h'))];
    const until = addDuration(at(60), AN_INSTANT);
    expect(planned([a, b], 'Immediate')).toEqual({
      ...EMPTY,
      isDrained: false,
      nextTime: until,
      waits: [
        { pod: a, because: 'Protected', until: undefined },
        { pod: b, because: 'Protected', until },
      ],
    });
  });

  it('that is going is waited for until its grace is over, and then left', () => {
    const a = pod('a', going);
    const until = addDuration(NOW, seconds(60));
    expect(planned([a], 'Immediate')).toEqual({
      ...EMPTY,
      isDrained: false,
      nextTime: addDuration(until, AN_INSTANT),
      waits: [{ pod: a, because: 'Terminating', until }],
    });
    expect(planned([a], 'Immediate', { now: addDuration(until, AN_INSTANT) })).toEqual({
      ...EMPTY,
      leftPods: [{ pod: a, because: 'StuckTerminating' }],
    });
  });

  it('that does not get ready is asked to go all the same, and not waited for', () => {
    const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: '2024-11-01T12:00:00Z' }];
    const a = pod('a', {}, { phase: 'Running', conditions });
    expect(planned([a], 'Immediate')).toMatchObject({
      acts: [{ kind: 'evict' }],
      waits: [],
      leftPods: [{ pod: a, because: 'NotReady' }],
      isDrained: true,
    });
    expect(planned([a], 'AllowCompletion')).toEqual({ ...EMPTY, leftPods: [{ pod: a, because: 'NotReady' }] });
  });
});

describe('a pod with a time-out', () => {
  const a = pod('a', {}, { phase: 'Running' });
  const warned = ['uid-a'];

  it('is warned of it once, and waited for until then', () => {
    const wait = { pod: a, because: 'Deadline', until: at(60) };
    expect(planned([a], 'DeleteAfterTimeout')).toEqual({
      ...EMPTY,
      isDrained: false,
      nextTime: at(60),
      acts: [{ kind: 'warn', pod: a, deleteTime: at(60), onceUnprotected: false }],
      waits: [wait],
    });
    expect(planned([a], 'DeleteAfterTimeout', { warnedUids: warned })).toMatchObject({ acts: [], waits: [wait] });
  });

  it('is deleted when it is over, and warned before that, whatever the time', () => {
    const late = { now: at(60), warnedUids: warned };
    const grace = (evictionGracePeriod: PodPlanInput['evictionGracePeriod']): unknown =>
      planned([a], 'DeleteAfterTimeout', { ...late, evictionGracePeriod }).acts;
    expect(grace(undefined)).toEqual([
      { kind: 'delete', pod: a, gracePeriodSeconds: 30, overriddenProtection: undefined },
    ]);
    expect(grace(seconds(5))).toMatchObject([{ gracePeriodSeconds: 5 }]);
    expect(planned([a], 'DeleteAfterTimeout', { now: at(61) }).acts).toEqual([
      { kind: 'warn', pod: a, deleteTime: at(61), onceUnprotected: false },
    ]);
  });
});

describe('a protected pod with a time-out', () => {
  // It was made three hours before the drain began.
  const held = (value: string): PodView => pod('a', protectedFor(value), { phase: 'Running' });
  const plan = (value: string, given: Given = {}): PodPlan => planned([held(value)], 'DeleteAfterTimeout', given);

  it('is said to be deleted once its protection is taken off', () => {
    expect(plan('true')).toMatchObject({
      acts: [{ kind: 'warn', deleteTime: at(60), onceUnprotected: true }],
      waits: [{ because: 'Protected', until: undefined }],
    });
    expect(plan('true', { isProtectionOverridden: true })).toMatchObject({
      acts: [{ kind: 'warn', deleteTime: at(60), onceUnprotected: false }],
      waits: [{ because: 'Deadline', until: at(60) }],
    });
  });

  it('is said to be deleted at the end of its protection, if that comes after the time-out', () => {
    const until = at(100);
    expect(plan('280m')).toMatchObject({
      acts: [{ kind: 'warn', deleteTime: until, onceUnprotected: false }],
      waits: [{ because: 'Protected', until: addDuration(until, AN_INSTANT) }],
    });
    expect(plan('190m')).toMatchObject({
      acts: [{ kind: 'warn', deleteTime: at(60), onceUnprotected: false }],
      waits: [{ because: 'Deadline', until: at(60) }],
    });
  });
});

describe('a pod whose drain ends before its time-out', () => {
  it.each<[string, PodView, Given, object]>([
    ['is waited for', pod('a'), { deadline: at(60) }, { because: 'Completion' }],
    ['is kept by its protection', pod('a', protectedFor('true')), { deadline: at(30) }, { because: 'Protected' }],
    ['is kept by it longer', pod('a', protectedFor('5h')), { deadline: at(90) }, { because: 'Protected' }],
    ['is not spared by force', pod('a', protectedFor('5h')), { forcedEndTime: at(90) }, { because: 'Protected' }],
  ])('%s, and nobody is told that it is deleted', (_, given, times, wait) => {
    expect(planned([given], 'DeleteAfterTimeout', times)).toMatchObject({ acts: [], waits: [wait] });
  });

  it('is deleted where the deadline comes later', () => {
    expect(planned([pod('a')], 'DeleteAfterTimeout', { deadline: at(61) }).acts).toMatchObject([
      { deleteTime: at(60) },
    ]);
  });
});

describe('the deadline of a policy', () => {
  // The pod has 30 seconds of grace, and goes so that it is gone by the deadline.
  const begin = addDuration(at(10), seconds(-30));
  const forcedEndTime = at(10);
  const a: PodView = { ...pod('a'), terminationGracePeriod: seconds(30) };

  it('deletes what ends by itself, so that it is gone by then', () => {
    expect(planned([a], 'AllowCompletion', { forcedEndTime })).toMatchObject({ acts: [], nextTime: begin });
    expect(planned([a], 'AllowCompletion', { forcedEndTime, now: begin })).toEqual({
      ...EMPTY,
      isDrained: false,
      acts: [{ kind: 'delete', pod: a, gracePeriodSeconds: 30, overriddenProtection: undefined }],
    });
  });

  it('is what the owner is told of, where it comes before the time of DeleteAfterTimeout', () => {
    expect(planned([a], 'DeleteAfterTimeout', { forcedEndTime })).toMatchObject({
      acts: [{ kind: 'warn', deleteTime: begin }],
      waits: [{ because: 'Deadline', until: begin }],
      nextTime: begin,
    });
    expect(planned([a], 'DeleteAfterTimeout', { forcedEndTime: at(90) })).toMatchObject({
      acts: [{ kind: 'warn', deleteTime: at(60) }],
      waits: [{ because: 'Deadline', until: at(60) }],
    });
  });

  it('keeps what is protected, unless the end of the node is forced (I2)', () => {
    const held: PodView = { ...pod('a', protectedFor('true')), terminationGracePeriod: seconds(30) };
    const late = { forcedEndTime, now: begin };
    expect(planned([held], 'Immediate', late)).toMatchObject({ acts: [], waits: [{ because: 'Protected' }] });
    expect(planned([held], 'Immediate', { ...late, isProtectionOverridden: true })).toMatchObject({
      acts: [{ kind: 'delete', overriddenProtection: { kind: 'indefinite' } }],
      waits: [],
    });
  });

  it('does nothing with pods that nobody waits for', () => {
    const left = pod('a', going);
    const now = at(11);
    expect(planned([left], 'Immediate', { forcedEndTime, now })).toMatchObject({ acts: [], isDrained: true });
  });
});

describe('a pod that comes back', () => {
  const soon = addDuration(NOW, seconds(25));
  const due = addDuration(NOW, seconds(30));

  it('is waited for, then evicted and noted as returned', () => {
    const a = back('a');
    expect(planned([a], 'Immediate', { now: soon })).toEqual({
      ...EMPTY,
      isDrained: false,
      nextTime: due,
      waits: [{ pod: a, because: 'ComesBack', until: due }],
    });
    expect(planned([a], 'Immediate', { now: due })).toMatchObject({
      acts: [{ kind: 'evict', pod: a }],
      returnedPods: [a],
      waits: [],
    });
  });

  it('is no return where it is not ended by the drain, and none that was there or is only warned', () => {
    expect(planned([back('a')], 'AllowCompletion', { now: due })).toMatchObject({
      returnedPods: [],
      waits: [{ because: 'Completion' }],
    });
    expect(planned([back('a')], 'DeleteAfterTimeout', { now: due })).toMatchObject({
      returnedPods: [],
      acts: [{ kind: 'warn' }],
    });
    expect(planned([pod('a')], 'Immediate', { now: due })).toMatchObject({
      returnedPods: [],
      acts: [{ kind: 'evict' }],
    });
  });

  it('for the third time is left where it is', () => {
    const drain = active({ returns: [{ of: 'rs', times: 2, time: NOW }] });
    const a = back('a');
    expect(planned([a], 'Immediate', { now: at(30), active: drain })).toEqual({
      ...EMPTY,
      leftPods: [{ pod: a, because: 'ComesBack' }],
    });
  });

  it('and does not get ready is tried later, and not waited for', () => {
    const a = { ...back('a'), notReadySince: at(-60), ready: false };
    expect(planned([a], 'Immediate', { now: soon })).toEqual({
      ...EMPTY,
      nextTime: due,
      leftPods: [{ pod: a, because: 'NotReady' }],
    });
  });

  it('is known by its controller, and by no other owner', () => {
    const owner = { apiVersion: 'v1', kind: 'X', name: 'x' };
    const owned = pod('a', {
      ownerReferences: [
        { ...owner, uid: 'other', controller: false },
        { ...owner, uid: 'one', controller: true },
      ],
    });
    expect(withPodReturns([], [owned], NOW)).toEqual([{ of: 'one', times: 1, time: NOW }]);
  });

  it('counts its own returns, beside those of others', () => {
    const returns = [
      { of: 'other', times: 1, time: at(-1) },
      { of: 'rs', times: 1, time: at(-1) },
    ];
    expect(withPodReturns(returns, [], NOW)).toBe(returns);
    expect(withPodReturns(returns, [back('a'), back('b')], NOW)).toEqual([
      returns[0],
      { of: 'rs', times: 2, time: NOW },
    ]);
    const many = Array.from({ length: 250 }, (_, index) => ({ of: `rs-${index}`, times: 1, time: NOW }));
    expect(withPodReturns(many, [back('a')], NOW)).toEqual([...many.slice(1), { of: 'rs', times: 1, time: NOW }]);
  });
});

it('warns of a pod that has come back that it is deleted when that is due, and of none that is not waited for', () => {
  const due = { deleteTime: at(-1), now: addDuration(NOW, seconds(21)) };
  const later = addDuration(NOW, seconds(30));
  expect(planned([back('a')], 'DeleteAfterTimeout', due).acts).toMatchObject([{ kind: 'warn', deleteTime: later }]);
  const often = active({ returns: [{ of: 'rs', times: 2, time: NOW }] });
  expect(planned([back('a')], 'DeleteAfterTimeout', { ...due, active: often })).toMatchObject({
    acts: [],
    leftPods: [{ because: 'ComesBack' }],
  });
});
