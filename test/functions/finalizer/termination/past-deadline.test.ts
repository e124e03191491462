/** Past its deadline a termination ends its instance, whatever the API server answers to what only informs, tidies or empties. */
import { describe, expect, it } from 'vitest';
import { createReconciler } from '../../../../functions/finalizer/route.ts';
import { createInProcessKubernetesApi } from '../../../../runtime/in-process/kubernetes-api.ts';
import { createMemoryRecordStore } from '../../../../runtime/memory/record-store.ts';
import { RESOURCES } from '../../../../shared/contract/resources.ts';
import type { JsonObject, ResourceType } from '../../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, seconds, toEpochMs } from '../../../../shared/domain/time.ts';
import { messageOf, RetryableError } from '../../../../shared/errors.ts';
import type { KubernetesApi } from '../../../../shared/ports/kubernetes-api.ts';
import { createCluster } from '../../../../simulator/world.ts';
import { clusterEvent } from '../../../builders/cluster-event.ts';

const START = toEpochMs(Date.UTC(2024, 10, 1, 15));
const PROVIDER_ID = 'aws:///us-west-2a/i-0abc';
const FINALIZER = 'example.com/custom';
const DEADLINE_MINUTES = 10;

interface Call {
  readonly verb: 'get' | 'list' | 'patch' | 'delete' | 'evict';
  readonly resource: string;
  readonly name: string;
  readonly body: string;
}

/** A NodeClaim and its Node, both being deleted, with a pod in each of two namespaces and a volume. @param fails calls that fail for good */
function createWorld(fails: (call: Call) => boolean, error: RetryableError, spec: JsonObject = {}) {
  let now = START;
  let state: 'running' | 'terminated' = 'running';
  const core = createCluster({ now: () => now });
  const metadata = {
    labels: { 'karpenter.sh/nodepool': 'default' },
    finalizers: [FINALIZER],
    deletionTimestamp: '2024-11-01T15:00:00Z',
  };
  const disruption = { customFinalizerName: FINALIZER, terminationGracePeriodSeconds: DEADLINE_MINUTES * 60 };
  core.seed({ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'default' }, spec: { disruption } });
  core.seed({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { ...metadata, name: 'nc1', uid: 'c1' },
    spec,
    status: { providerID: PROVIDER_ID, nodeName: 'n1' },
  });
  core.seed({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { ...metadata, name: 'n1', uid: 'n1' },
    spec: { providerID: PROVIDER_ID },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
  for (const namespace of ['a', 'b']) {
    const spec = { nodeName: 'n1', terminationGracePeriodSeconds: 30, containers: [{ name: 'c', image: 'i' }] };
    const annotations = { 'karpenter.sh/do-not-disrupt': 'true' };
    core.seed({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web-0', namespace, annotations },
      spec,
      status: { phase: 'Running' },
    });
  }
  core.seed({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: 'va1' },
    spec: { attacher: 'ebs', nodeName: 'n1', source: { persistentVolumeName: 'pv1' } },
  });

  const api = createInProcessKubernetesApi(core, 'curfew:finalizer');
  const unless = <Answer>(call: Call, go: () => Promise<Answer>): Promise<Answer> =>
    fails(call) ? Promise.reject(error) : go();
  const kubernetes: KubernetesApi = {
    ...api,
    get: ref => unless({ verb: 'get', resource: ref.type.resource, name: ref.name, body: '' }, () => api.get(ref)),
    list: (type, ...rest) =>
      unless({ verb: 'list', resource: type.resource, name: '', body: '' }, () => api.list(type, ...rest)),
    patch: (ref, patch, options) => {
      const resource = `${ref.type.resource}${options?.subresource === undefined ? '' : '/status'}`;
      const body = JSON.stringify(patch.body);
      return unless({ verb: 'patch', resource, name: ref.name, body }, () => api.patch(ref, patch, options));
    },
    delete: (ref, options) => {
      const name = `${ref.namespace ?? ''}/${ref.name}`;
      return unless({ verb: 'delete', resource: ref.type.resource, name, body: '' }, () => api.delete(ref, options));
    },
  };
  const said: string[] = [];
  const records = createMemoryRecordStore();
  const reconcile = createReconciler({
    kubernetes,
    records,
    wakeUps: { send: async () => undefined },
    instances: {
      describe: async () => ({ state }),
      terminate: async () => {
        state = 'terminated';
        return { kind: 'ok' };
      },
      reboot: () => Promise.reject(new Error('nothing reboots here')),
      terminateInAutoScalingGroup: () => Promise.reject(new Error('it is in no group')),
      checkOf: async () => undefined,
      list: async () => [],
    },
    hooks: { invoke: async () => ({ kind: 'succeeded' }) },
    events: {
      record: async ({ reason, message, about }) => {
        said.push(`${about.kind} ${about.metadata.name} ${reason}: ${message}`);
      },
    },
    audit: { write: () => undefined },
    metrics: { count: () => undefined, milliseconds: () => undefined },
    clock: { now: () => now, sleep: () => Promise.reject(new Error('nothing sleeps here')) },
  });
  const isThere = (type: ResourceType, name: string): boolean =>
    core.list(type).items.some(({ metadata: { name: each } }) => each === name);
  return {
    said,
    /** Pods and volume are gone. */
    empty: () => {
      for (const namespace of ['a', 'b'])
        core.delete({ type: RESOURCES.Pod, namespace, name: 'web-0' }, { gracePeriodSeconds: 0 });
      core.delete({ type: RESOURCES.VolumeAttachment, name: 'va1' }, {});
    },
    state: () => state,
    isThere,
    isStopping: (namespace: string) =>
      core.get({ type: RESOURCES.Pod, namespace, name: 'web-0' }).metadata.deletionTimestamp !== undefined,
    /** One look a minute, as its events and timers bring it. @param spacing in its place */
    async run(count: number, spacing = minutes(1)): Promise<void> {
      const subject = { kind: 'NodeClaim', apiVersion: 'karpenter.sh/v1', name: 'nc1', uid: 'c1' } as const;
      for (let look = 0; look < count; look += 1) {
        now = addDuration(now, spacing);
        await reconcile(clusterEvent({ subject, changed: ['deletionTimestamp'] })).catch((thrown: unknown) => {
          if (!(thrown instanceof RetryableError)) throw new Error(messageOf(thrown), { cause: thrown });
        });
        const stored = await records.get({ owner: 'finalizer', id: 'nodeclaim/c1' });
        if (stored !== undefined) expect(stored.nextWakeTime).toBeGreaterThan(now);
      }
    },
  };
}

const FORBIDDEN = new RetryableError('403 Forbidden', { reason: 'Forbidden' });
const BROKEN = new RetryableError('500 InternalError', { reason: 'InternalError', outcomeUnknown: true });

const FAULTS: readonly (readonly [title: string, fails: (call: Call) => boolean])[] = [
  ['the list of VolumeAttachments', ({ verb, resource }) => verb === 'list' && resource === 'volumeattachments'],
  ['the list of pods', ({ verb, resource }) => verb === 'list' && resource === 'pods'],
  ['the status of the NodeClaim', ({ resource }) => resource === 'nodeclaims/status'],
  ['the status of the Node', ({ resource }) => resource === 'nodes/status'],
  ['the taint', ({ resource, body }) => resource === 'nodes' && body.includes('"taints"')],
  [
    'the deletion of one pod',
    ({ verb, resource, name }) => verb === 'delete' && resource === 'pods' && name === 'a/web-0',
  ],
];

describe.each([
  ['403', FORBIDDEN],
  ['500', BROKEN],
] as const)('a termination past its deadline, where the API server answers %s to', (_, error) => {
  it.each(FAULTS)('%s, ends instance and objects', async (title, fails) => {
    const world = createWorld(fails, error);
    await world.run(DEADLINE_MINUTES - 1);
    expect(world.state()).toBe('running');
    await world.run(4);
    expect(world.state()).toBe('terminated');
    expect(world.isThere(RESOURCES.NodeClaim, 'nc1')).toBe(false);
    expect(world.isThere(RESOURCES.Node, 'n1')).toBe(false);
    if (title === 'the deletion of one pod') expect(world.isStopping('b')).toBe(true);
    if (title.startsWith('the list') || title.startsWith('the deletion')) {
      expect(world.said.filter(line => line.includes(error.message))).not.toEqual([]);
    }
  });
});

describe('a deadline that nobody may write on the NodeClaim', () => {
  it('is tried ever less often, holds without that, and goes without a word', async () => {
    let tries = 0;
    const isDeadline = ({ body }: Call): boolean => body.includes('nodeclaim-termination-timestamp');
    const counted = (call: Call): boolean => isDeadline(call) && ++tries > 0;
    const world = createWorld(counted, FORBIDDEN, { terminationGracePeriod: `${DEADLINE_MINUTES}m` });
    await world.run(6 * (DEADLINE_MINUTES - 1), seconds(10));
    // After 1, 2 and 4 minutes.
    expect(tries).toBe(4);
    await world.run(4);
    expect(world.state()).toBe('terminated');
    expect(world.said.filter(line => line.includes(FORBIDDEN.message))).toEqual([]);
  });

  it('shares one try a minute with the finalizer where the verb is not allowed, and never wakes up at once', async () => {
    const tries: string[] = [];
    const isClaim = ({ verb, resource, body }: Call): boolean =>
      verb === 'patch' && resource === 'nodeclaims' && tries.push(body) > 0;
    const message = 'User "curfew" cannot patch resource "nodeclaims" in API group "karpenter.sh" at the cluster scope';
    const notAllowed = new RetryableError(message, { reason: 'Forbidden', isForbidden: true });
    const world = createWorld(isClaim, notAllowed, { terminationGracePeriod: `${DEADLINE_MINUTES}m` });
    world.empty();
    await world.run(6 * (DEADLINE_MINUTES - 1), seconds(10));
    expect(tries.length).toBeGreaterThan(1);
    // Each was tried once before that was known.
    expect(tries.length).toBeLessThanOrEqual(DEADLINE_MINUTES + 1);
    expect(world.isThere(RESOURCES.NodeClaim, 'nc1')).toBe(true);
  });
});
