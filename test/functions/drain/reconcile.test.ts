/** What an event of a Node costs: its record is read once, and the Node only when the event may say something new; and two runs at once. */
import { describe, expect, it } from 'vitest';
import { createReconciler } from '../../../functions/drain/route.ts';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import { createMemoryRecordStore } from '../../../runtime/memory/record-store.ts';
import { portsWithin } from '../../../runtime/permissions/ports.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';
import { createCluster } from '../../../simulator/world.ts';
import { deployedIdentity } from '../../fakes/deployed-identity.ts';
import { clusterEvent } from '../../builders/cluster-event.ts';

const NOW = toEpochMs(Date.UTC(2024, 10, 1, 15));
const NODE = { type: RESOURCES.Node, name: 'n1' };
const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'r1', controller: true };

function createWorld() {
  const core = createCluster({ now: () => NOW });
  core.seed({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'curfew', name: 'curfew-config' },
    data: { 'config.toml': '[[userNamespaces]]\nname = "*"\nmode = "AllowCompletion"\n' },
  });
  core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'u1' } });
  core.seed({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web-0', namespace: 'default', uid: 'p1', ownerReferences: [OWNER] },
    spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'main' }] },
    status: { phase: 'Running' },
  });
  const store = createMemoryRecordStore();
  const kubernetes = createInProcessKubernetesApi(core, 'curfew:drain');
  const reads = { record: 0, node: 0 };
  const decisions: string[] = [];
  const whileSaying: (() => Promise<unknown>)[] = [];
  const whilePausing: (() => void)[] = [];
  const deps: Parameters<typeof createReconciler>[0] = {
    cluster: 'test',
    kubernetes: {
      ...kubernetes,
      get: async ref => {
        if (ref.type === RESOURCES.Node) reads.node += 1;
        return kubernetes.get(ref);
      },
    },
    records: {
      ...store,
      get: async key => {
        if (key.id === 'node/u1') reads.record += 1;
        return store.get(key);
      },
    },
    wakeUps: { send: async () => undefined },
    bus: { publish: async entries => entries.map(() => ({ kind: 'published' })) },
    events: { record: async () => void (await whileSaying.pop()?.()) },
    audit: {
      write: ({ decision }) => {
        if (decision === 'hold') whilePausing.pop()?.();
        decisions.push(decision);
      },
    },
    metrics: { count: () => undefined, milliseconds: () => undefined },
    clock: { now: () => NOW, sleep: () => Promise.reject(new Error('nothing sleeps here')) },
  };
  const reconcile = createReconciler(portsWithin(deps, deployedIdentity('drain')));
  return {
    core,
    decisions,
    /** What is run while the next Event is recorded. */
    whileSaying,
    /** Runs while the pause of a drain is reported. */
    whilePausing,
    /** What the run after this event reads. */
    async readsAfter(changed: readonly string[], resourceVersion = core.get(NODE).metadata.resourceVersion) {
      Object.assign(reads, { record: 0, node: 0 });
      const subject = { kind: 'Node', apiVersion: 'v1', name: 'n1', uid: 'u1' } as const;
      await reconcile(clusterEvent({ subject, resourceVersion, changed: [...changed], hints: { nodeName: 'n1' } }));
      return { ...reads };
    },
    /** A person asks for a drain, which then waits for the pod. */
    async begin() {
      core.patch(NODE, {
        type: 'merge',
        body: { metadata: { annotations: { 'curfew.dev/drain-requested': 'm1' } } },
      });
      await this.readsAfter(['drain']);
    },
  };
}

describe('an event of a Node', () => {
  it('reads the record once where nothing is known of it, and not the Node', async () => {
    expect(await createWorld().readsAfter(['conditions'])).toEqual({ record: 1, node: 0 });
  });

  it('reads the record and the Node once where nothing comes of it', async () => {
    expect(await createWorld().readsAfter(['drain'])).toEqual({ record: 1, node: 1 });
  });

  it('reads the record alone when the Node is as the drain under way wrote it', async () => {
    const world = createWorld();
    await world.begin();
    expect(await world.readsAfter(['drain', 'unschedulable'])).toEqual({ record: 1, node: 0 });
  });

  it('reads record and Node once when somebody else changed it while a drain waits', async () => {
    const world = createWorld();
    await world.begin();
    world.core.patch(NODE, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } });
    expect(await world.readsAfter(['conditions'])).toEqual({ record: 1, node: 1 });
  });
});

it('leaves the end of a drain to the run that ended it, which may be about to say so', async () => {
  const world = createWorld();
  await world.begin();
  world.core.delete({ type: RESOURCES.Pod, namespace: 'default', name: 'web-0' }, { gracePeriodSeconds: 0 });
  world.whileSaying.push(() => world.readsAfter(['labels'], 'another'));
  await world.readsAfter(['labels'], 'another');
  expect(world.decisions.filter(decision => decision === 'end')).toHaveLength(1);
  expect(world.whileSaying).toEqual([]);
});

it('answers a request again whose answer the API server has forgotten, once, and touches no pod for it', async () => {
  const world = createWorld();
  await world.begin();
  world.core.delete({ type: RESOURCES.Pod, namespace: 'default', name: 'web-0' }, { gracePeriodSeconds: 0 });
  await world.readsAfter(['labels'], 'another');
  const answer = (): string | undefined => world.core.get(NODE).metadata.annotations?.['curfew.dev/drain-answer'];
  const before = answer();
  expect(before).toContain('"m1"');
  const forgotten = { metadata: { annotations: { 'curfew.dev/drain-answer': null } }, spec: { unschedulable: null } };
  world.core.patch(NODE, { type: 'merge', body: forgotten });
  await world.readsAfter(['drain'], 'another');
  await world.readsAfter(['drain'], 'another');
  expect(answer()).toBe(before);
  expect(world.decisions.slice(world.decisions.indexOf('end'))).toEqual(['end', 'answer']);
});

it('says that a drain is paused also when the run that set out to say it dies', async () => {
  const world = createWorld();
  const config = { type: RESOURCES.ConfigMap, namespace: 'curfew', name: 'curfew-config' };
  world.core.patch(config, { type: 'merge', body: { data: { 'config.toml': '[featureGates]\nnodeRepair = true\n' } } });
  world.whilePausing.push(() => {
    throw new Error('the run dies');
  });
  const request = { metadata: { annotations: { 'curfew.dev/drain-requested': 'm1' } } };
  world.core.patch(NODE, { type: 'merge', body: request });
  await expect(world.readsAfter(['drain'])).rejects.toThrow('the run dies');
  await world.readsAfter(['labels'], 'another');
  await world.readsAfter(['labels'], 'another');
  expect(world.decisions).toEqual(['take', 'hold']);
});
