/** What `decide` of a drain makes of each phase: of a node that nothing is drained on, of a custom drain, of its fallback, and of an end. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../../functions/drain/decide.ts';
import type { DrainObservation, FoundResource } from '../../../functions/drain/rule/observation.ts';
import {
  endingPhase,
  isCustomDrain,
  isWaiting,
  openPhaseOf,
  recordedResource,
} from '../../../functions/drain/rule/phase.ts';
import { podCriteriaOf } from '../../../functions/drain/rule/pod-plan.ts';
import { NO_DRAIN_LIMITS, type DrainLimitsInForce } from '../../../shared/domain/drain-limits.ts';
import { addDuration, hours, minutes, toDurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import {
  active,
  CUSTOM,
  finished,
  modes,
  NOW,
  observation,
  pod,
  prepared,
  request,
  RESOURCE,
  configurationOf,
  recovered,
} from './observations.ts';

describe('a node that nothing is drained on', () => {
  it.each([
    ['is at rest', {}, { kind: 'idle' }],
    ['shows no drain under way', { shownDrain: 'inProgress' }, { kind: 'correctConditions', shown: 'nothing' }],
    [
      'shows no ended drain once it is open',
      { shownDrain: 'drained' },
      { kind: 'correctConditions', shown: 'nothing' },
    ],
    ['shows its ended drain while it is cordoned', { shownDrain: 'drained', unschedulable: true }, { kind: 'idle' }],
    [
      'is noted as opened before anything else',
      { cordonMark: 'e1' },
      { kind: 'note', record: { uncordonedMark: 'e1' } },
    ],
    ['keeps our cordon for a drain that nobody remembers', { cordonMark: 'e1', unschedulable: true }, { kind: 'idle' }],
    [
      'has what an overtaken run has left taken back',
      { isWatched: true },
      { kind: 'tidy', status: 'Cancelled', uncordon: false },
    ],
    [
      'loses the mark of a drain that no record knows, which would keep a slot of the pool',
      { underWay: '{"id":"e1","since":"2024-11-01T15:00:00Z","waits":true}', cordonMark: 'e1', unschedulable: true },
      { kind: 'tidy', status: 'Cancelled', uncordon: false },
    ],
  ] as const)('%s', (_, node, expected) => {
    expect(decide(observation({ node }))).toMatchObject(expected);
  });

  it.each([
    ['shows its end again', 'Succeeded', {}, 'drained'],
    ['shows nothing where it failed', 'Failed', {}, 'nothing'],
    ['shows nothing once it is open', 'Succeeded', { unschedulable: false, cordonMark: undefined }, 'nothing'],
  ] as const)('and on which an overtaken run shows a drain that has ended %s', (_, status, more, shown) => {
    const node = { cordonMark: 'e1', unschedulable: true, shownDrain: 'inProgress', ...more } as const;
    const record = { finished: [finished('e1', { status, message: '2 pods were drained' })] };
    const message = shown === 'drained' ? '2 pods were drained' : '';
    expect(decide(observation({ node, record }))).toEqual({ kind: 'correctConditions', shown, message });
  });

  it.each([
    ['is opened once the fault is over', {}, true, { kind: 'tidy', status: 'Cancelled', uncordon: true }],
    ['stays cordoned while the fault lasts', {}, false, { kind: 'idle' }],
    ['stays cordoned while it is quarantined', { quarantine: ['e1'] }, true, { kind: 'idle' }],
  ] as const)('and that carries our cordon %s', (_, more, recovered, expected) => {
    const node = { cordonMark: 'e1', unschedulable: true, ...more };
    expect(decide(observation({ node, record: { finished: [finished('e1', { recovered })] } }))).toMatchObject(
      expected,
    );
  });

  it.each([
    ['loses our mark of a cordon once it is open', false, 'disownCordon'],
    ['loses our mark beside a cordon of somebody else', true, 'disownCordon'],
  ] as const)('%s', (_, unschedulable, kind) => {
    const node = { uncordonedMark: 'e1', unschedulable };
    const record = { uncordonedMark: 'e1', finished: [finished('e1', { recovered: true })] };
    expect(decide(observation({ node, record }))).toMatchObject({ kind });
  });

  it('is not known as opened any more once the mark is off', () => {
    expect(decide(observation({ record: { uncordonedMark: 'e1' } }))).toMatchObject({
      kind: 'idle',
      record: expect.not.objectContaining({ uncordonedMark: 'e1' }) as object,
    });
  });

  it('shows how its last drain ended that was one', () => {
    const ended = [finished('e0'), finished('e1', { status: 'Failed' }), finished('e2', { status: 'AlreadyDrained' })];
    const node = { isWatched: true, unschedulable: true };
    expect(decide(observation({ node, record: { finished: ended } }))).toEqual({
      kind: 'tidy',
      status: 'Failed',
      uncordon: false,
    });
  });
});

const present = (conditions: readonly Readonly<Record<string, string>>[] = []): FoundResource => ({
  kind: 'present',
  name: RESOURCE.name,
  type: { group: RESOURCE.group, version: RESOURCE.version, resource: RESOURCE.resource },
  isOurs: true,
  object: {
    apiVersion: 'nvsentinel.nvidia.com/v1alpha1',
    kind: 'DrainRequest',
    metadata: { name: RESOURCE.name, uid: 'uid-cr', resourceVersion: '5', creationTimestamp: '2024-11-01T15:00:00Z' },
    status: { conditions: conditions.map(each => ({ ...each })) },
  },
});
const COMPLETE = [{ type: 'DrainComplete', status: 'True', reason: 'Done', message: '' }];
const FAILED = [{ type: 'DrainComplete', status: 'False', reason: 'SlurmError', message: 'down' }];
const CUSTOM_DRAIN = configurationOf(CUSTOM);

describe('a custom drain', () => {
  const drain = active({ phase: { kind: 'custom', resource: RESOURCE } });
  const on = (resource: FoundResource, given: Parameters<typeof observation>[0] = {}) =>
    decide(
      observation({
        configuration: CUSTOM_DRAIN,
        node: prepared(drain),
        record: { active: drain },
        pods: [pod('a')],
        resource,
        ...given,
      }),
    );

  it('waits for its resource, however many pods are left', () => {
    const decision = on(present());
    expect(decision).toMatchObject({
      kind: 'awaitResource',
      reason: 'AwaitingCustomDrain',
      isStuck: false,
      until: addDuration(NOW, minutes(30)),
    });
    expect(on(present(), { pods: [] })).toMatchObject({ kind: 'awaitResource' });
  });

  it.each([
    ['is stuck where its resource has not changed for hours', '5', true],
    ['is not stuck where its resource has changed since the last look, hours ago', '4', false],
  ])('%s', (_, resourceVersion, isStuck) => {
    const seen = { resourceVersion, since: addDuration(NOW, toDurationMs(0 - hours(4))) };
    const late = active({ phase: { kind: 'custom', resource: { ...RESOURCE, seen } } });
    const decision = on(present(), { node: prepared(late), record: { active: late } });
    expect(decision).toMatchObject({ kind: 'awaitResource', isStuck });
  });

  it('is looked at again at the deadline of the pool, where that comes first', () => {
    const limits = { ...NO_DRAIN_LIMITS, deadline: minutes(10) };
    expect(on(present(), { inForce: { limits } })).toMatchObject({
      kind: 'awaitResource',
      until: addDuration(NOW, minutes(10)),
    });
    const later = { ...NO_DRAIN_LIMITS, deadline: hours(10) };
    expect(on(present(), { inForce: { limits: later } })).toMatchObject({ until: addDuration(NOW, minutes(30)) });
  });

  it('that is not over by the deadline of the pool fails, unless its resource says how it ended', () => {
    const late = {
      inForce: { limits: { ...NO_DRAIN_LIMITS, deadline: minutes(10) } },
      now: addDuration(NOW, minutes(10)),
    };
    expect(on(present(), late)).toMatchObject({ kind: 'finish', outcome: { reason: 'DeadlineExceeded' } });
    expect(on(present(COMPLETE), late)).toMatchObject({ outcome: { status: 'Succeeded' } });
  });

  it('has its resource noted down before it is made', () => {
    const { name, type } = present() as Extract<FoundResource, { kind: 'present' }>;
    expect(on({ kind: 'absent', name, type })).toMatchObject({ kind: 'recordResource', resource: { recreated: 1 } });
  });

  it('ends as its resource says, and falls back to nothing that was not asked for', () => {
    expect(on(present(COMPLETE))).toMatchObject({ kind: 'finish', outcome: { status: 'Succeeded' } });
    expect(on(present(FAILED))).toMatchObject({ kind: 'finish', outcome: { reason: 'CustomDrainFailed' } });
  });

  it('is given up where the configuration has no custom drain any more', () => {
    expect(on({ kind: 'notAsked' }, { configuration: modes('Immediate') })).toEqual({
      kind: 'fallBack',
      active: expect.objectContaining({ id: 'e1' }),
      because: {
        status: 'Failed',
        reason: 'ConfigurationChanged',
        message: 'the configuration has no custom drain any more',
        left: [],
      },
    });
  });

  it('has its node prepared first, and no pod planned', () => {
    const node = { ...prepared(drain), isWatched: false };
    expect(on(present(), { node })).toMatchObject({ kind: 'prepare', showDraining: true, plan: undefined });
    expect(on(present(), { node, pods: [] })).toMatchObject({ kind: 'prepare', showDraining: true });
  });

  it('goes on by the fallback mode, with the pods of system namespaces left where they are', () => {
    const configuration = configurationOf(`systemNamespaces = "^kube-system$"\n${CUSTOM}fallbackMode = "Immediate"\n`);
    const fallback = active({ phase: { kind: 'fallback', because: 'TimedOut' } });
    const { modeOf } = podCriteriaOf(fallback, configuration, { labels: {}, kubeletSilentSince: undefined });
    expect(modeOf(pod('a', { namespace: 'kube-system' }))).toBe('system');
    expect(modeOf(pod('a'))).toBe('Immediate');
    const decision = decide(
      observation({ configuration, node: prepared(fallback), record: { active: fallback }, pods: [pod('a')] }),
    );
    expect(decision).toMatchObject({ kind: 'drain', plan: { acts: [{ pod: { name: 'a' } }] } });
  });

  it("stays its controller's, whatever becomes of the labels of the node", () => {
    const configuration = configurationOf(
      `${CUSTOM}nodeSelector = "scheduler=slurm"\n\n[[userNamespaces]]\nname = "*"\nmode = "Immediate"\n`,
    );
    const labels = { scheduler: 'slurm' };
    const fallback = active({ phase: { kind: 'fallback', because: 'TimedOut' } });
    expect([active(), drain, fallback].map(each => isCustomDrain(each, configuration, { labels }))).toEqual([
      true,
      true,
      true,
    ]);
    expect([active(), drain, fallback].map(each => isCustomDrain(each, configuration, { labels: {} }))).toEqual([
      false,
      true,
      true,
    ]);
    expect(isCustomDrain(drain, modes('Immediate'), { labels })).toBe(false);
  });

  it('that has no fallback mode lets pods end by themselves', () => {
    const { modeOf } = podCriteriaOf(drain, CUSTOM_DRAIN, { labels: {}, kubeletSilentSince: undefined });
    expect(modeOf(pod('a'))).toBe('AllowCompletion');
  });
});

describe('a drain under way', () => {
  const drain = active();
  const on = (given: Parameters<typeof observation>[0]) =>
    decide(observation({ node: prepared(drain), record: { active: drain }, ...given }));

  it('ends with the last pod, and says how many went', () => {
    expect(on({})).toMatchObject({ kind: 'finish', outcome: { reason: 'Drained', message: '0 pods were drained' } });
    const one = active({ drained: 1 });
    expect(on({ record: { active: one } })).toMatchObject({ outcome: { message: '1 pod was drained', left: [] } });
  });

  it.each([
    [['a'], '0 pods were drained; 1 did not go and was not waited for'],
    [['a', 'b'], '0 pods were drained; 2 did not go and were not waited for'],
  ])('names the pods that are not waited for: %j', (names, message) => {
    const configuration = configurationOf(
      'deleteAfterTimeoutMinutes = 60\nnotReadyTimeoutMinutes = 5\n\n[[userNamespaces]]\nname = "*"\nmode = "AllowCompletion"\n',
    );
    const since = '2024-11-01T12:00:00Z';
    const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: since }];
    const pods = names.map(name => pod(name, {}, { phase: 'Running', conditions }));
    expect(on({ configuration, pods })).toMatchObject({
      kind: 'finish',
      outcome: {
        status: 'Succeeded',
        reason: 'DrainedWithPodsLeft',
        message,
        left: names.map(name => expect.stringContaining(`ml/${name} (`)),
      },
    });
  });

  it('shows nothing on a node without pods, which is prepared all the same', () => {
    const node = { ...prepared(drain), isWatched: false };
    expect(on({ node })).toMatchObject({ kind: 'prepare', showDraining: false, plan: { isDrained: true } });
    expect(on({ node, pods: [pod('a')] })).toMatchObject({ showDraining: true });
  });

  it('stands, while its end is on its way, where it stood when that was decided', () => {
    const outcome = { status: 'Succeeded', reason: 'Drained', message: '', left: [] } as const;
    const waiting = active({ phase: { kind: 'waiting', since: NOW, takesSlot: false } });
    const ending = { phase: endingPhase(waiting, outcome, NOW) };
    expect(ending.phase).toEqual({
      kind: 'ending',
      outcome: { ...outcome, time: NOW },
      over: [],
      before: waiting.phase,
    });
    expect(openPhaseOf(ending)).toEqual(waiting.phase);
    expect([isWaiting(ending), isWaiting(drain)]).toEqual([true, false]);
    const custom = active({ phase: { kind: 'custom', resource: RESOURCE } });
    expect([recordedResource(custom), recordedResource(waiting)]).toEqual([RESOURCE, undefined]);
    expect(recordedResource({ phase: endingPhase(custom, outcome, NOW) })).toEqual(RESOURCE);
  });

  it('answers a recovery that somebody asks about, also where it ends nothing', () => {
    const { event } = request('e5', { isHealthy: true });
    const idle = (incoming: DrainObservation['incoming']): unknown => decide(observation({ incoming }));
    expect(idle({ ...recovered(event), drainRequest: request('e5', { isHealthy: true }) })).toMatchObject({
      kind: 'answer',
      answer: { id: 'e5', reason: 'Recovered' },
    });
    expect(idle(recovered(event))).toMatchObject({ kind: 'idle' });
  });

  it('that a person has opened takes back the requests that wait, too', () => {
    const waiting = [request('e2')];
    const node = { ...prepared(drain), unschedulable: false };
    expect(on({ node, record: { active: drain, requests: waiting } })).toMatchObject({
      kind: 'finish',
      outcome: { status: 'Cancelled' },
      active: { requests: [{ id: 'e1' }, { id: 'e2' }] },
    });
  });

  it('warns owners anew of a deletion that has come nearer, and of no other', () => {
    const configuration = modes('DeleteAfterTimeout', 'deleteAfterTimeoutMinutes = 60');
    const warned = ['uid-a'];
    const warnedAfter = (deleteTime: EpochMs | undefined, limits?: DrainLimitsInForce): unknown => {
      const before = active({ warned, ...(deleteTime !== undefined && { deleteTime }) });
      const decision = on({
        configuration,
        record: { active: before },
        pods: [pod('a')],
        ...(limits && { inForce: { limits } }),
      });
      return 'active' in decision && decision.active.warned;
    };
    expect(warnedAfter(addDuration(NOW, hours(2)))).toEqual([]);
    expect(warnedAfter(addDuration(NOW, minutes(60)))).toEqual(warned);
    expect(warnedAfter(addDuration(NOW, minutes(10)))).toEqual(warned);
    expect(warnedAfter(undefined)).toEqual(warned);
    const limits = { ...NO_DRAIN_LIMITS, deadline: minutes(30), onDeadline: 'Force' } as const;
    expect(warnedAfter(addDuration(NOW, minutes(60)), limits)).toEqual([]);
    expect(warnedAfter(addDuration(NOW, minutes(30)), limits)).toEqual(warned);
  });

  it('that forces its last pods deletes those that are due once, then with its end, and evicts none', () => {
    const limits = { ...NO_DRAIN_LIMITS, deadline: minutes(30), onDeadline: 'Force' } as const;
    const pods = [pod('a'), pod('b', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } })];
    const failed = (
      now: EpochMs,
      given: typeof limits | { deadline: typeof limits.deadline },
      tried: readonly string[] = [],
    ) =>
      on({ inForce: { limits: { ...NO_DRAIN_LIMITS, ...given } }, pods, now, record: { active: { ...drain, tried } } });
    expect(failed(addDuration(NOW, minutes(30)), limits)).toMatchObject({ kind: 'drain' });
    const late = addDuration(NOW, hours(1));
    expect(failed(late, limits)).toMatchObject({
      kind: 'drain',
      plan: { acts: [{ kind: 'delete', pod: { name: 'a' } }] },
    });
    expect(failed(late, limits, [pod('a').uid])).toMatchObject({
      kind: 'finish',
      outcome: { reason: 'DeadlineExceeded' },
      plan: { acts: [{ kind: 'delete', pod: { name: 'a' } }] },
    });
    expect(failed(late, { deadline: minutes(30) })).toMatchObject({ kind: 'finish', plan: undefined });
  });
});
