import { describe, expect, it } from 'vitest';
import { createApiServer } from '../../../packages/kube-apiserver/src/api-server.ts';
import { createInProcessClusterWatch } from '../../../runtime/in-process/cluster-watch.ts';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import { createMemoryRecordStore } from '../../../runtime/memory/record-store.ts';
import { portsWithin, type GuardedPorts, type Identity } from '../../../runtime/permissions/ports.ts';
import { createRealScheduler } from '../../../runtime/real-scheduler.ts';
import type { Permissions } from '../../../shared/contract/permissions.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { HookCall } from '../../../shared/ports/hooks.ts';
import { seconds, toEpochMs } from '../../../shared/domain/time.ts';
import { objectAt, objectsIn } from '../../fakes/objects.ts';

const NOTHING: Permissions = {
  kubernetes: [],
  records: [],
  readsKnownPools: false,
  readsDueIndex: false,
  wakes: [],
  publishesAs: [],
  ec2: [],
  invokesHooks: false,
};
const SUBJECT = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' };
const RECORD = { owner: 'repair', id: 'node/u1', subject: SUBJECT, state: {} } as const;
const CONFIG_MAP = { type: RESOURCES.ConfigMap, namespace: 'default', name: 'settings' };
const POD = { type: RESOURCES.Pod, namespace: 'default', name: 'web-0' };

const aHook = (target: HookCall['target']): HookCall => ({
  purpose: 'hook',
  name: 'deregister',
  target,
  key: 'k',
  about: { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' },
  details: {},
});

/** Ports over parts in memory, within these permissions; what was used and refused. */
function ports(permissions: Partial<Permissions>) {
  const core = createApiServer({ clock: { now: () => 0 } });
  core.seed({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'settings' } });
  core.seed({ apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'default', name: 'web-0' } });
  const used: string[] = [];
  const refused: string[] = [];
  const identity: Identity = {
    user: 'curfew:test',
    permissions: { ...NOTHING, ...permissions },
    onUse: permission => used.push(permission),
    onRefusal: message => refused.push(message),
  };
  const store = createMemoryRecordStore();
  const behind: Required<GuardedPorts> = {
    kubernetes: createInProcessKubernetesApi(core, 'test'),
    watch: createInProcessClusterWatch(core, createRealScheduler()),
    records: store,
    dueIndex: store,
    wakeUps: { send: async () => undefined },
    bus: { publish: async entries => entries.map(() => ({ kind: 'published' as const })) },
    hooks: { invoke: async () => ({ kind: 'succeeded' as const }) },
    instances: {
      describe: async () => undefined,
      checkOf: async () => undefined,
      list: async () => [],
      terminate: async () => ({ kind: 'ok' as const }),
      reboot: async () => ({ kind: 'ok' as const }),
      terminateInAutoScalingGroup: async () => ({ kind: 'ok' }),
    },
  };
  const guarded = portsWithin(behind, identity);
  return { core, ...guarded, used, refused };
}

describe('Kubernetes within its permissions', () => {
  it('is refused what is not granted, as kube-apiserver words it, and nothing happens', async () => {
    const { core, kubernetes, refused } = ports({});
    const refusals: readonly (readonly [() => Promise<unknown>, string])[] = [
      [
        () => kubernetes.get({ type: RESOURCES.NodeClaim, name: 'x' }),
        'nodeclaims.karpenter.sh "x" is forbidden: User "curfew:test" cannot get resource "nodeclaims" in API group "karpenter.sh" at the cluster scope',
      ],
      [
        () => kubernetes.list(RESOURCES.Pod, { namespace: 'prod' }),
        'pods is forbidden: User "curfew:test" cannot list resource "pods" in API group "" in the namespace "prod"',
      ],
      [
        () =>
          kubernetes.create(RESOURCES.Event, { apiVersion: 'v1', kind: 'Event', metadata: { namespace: 'default' } }),
        'events is forbidden: User "curfew:test" cannot create resource "events" in API group "" in the namespace "default"',
      ],
      [
        () => kubernetes.patch(POD, { type: 'merge', body: {} }, { subresource: 'status' }),
        'pods "web-0" is forbidden: User "curfew:test" cannot patch resource "pods/status" in API group "" in the namespace "default"',
      ],
      [
        () => kubernetes.delete(POD, { preconditions: {} }),
        'pods "web-0" is forbidden: User "curfew:test" cannot delete resource "pods" in API group "" in the namespace "default"',
      ],
      [
        () => kubernetes.evict(POD, { preconditions: {} }),
        'pods "web-0" is forbidden: User "curfew:test" cannot create resource "pods/eviction" in API group "" in the namespace "default"',
      ],
    ];
    for (const [call, message] of refusals) {
      const error = { name: 'RetryableError', reason: 'Forbidden', outcomeUnknown: false };
      await expect(call()).rejects.toMatchObject({ ...error, message: expect.stringContaining(message) as string });
    }
    expect(refused).toEqual(refusals.map(([, message]) => message));
    expect(core.get(POD).metadata.deletionTimestamp).toBeUndefined();
  });

  it('may do what is granted, in the namespace and on the objects that the grant names', async () => {
    const { kubernetes, used } = ports({
      kubernetes: [
        { group: '', resource: 'configmaps', verbs: ['get', 'list'], namespace: 'default', names: ['settings'] },
        { group: '', resource: 'pods', subresource: 'eviction', verbs: ['create'] },
      ],
    });
    expect(await objectAt(kubernetes, CONFIG_MAP)).toMatchObject({ metadata: { name: 'settings' } });
    const selected = { namespace: 'default', fieldSelector: 'metadata.name=settings' };
    expect(await objectsIn(kubernetes, RESOURCES.ConfigMap, selected)).toHaveLength(1);
    expect(await kubernetes.evict(POD, { preconditions: {} })).toEqual({ kind: 'ok' });
    expect(used).toEqual([
      'get configmaps settings in default',
      'list configmaps settings in default',
      'create pods/eviction',
    ]);
    await expect(kubernetes.get({ ...CONFIG_MAP, name: 'other' })).rejects.toThrow('is forbidden');
    await expect(kubernetes.get({ ...CONFIG_MAP, namespace: 'prod' })).rejects.toThrow('is forbidden');
    await expect(kubernetes.list(RESOURCES.ConfigMap, { namespace: 'default' })).rejects.toThrow('is forbidden');
    await expect(kubernetes.get(POD)).rejects.toThrow('is forbidden');
  });

  it('may list and watch only what is granted', async () => {
    const { watch } = ports({ kubernetes: [{ group: '', resource: 'pods', verbs: ['list'] }] });
    const { signal } = new AbortController();
    expect(await watch.list(RESOURCES.Pod, { limit: 1, signal })).toMatchObject({ kind: 'page' });
    await expect(watch.list(RESOURCES.Node, { limit: 1, signal })).rejects.toThrow('cannot list resource "nodes"');
    const events = watch.watch(RESOURCES.Pod, { resourceVersion: '1', timeoutSeconds: 1, signal });
    await expect(Array.fromAsync(events)).rejects.toThrow('cannot watch resource "pods"');
  });
});

describe('AWS within its permissions', () => {
  const wakeUp = { owner: 'repair', subject: SUBJECT, wakeTime: toEpochMs(0) } as const;
  const entry = { source: 'curfew.test', detailType: 'Test', detail: {} };

  it('is refused what is not granted', async () => {
    const { records, dueIndex, wakeUps, bus, instances, hooks, refused } = ports({});
    const calls: readonly (() => Promise<unknown>)[] = [
      () => records.get(RECORD),
      () => records.put(RECORD, 0),
      () => records.delete(RECORD, 1),
      () => dueIndex.queryDue(0, toEpochMs(1), { limit: 1 }),
      () => wakeUps.send([{ wakeUp, delay: seconds(0) }]),
      () => bus.publish([entry]),
      () => instances.describe('i'),
      () => instances.checkOf('i', 'InstanceStatus'),
      () => instances.list(),
      () => instances.terminate('i'),
      () => instances.reboot('i'),
      () => instances.terminateInAutoScalingGroup('i'),
      () => hooks.invoke(aHook({ kind: 'lambda', functionName: 'f' })),
    ];
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ name: 'RetryableError', reason: 'AccessDenied' });
    }
    expect(refused).toHaveLength(calls.length);
  });

  it('invokes no function of a hook without permission; a hook that is an event needs the bus alone', async () => {
    const refused = ports({});
    await refused.hooks.invoke(aHook({ kind: 'event', detailType: 'Deregister' }));
    await expect(refused.hooks.invoke(aHook({ kind: 'lambda', functionName: 'f' }))).rejects.toThrow(
      'not authorized to invoke the functions of hooks',
    );
    const granted = ports({ invokesHooks: true });
    await granted.hooks.invoke(aHook({ kind: 'lambda', functionName: 'f' }));
    expect(granted.used).toEqual(['invoke the functions of hooks']);
  });

  it('may do what is granted', async () => {
    const { records, dueIndex, wakeUps, bus, instances, used } = ports({
      records: ['repair'],
      readsDueIndex: true,
      wakes: ['repair'],
      publishesAs: ['curfew.test'],
      ec2: ['ec2:TerminateInstances'],
    });
    expect(await records.put(RECORD, 0)).toMatchObject({ kind: 'written' });
    expect(await dueIndex.queryDue(0, toEpochMs(1), { limit: 1 })).toEqual({ records: [], unreadable: [] });
    await wakeUps.send([{ wakeUp, delay: seconds(0) }]);
    expect(await bus.publish([entry])).toEqual([{ kind: 'published' }]);
    expect(await instances.terminate('i')).toEqual({ kind: 'ok' });
    expect(used).toEqual([
      'records of repair',
      'query the due index',
      'wake repair',
      'publish as curfew.test',
      'ec2:TerminateInstances',
    ]);
    await expect(records.get({ ...RECORD, owner: 'grace-period' })).rejects.toThrow('records of grace-period');
    await expect(instances.reboot('i')).rejects.toThrow('ec2:RebootInstances');
  });
});
