import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  podDrainability,
  FULL,
  covers,
  formatScope,
  scopeOf,
  scopeOfAll,
  type PodCriteria,
  type PodDrainability,
  type DrainScope,
} from '../../../../functions/drain/rule/pods.ts';
import type { Entity } from '../../../../shared/domain/health-event.ts';
import type { PodView } from '../../../../shared/domain/pod.ts';
import { minutes, seconds, toEpochMs } from '../../../../shared/domain/time.ts';
import { aPod } from '../../../builders/pods.ts';
import { at } from '../../../builders/repair.ts';

const NOW = at('2024-01-01T12:00:00Z');
const CRITERIA: PodCriteria = {
  scope: FULL,
  modeOf: () => 'AllowCompletion',
  force: false,
  gpuPodsOnly: false,
  notReadyTimeout: minutes(5),
  kubeletSilentSince: undefined,
};
const drainability = (pod: Partial<PodView>, criteria: Partial<PodCriteria> = {}): PodDrainability =>
  podDrainability(aPod(undefined, pod), { ...CRITERIA, ...criteria }, NOW);
const owner = (kind: string, apiVersion = 'apps/v1') => ({ apiVersion, kind, name: 'x', uid: 'u' });
const devices = (value: unknown): PodView['annotations'] => ({ 'dgxc.nvidia.com/devices': JSON.stringify(value) });
const gpu = (...uuids: string[]): PodView['annotations'] => devices({ devices: { 'nvidia.com/gpu': uuids } });
const ON_GPU: DrainScope = { kind: 'entities', entities: ['GPU-123'] };

describe('a pod in a drain', () => {
  it('counts with the mode of its rule', () => {
    expect(drainability({})).toEqual({ kind: 'counts', mode: 'AllowCompletion', until: undefined });
  });

  it('4: counts as Immediate in a forced drain, which takes no more pods', () => {
    expect(drainability({}, { force: true })).toMatchObject({ mode: 'Immediate' });
    expect(drainability({}, { force: true, modeOf: () => undefined })).toEqual({
      kind: 'outOfScope',
      because: 'NoRule',
    });
  });

  it.each<[string, Partial<PodView>, Partial<PodCriteria>, string]>([
    ['of a system namespace', {}, { modeOf: () => 'system' }, 'SystemNamespace'],
    ['of a namespace without a rule', {}, { modeOf: () => undefined }, 'NoRule'],
    ['15: of a DaemonSet', { ownerReferences: [owner('DaemonSet')] }, {}, 'DaemonSet'],
    ['of a DaemonSet of another group', { ownerReferences: [owner('DaemonSet', 'x.io/v1')] }, {}, 'DaemonSet'],
    ['that mirrors a static pod', { annotations: { 'kubernetes.io/config.mirror': 'x' } }, {}, 'Static'],
    ['that succeeded', { phase: 'Succeeded' }, {}, 'Finished'],
    ['that failed', { phase: 'Failed' }, {}, 'Finished'],
    ['3: without devices, where only those with devices are drained', {}, { gpuPodsOnly: true }, 'NoDevices'],
    ['7: on another GPU', { annotations: gpu('GPU-456') }, { scope: ON_GPU }, 'OtherEntity'],
    ['7: on no GPU', {}, { scope: ON_GPU }, 'OtherEntity'],
  ])('%s is none of its business', (_, pod, criteria, because) => {
    expect(drainability(pod, criteria)).toEqual({ kind: 'outOfScope', because });
  });

  it('3: with devices counts where only those are drained', () => {
    expect(drainability({ annotations: devices({}) }, { gpuPodsOnly: true })).toMatchObject({ kind: 'counts' });
  });

  it('that is being stopped counts until its grace period has passed once more', () => {
    const deletionTime = at('2024-01-01T11:59:30Z');
    expect(drainability({ deletionTime })).toEqual({ kind: 'counts', mode: 'AllowCompletion', until: NOW });
    expect(drainability({ deletionTime: at('2024-01-01T11:59:29Z') })).toEqual({
      kind: 'leftBehind',
      because: 'StuckTerminating',
      mode: 'AllowCompletion',
    });
    expect(drainability({ deletionTime, terminationGracePeriod: seconds(10) })).toMatchObject({ kind: 'leftBehind' });
  });

  it('that is not ready counts for the time that the configuration says', () => {
    const since = (text: string): PodDrainability => drainability({ ready: false, notReadySince: at(text) });
    expect(since('2024-01-01T11:55:00Z')).toEqual({ kind: 'counts', mode: 'AllowCompletion', until: NOW });
    expect(since('2024-01-01T11:54:59Z')).toEqual({ kind: 'leftBehind', because: 'NotReady', mode: 'AllowCompletion' });
    expect(drainability({ ready: false })).toMatchObject({ kind: 'counts', until: undefined });
  });

  it('has the very instant at which its time is over, and no later one', () => {
    const stopped = (ms: number) => drainability({ deletionTime: toEpochMs(at('2024-01-01T11:59:30Z') - ms) });
    expect([stopped(0), stopped(1)].map(({ kind }) => kind)).toEqual(['counts', 'leftBehind']);
    const since = (ms: number) =>
      drainability({ ready: false, notReadySince: toEpochMs(at('2024-01-01T11:55:00Z') - ms) });
    expect([since(0), since(1)].map(({ kind }) => kind)).toEqual(['counts', 'leftBehind']);
  });

  it('that is not ready and is being stopped is waited for like any other', () => {
    const pod = { ready: false, notReadySince: at('2024-01-01T10:00:00Z'), deletionTime: at('2024-01-01T12:00:10Z') };
    expect(drainability(pod)).toMatchObject({ kind: 'counts' });
  });
});

describe('a pod in a partial drain', () => {
  const partial = (pod: Partial<PodView>): PodDrainability => drainability(pod, { scope: ON_GPU });

  it('6: counts when it uses the GPU', () => {
    expect(partial({ annotations: gpu('GPU-9', 'GPU-123') })).toMatchObject({ kind: 'counts' });
    expect(partial({ annotations: devices({ devices: { 'nvidia.com/pgpu': ['GPU-123'] } }) })).toMatchObject({ kind: 'counts' }); // prettier-ignore
    expect(partial({ annotations: devices({ devices: { 'example.com/nic': ['GPU-123'] } }) })).toMatchObject({ kind: 'outOfScope' }); // prettier-ignore
  });

  it('counts whatever its state, because it may still use the GPU', () => {
    const annotations = gpu('GPU-123');
    const old = at('2024-01-01T08:00:00Z');
    expect(partial({ annotations, deletionTime: old })).toMatchObject({ kind: 'counts' });
    expect(partial({ annotations, ready: false, notReadySince: old })).toMatchObject({ kind: 'counts' });
  });

  it('is unknown when it asks for a GPU and nothing says which', () => {
    expect(partial({ limitedResources: ['nvidia.com/gpu'] })).toEqual({
      kind: 'unknown',
      mode: 'AllowCompletion',
      message: 'pod prod/web-0 is requesting devices but is missing device annotation',
    });
    expect(partial({ limitedResources: ['cpu'] })).toMatchObject({ kind: 'outOfScope' });
  });

  it.each(['{', '[]', '{"devices": 1}', 'null'])('is unknown when its annotation is %s', text => {
    expect(partial({ annotations: { 'dgxc.nvidia.com/devices': text } })).toMatchObject({ kind: 'unknown' });
  });

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.jsonValue().map(value => JSON.stringify(value)),
        ),
        text => {
          partial({ annotations: { 'dgxc.nvidia.com/devices': text } });
        },
      ),
      { numRuns: 2000 },
    );
  });
});

const RESET = 2;
const gpuEntity = (entityValue: string): Entity => ({ entityType: 'GPU_UUID', entityValue });
const nic: Entity = { entityType: 'NIC', entityValue: 'mlx5_0' };
const wanted = (entitiesImpacted: readonly Entity[], enabled = true, recommendedAction = RESET) =>
  scopeOf({ recommendedAction, entitiesImpacted }, enabled);
const entities = (...uuids: string[]): DrainScope => ({ kind: 'entities', entities: uuids });

describe('the scope of a drain', () => {
  it('52: is full while partial drains are disabled', () => {
    expect(wanted([gpuEntity('GPU-1')], false)).toEqual(FULL);
  });
  it('is full for any action but COMPONENT_RESET', () => {
    expect([24, 0, 5, 99].map(action => wanted([gpuEntity('GPU-1')], true, action))).toEqual([FULL, FULL, FULL, FULL]);
  });
  it('54: is the GPU', () => {
    expect(wanted([gpuEntity('GPU-1')])).toEqual(entities('GPU-1'));
  });
  it.each([
    ['55: only a NIC', [nic]],
    ['56: a GPU without a value', [gpuEntity('')]],
    ['10: only a PCI entity', [{ entityType: 'PCI', entityValue: '0000:3b:00' }]],
    ['no entity at all', []],
  ])('%s is not usable, and never becomes a full drain', (_, list) => {
    expect(wanted(list)).toEqual({ kind: 'unusable', message: 'no supported entities for a partial drain found' });
  });
  it('58: is the GPU where a NIC comes first', () => {
    expect(wanted([nic, gpuEntity('GPU-1')])).toEqual(entities('GPU-1'));
  });
  it('is every GPU of the event, once', () => {
    expect(wanted([gpuEntity('GPU-2'), gpuEntity('GPU-1'), gpuEntity('GPU-2')])).toEqual(entities('GPU-1', 'GPU-2'));
  });
});

describe('one drain covers another', () => {
  it.each([
    ['43: full, full', FULL, FULL, true],
    ['44: full, partial', FULL, entities('A'), true],
    ['46: partial, the same', entities('A'), entities('A'), true],
    ['47: partial, another', entities('A'), entities('B'), false],
    ['partial, full', entities('A'), FULL, false],
    ['more, less', entities('A', 'B'), entities('B'), true],
    ['less, more', entities('A'), entities('A', 'B'), false],
  ])('%s: %#', (_, earlier, later, expected) => {
    expect(covers(earlier, later)).toBe(expected);
  });
});

describe('a pod whose kubelet does not answer', () => {
  const silent = { kubeletSilentSince: at('2024-01-01T11:57:00Z') };
  const created = (time: string): Partial<PodView> => ({ creationTime: at(time) });
  const pending: Partial<PodView> = { phase: 'Pending', ready: false, startTime: undefined };

  it.each<[string, Partial<PodView>, Partial<PodCriteria>, string | undefined]>([
    ['is not ready since then', { ...pending, ...created('2024-01-01T11:00:00Z') }, silent, '2024-01-01T12:02:00Z'],
    [
      'is not ready since it was made',
      { ...pending, ...created('2024-01-01T11:58:00Z') },
      silent,
      '2024-01-01T12:03:00Z',
    ],
    ['is not ready since then, whenever it was made', { ...pending, creationTime: undefined }, silent, '2024-01-01T12:02:00Z'], // prettier-ignore
    ['counts while its kubelet answers', pending, {}, undefined],
    ['counts where it had begun', { ...pending, startTime: at('2024-01-01T11:00:00Z') }, silent, undefined],
    ['counts where it runs', { ...pending, phase: 'Running' }, silent, undefined],
    ['counts where it is ready', { ...pending, ready: true }, silent, undefined],
    ['is not ready since it says so', { ...pending, notReadySince: at('2024-01-01T11:59:00Z') }, silent, '2024-01-01T12:04:00Z'], // prettier-ignore
  ])('%s', (_, given, criteria, until) => {
    expect(drainability(given, criteria)).toEqual({
      kind: 'counts',
      mode: 'AllowCompletion',
      until: until === undefined ? undefined : at(until),
    });
  });
});

describe('what a drain is about', () => {
  const event = (recommendedAction: number, ...uuids: readonly string[]) => ({
    event: {
      recommendedAction,
      entitiesImpacted: uuids.map(entityValue => ({ entityType: 'GPU_UUID', entityValue })),
    },
  });

  it('is in words', () => {
    expect([formatScope(FULL), formatScope({ kind: 'entities', entities: ['GPU-a', 'GPU-b'] })]).toEqual([
      'all pods',
      'pods on GPU-a, GPU-b',
    ]);
  });

  it('is the whole node if one of its requests is about that, in whatever order', () => {
    expect(scopeOfAll([event(24), event(2, 'GPU-a')], true)).toEqual(FULL);
    expect(scopeOfAll([event(2, 'GPU-a'), event(24)], true)).toEqual(FULL);
    expect(scopeOfAll([event(2, 'GPU-b'), event(2), event(2, 'GPU-a', 'GPU-b')], true)).toEqual({
      kind: 'entities',
      entities: ['GPU-a', 'GPU-b'],
    });
  });
});
