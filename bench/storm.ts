/**
 * Many nodes that are to be drained at once, against a bare loop that evicts the same pods through the same API server and knows nothing
 * else; and how long one drain takes whose pods stop at once.
 */
import { startEmbeddedCluster, type EmbeddedCluster } from '../cli/start/embedded-cluster.ts';
import { createMemoryRecordStore } from '../runtime/memory/record-store.ts';
import { createRealScheduler } from '../runtime/real-scheduler.ts';
import { createSystem } from '../runtime/system.ts';
import type { System } from '../runtime/system-parts.ts';
import { createClusterWatch } from '../shared/adapters/kubernetes/cluster-watch.ts';
import { createKubernetesApi } from '../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport } from '../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../shared/adapters/system-clock.ts';
import { HEALTH_EVENT } from '../shared/contract/names.ts';
import { RESOURCES } from '../shared/contract/resources.ts';
import { DRAIN_STATES, STATE_LABEL } from '../shared/domain/quarantine.ts';
import { seconds } from '../shared/domain/time.ts';
import type { KubernetesApi } from '../shared/ports/kubernetes-api.ts';
import { startKubelet } from '../simulator/actors/kubelet.ts';
import { createCloud } from '../simulator/cloud.ts';
import type { Bench, BenchContext, BenchOutcome } from './bench.ts';
import { percentile } from './measure/statistics.ts';
import { atLeast, atMost, numberRow, ratioRow } from './report/row.ts';

/** Least share of the bare loop's rate. */
const RATE_LIMIT = 0.7;
const SINGLE_LIMIT_MS = 1000;
const GIVE_UP_MS = 600_000;
/** Evictions that the bare loop has under way. */
const AT_ONCE = 10;

interface Plan {
  readonly nodes: number;
  readonly podsPerNode: number;
  readonly rounds: number;
  readonly singles: number;
}

const FULL: Plan = { nodes: 500, podsPerNode: 15, rounds: 3, singles: 20 };
const QUICK: Plan = { nodes: 20, podsPerNode: 15, rounds: 1, singles: 3 };

export const storm: Bench = {
  summary: 'drains of many nodes at once, against a bare eviction loop, and of one node',
  runsOnControlPlane: false,
  run: runStorm,
};

async function runStorm({ quick, progress }: BenchContext): Promise<BenchOutcome> {
  const plan = quick ? QUICK : FULL;
  const ours: number[] = [];
  const reference: number[] = [];
  const ends: number[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    progress.say('storm: the bare loop', { done: round, of: plan.rounds });
    reference.push(await withCluster(plan, side => bareLoop(side, plan)));
    progress.say('storm: drains', { done: round, of: plan.rounds });
    const measured = await withCluster(plan, side => drains(side, plan));
    ours.push(measured.rate);
    ends.push(...measured.ends);
  }
  progress.say('storm: single drains');
  const singles = await withCluster({ ...plan, nodes: plan.singles }, side => oneAfterTheOther(side, plan));
  return {
    settings: { ...plan, atOnce: AT_ONCE },
    rows: [
      ratioRow({ name: 'pods evicted a second', unit: '1/s', ours, reference, limit: atLeast(RATE_LIMIT) }),
      numberRow({ name: 'drain of a storm, p50', unit: 'ms', ours: percentile(ends, 50) }),
      numberRow({
        name: 'single drain, p50',
        unit: 'ms',
        ours: percentile(singles, 50),
        limit: atMost(SINGLE_LIMIT_MS),
      }),
    ],
    samples: { ours, reference, ends, singles },
  };
}

interface Side {
  readonly cluster: EmbeddedCluster;
  readonly kubernetes: KubernetesApi;
  readonly system: System;
}

/** A fresh cluster with its nodes and pods, kubelets that stop pods at once, and Curfew beside it, which is started by who wants it. */
async function withCluster<Answer>(
  { nodes, podsPerNode }: Plan,
  measure: (side: Side) => Promise<Answer>,
): Promise<Answer> {
  await using parts = new AsyncDisposableStack();
  const cluster = await startEmbeddedCluster(systemClock, 0);
  parts.defer(() => cluster.close());
  const scheduler = createRealScheduler();
  parts.defer(() => scheduler.close());
  startKubelet({ core: cluster.core, scheduler, cloud: createCloud(scheduler) });
  cluster.core.seed({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'curfew', name: 'curfew-config' },
    data: { 'config.toml': '[[userNamespaces]]\nname = "*"\nmode = "Immediate"\n' },
  });
  for (let node = 0; node < nodes; node++) {
    cluster.core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: `node-${node}` } });
    for (let pod = 0; pod < podsPerNode; pod++) {
      cluster.core.seed({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace: 'default', name: `pod-${node}-${pod}` },
        spec: { nodeName: `node-${node}`, containers: [{ name: 'main', image: 'main' }] },
        status: { phase: 'Running' },
      });
    }
  }
  const transport = createTransport({ server: cluster.url, clock: systemClock, userAgent: 'storm' });
  parts.defer(() => transport.close());
  const kubernetes = createKubernetesApi(transport);
  const store = createMemoryRecordStore();
  const system = createSystem({
    cluster: 'storm',
    scheduler,
    kubernetes: () => kubernetes,
    watch: createClusterWatch(transport),
    records: store,
    dueIndex: store,
    instances: () => ({ terminate: () => Promise.reject(new Error('no cloud')) }) as never,
    audit: { write: () => undefined },
    random: Math.random,
  });
  return await measure({ cluster, kubernetes, system });
}

/** Pods a second, from the first request to the last accepted eviction. */
async function bareLoop({ kubernetes }: Side, { nodes, podsPerNode }: Plan): Promise<number> {
  const pods = (await kubernetes.list(RESOURCES.Pod)) ?? [];
  const start = performance.now();
  const rest = pods.map(({ metadata: { name, uid } }) => ({ name, uid }));
  const worker = async (): Promise<void> => {
    for (let pod = rest.pop(); pod !== undefined; pod = rest.pop()) {
      const ref = { type: RESOURCES.Pod, namespace: 'default', name: pod.name };
      await kubernetes.evict(ref, { preconditions: { uid: pod.uid } });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return (nodes * podsPerNode * 1000) / (performance.now() - start);
}

async function drains(side: Side, { nodes, podsPerNode }: Plan): Promise<{ rate: number; ends: number[] }> {
  const { cluster, system } = side;
  let evicted = 0;
  let last = 0;
  cluster.core.observe(({ verb, resource }) => {
    if (resource.kind !== 'Pod' || verb === 'create') return;
    evicted += 1;
    last = performance.now();
  });
  await started(system);
  const start = performance.now();
  const ends = watchEnds(cluster);
  for (let node = 0; node < nodes; node++) ask(system, node);
  await until(() => ends.size === nodes, `${nodes} drains, ${evicted} writes on pods`);
  system.stop().catch(() => undefined);
  return { rate: (nodes * podsPerNode * 1000) / (last - start), ends: [...ends.values()].map(end => end - start) };
}

async function oneAfterTheOther({ cluster, system }: Side, { singles }: Plan): Promise<number[]> {
  await started(system);
  const ends = watchEnds(cluster);
  const times: number[] = [];
  for (let node = 0; node < singles; node++) {
    const start = performance.now();
    ask(system, node);
    await until(() => ends.has(`node-${node}`), `the drain of node-${node}`);
    times.push((ends.get(`node-${node}`) ?? NaN) - start);
  }
  system.stop().catch(() => undefined);
  return times;
}

async function started(system: System): Promise<void> {
  system.start();
  await until(() => system.forwarder.ready().ready, 'the forwarder');
  // What is published at the start is none of the storm.
  await until(() => system.depth('drain') === 0, 'an empty inbox');
}

const ask = (system: System, node: number): void =>
  system.publish({
    source: 'bench',
    'detail-type': HEALTH_EVENT,
    detail: { id: `e-${node}`, nodeName: `node-${node}`, isFatal: true },
  });

/** When each Node got the state of an ended drain. */
function watchEnds({ core }: EmbeddedCluster): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  core.observe(({ resource, after }) => {
    if (resource.kind !== 'Node' || after?.metadata.labels?.[STATE_LABEL] !== DRAIN_STATES.succeeded) return;
    if (!ends.has(after.metadata.name)) ends.set(after.metadata.name, performance.now());
  });
  return ends;
}

async function until(isSo: () => boolean, what: string): Promise<void> {
  const giveUp = performance.now() + GIVE_UP_MS;
  while (!isSo()) {
    if (performance.now() > giveUp) throw new Error(`waited for ${what} for ${GIVE_UP_MS / 1000} s`);
    await systemClock.sleep(seconds(0.005));
  }
}
