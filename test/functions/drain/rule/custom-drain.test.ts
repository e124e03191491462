/** The rule of custom drains: how one stands, by what is seen of its custom resource. */
import { describe, expect, it } from 'vitest';
import { decideCustomDrain } from '../../../../functions/drain/rule/custom-drain.ts';
import type { FoundResource } from '../../../../functions/drain/rule/observation.ts';
import type { CustomProgress } from '../../../../functions/drain/record.ts';
import type { PodPlan } from '../../../../functions/drain/rule/pod-plan.ts';
import type { JsonValue } from '../../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes } from '../../../../shared/domain/time.ts';
import { active, CUSTOM, NOW, pod, RESOURCE, configurationOf } from '../observations.ts';

const TYPE = { group: 'nvsentinel.nvidia.com', version: 'v1alpha1', resource: 'drainrequests' };
const EMPTY: PodPlan = { acts: [], waits: [], leftPods: [], returnedPods: [], isDrained: true, nextTime: undefined };
const seen = (conditions: JsonValue = [], isOurs = true, resourceVersion = '5', type = TYPE): FoundResource => ({
  kind: 'present',
  name: 'drain-n1-e1',
  type,
  isOurs,
  object: {
    apiVersion: 'nvsentinel.nvidia.com/v1alpha1',
    kind: 'DrainRequest',
    metadata: {
      name: 'drain-n1-e1',
      uid: 'uid-cr',
      resourceVersion,
      generation: 2,
      creationTimestamp: '2024-11-01T15:00:00Z',
    },
    status: { conditions },
  },
});
const ABSENT: FoundResource = { kind: 'absent', name: 'drain-n1-e1', type: TYPE };
const condition = (type: string, status: string, reason = 'Because') => [{ type, status, reason, message: 'why' }];

function on(
  resource: FoundResource,
  given: { custom?: CustomProgress | undefined; after?: number; toml?: string; plan?: PodPlan } = {},
) {
  const custom = 'custom' in given ? given.custom : RESOURCE;
  return decideCustomDrain({
    now: addDuration(NOW, minutes(given.after ?? 1)),
    active: active(custom === undefined ? {} : { phase: { kind: 'custom', resource: custom } }),
    settings: configurationOf(CUSTOM + (given.toml ?? '')).settings,
    resource,
    plan: given.plan ?? EMPTY,
  });
}

describe('a custom drain', () => {
  it('is noted down, then created', () => {
    expect(on(ABSENT, { custom: undefined })).toMatchObject({
      kind: 'recordResource',
      resource: { name: 'drain-n1-e1' },
    });
    const { uid: _, ...noted } = RESOURCE;
    expect(on(ABSENT, { custom: noted })).toMatchObject({ kind: 'createResource' });
  });

  it('goes on in the version in which its custom resource was looked for', () => {
    const type = { ...TYPE, version: 'v1' };
    const { uid: _, ...noted } = RESOURCE;
    const absent: FoundResource = { kind: 'absent', name: RESOURCE.name, type };
    const resource = { version: 'v1', createdTime: RESOURCE.createdTime };
    expect(on(seen([], true, '5', type))).toMatchObject({ kind: 'awaitResource', active: { phase: { resource } } });
    expect(on(absent)).toMatchObject({ kind: 'recordResource', resource });
    expect(on(absent, { custom: noted })).toMatchObject({ kind: 'createResource', resource });
  });

  it('names the kind of the custom resource that it has, whatever the configuration names by now', () => {
    const { settings } = configurationOf(CUSTOM.replace('"DrainRequest"', '"OtherDrain"'));
    expect(settings.customDrain?.kind).toBe('OtherDrain');
    const drain = active({ phase: { kind: 'custom', resource: RESOURCE } });
    expect(decideCustomDrain({ now: NOW, active: drain, settings, resource: seen(), plan: EMPTY })).toMatchObject({
      message: 'waiting for DrainComplete=True of DrainRequest.nvsentinel.nvidia.com drain-n1-e1',
    });
  });

  it('waits for its definition until the time-out', () => {
    const requestedKind = { group: TYPE.group, version: TYPE.version, kind: 'DrainRequest' };
    const notServed: FoundResource = { kind: 'notServed', requestedKind, versions: [] };
    expect(on(notServed, { custom: undefined })).toMatchObject({
      kind: 'awaitResource',
      reason: 'ResourceNotServed',
      message:
        'the API server does not serve DrainRequest.nvsentinel.nvidia.com: its CustomResourceDefinition is waited for',
      until: addDuration(NOW, minutes(30)),
    });
    expect(on({ ...notServed, versions: ['v1', 'v1beta1'] })).toMatchObject({
      kind: 'awaitResource',
      reason: 'ResourceNotServed',
      message:
        'the API server serves DrainRequest of nvsentinel.nvidia.com in v1, v1beta1, not in v1alpha1: name a version that it serves',
      active: { phase: { resource: RESOURCE } },
    });
    expect(on(notServed, { custom: undefined, after: 30 })).toMatchObject({
      kind: 'finish',
      outcome: { status: 'Failed', reason: 'TimedOut' },
    });
  });

  it('waits for what cannot be read until the time-out', () => {
    const unread: FoundResource = { kind: 'unavailable', message: '403' };
    expect(on(unread)).toMatchObject({
      kind: 'awaitResource',
      reason: 'ResourceNotKnown',
      message: 'whether the custom drain is complete is not known: 403',
      active: { phase: { resource: RESOURCE } },
      until: addDuration(NOW, minutes(30)),
    });
    expect(on(unread, { after: 30 })).toMatchObject({
      kind: 'finish',
      outcome: { status: 'Failed', reason: 'TimedOut', message: 'not complete within 1800 s, as far as is known: 403' },
    });
  });

  it('adopts one of ours that was not noted down', () => {
    expect(on(seen(), { custom: undefined })).toMatchObject({
      kind: 'awaitResource',
      active: { phase: { resource: { uid: 'uid-cr' } } },
    });
  });

  const says = (reason: string) => [{ type: 'DrainComplete', status: 'False', reason, message: 'slurmctld is down' }];

  it('fails with the message of the resource', () => {
    expect(on(seen(says('SlurmError')))).toMatchObject({
      outcome: { reason: 'CustomDrainFailed', message: 'DrainComplete is False: SlurmError: slurmctld is down' },
    });
  });

  it.each([
    ['the condition', condition('DrainComplete', 'True'), 'Succeeded'],
    ['its status in lower case', condition('DrainComplete', 'true'), 'Succeeded'],
    ['its status False', condition('DrainComplete', 'False'), undefined],
    ['its type in another case', condition('draincomplete', 'True'), undefined],
    ['another condition', condition('DrainInProgress', 'True'), undefined],
    ['both ends at once', [...condition('DrainFailed', 'True'), ...condition('DrainComplete', 'True')], 'Succeeded'],
    ['failure', condition('DrainFailed', 'True'), 'Failed'],
    ['failure in lower case', condition('DrainFailed', 'true'), 'Failed'],
    ['no failure', condition('DrainFailed', 'False'), undefined],
    ['no list', 'DrainComplete', undefined],
    ['a reason that ends in Failed', says('NodeDrainFailed'), 'Failed'],
    ['a reason that ends in Failure', says('PermanentFailure'), 'Failed'],
    ['a reason that ends in Error', says('SlurmError'), 'Failed'],
    ['Cancelled', says('Cancelled'), 'Failed'],
    ['Superseded', says('Superseded'), 'Failed'],
    ['a status that is not known', [{ ...says('ProbeError')[0], status: 'Unknown' }], 'Failed'],
    ['another reason', says('FailedOverToOther'), undefined],
    ['a reason in other words', says('NotCancelled'), undefined],
    ['no reason', says(''), undefined],
    ['a failure of an older generation', [{ ...says('SlurmError')[0], observedGeneration: 1 }], undefined],
    ['an end of an older generation', [{ ...condition('DrainComplete', 'True')[0], observedGeneration: 1 }], undefined],
    ['an end of this generation', [{ ...condition('DrainComplete', 'True')[0], observedGeneration: 2 }], 'Succeeded'],
  ])('with %s', (_, conditions, status) => {
    const decision = on(seen(conditions));
    expect(decision.kind === 'finish' ? decision.outcome.status : undefined).toBe(status);
  });

  it('is complete though its time is over, and says which of its pods still run', () => {
    const late = {
      after: 31,
      plan: { ...EMPTY, waits: [{ pod: pod('a'), because: 'Completion' as const, until: undefined }] },
    };
    expect(on(seen(condition('DrainComplete', 'True')), late)).toMatchObject({
      kind: 'finish',
      outcome: { status: 'Succeeded', reason: 'CustomDrainCompleteWithPodsLeft', left: ['ml/a (Running)'] },
    });
  });

  it.each([
    ['its time is over', seen(), { after: 30 }, 'TimedOut'],
    ["somebody else's has its name", seen([], false), {}, 'ForeignResource'],
    [
      "somebody else's says that it is complete",
      seen(condition('DrainComplete', 'True'), false),
      {},
      'ForeignResource',
    ],
    ['it is removed again', ABSENT, { custom: { ...RESOURCE, recreated: 1 } }, 'ResourceRemoved'],
    [
      'nothing of it changes',
      seen(),
      { toml: 'heartbeat = "5m"', after: 6, custom: { ...RESOURCE, seen: { resourceVersion: '5', since: NOW } } },
      'HeartbeatMissed',
    ],
  ])('fails when %s, or falls back', (_, resource, given, reason) => {
    expect(on(resource, given)).toMatchObject({ kind: 'finish', outcome: { status: 'Failed', reason } });
    const toml = `${'toml' in given ? `${given.toml}\n` : ''}fallbackMode = "Immediate"`;
    expect(on(resource, { ...given, toml })).toMatchObject({ kind: 'fallBack', because: { reason } });
  });

  it('is made again once when somebody removes it', () => {
    const decision = on(ABSENT);
    expect(decision).toMatchObject({ kind: 'recordResource', resource: { recreated: 1 } });
    expect(decision).not.toHaveProperty('resource.uid');
  });

  it('says in words what it waits for, and why it ends', () => {
    const name = 'DrainRequest.nvsentinel.nvidia.com drain-n1-e1';
    const outcome = (...given: Parameters<typeof on>): unknown => {
      const decision = on(...given);
      return decision.kind === 'finish' ? decision.outcome : decision;
    };
    const failed = (reason: string, message: string): unknown => ({ status: 'Failed', reason, message, left: [] });
    expect(on(seen())).toMatchObject({
      message: `waiting for DrainComplete=True of ${name}`,
      active: { phase: { kind: 'custom' } },
    });
    expect(outcome(seen(), { after: 30 })).toEqual(failed('TimedOut', 'not complete within 1800 s'));
    expect(outcome(seen([], false))).toEqual(
      failed('ForeignResource', `${name} was not made for this drain, and has the name of its own`),
    );
    expect(outcome(ABSENT, { custom: { ...RESOURCE, recreated: 1 } })).toEqual(
      failed('ResourceRemoved', `${name} was removed again`),
    );
    const quiet = { ...RESOURCE, seen: { resourceVersion: '5', since: NOW } };
    expect(outcome(seen(), { toml: 'heartbeat = "5m"', after: 6, custom: quiet })).toEqual(
      failed('HeartbeatMissed', `${name} has not changed for 300 s`),
    );
    const short = [{ type: 'DrainFailed', status: 'True', reason: 'Because', message: '' }];
    expect(outcome(seen(short))).toEqual(failed('CustomDrainFailed', 'DrainFailed is True: Because'));
    const complete = condition('DrainComplete', 'True');
    expect(outcome(seen(complete))).toEqual({
      status: 'Succeeded',
      reason: 'CustomDrainComplete',
      message: 'the custom drain is complete',
      left: [],
    });
    const plan = { ...EMPTY, waits: [{ pod: pod('a'), because: 'Completion' as const, until: undefined }] };
    expect(outcome(seen(complete), { plan })).toMatchObject({
      message: 'the custom drain is complete, and 1 of its pods still run',
    });
  });

  it('knows since when its resource is as it is, and another one from now', () => {
    const since = (custom: CustomProgress): unknown => {
      const decision = on(seen(), { custom });
      const phase = decision.kind === 'awaitResource' ? decision.active.phase : undefined;
      return phase?.kind === 'custom' ? phase.resource.seen?.since : undefined;
    };
    const known = { ...RESOURCE, seen: { resourceVersion: '5', since: NOW } };
    expect(since(known)).toBe(NOW);
    expect(since({ ...known, uid: 'another' })).toBe(addDuration(NOW, minutes(1)));
    expect(since(RESOURCE)).toBe(addDuration(NOW, minutes(1)));
  });

  it('cannot be decided where nobody asks for one', () => {
    expect(() => on({ kind: 'notAsked' })).toThrow('a custom drain has settings and a resource');
  });

  it('waits for the next heartbeat, which any change is', () => {
    const custom = { ...RESOURCE, seen: { resourceVersion: '4', since: NOW } };
    const later = on(seen(), { toml: 'heartbeat = "5m"', after: 6, custom });
    expect(later).toMatchObject({
      kind: 'awaitResource',
      until: addDuration(NOW, minutes(11)),
      active: { phase: { resource: { seen: { resourceVersion: '5' } } } },
    });
  });
});
