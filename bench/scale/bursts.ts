/** How many passes a burst of changes costs in a pool whose repairs are all blocked: the whole of Curfew in this process, on real time. */
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { createRealScheduler } from '../../runtime/real-scheduler.ts';
import { createSystem } from '../../runtime/system.ts';
import { createClusterWatch } from '../../shared/adapters/kubernetes/cluster-watch.ts';
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { poolRecordId } from '../../functions/repair/record.ts';
import { seconds } from '../../shared/domain/time.ts';
import type { RecordStore } from '../../shared/ports/record-store.ts';
import { createCloud } from '../../simulator/cloud.ts';
import { startPoolCluster, type PoolCluster } from './cluster.ts';
import { POOL } from './objects.ts';
import { isIll } from './pass.ts';

export interface BurstPlan {
  readonly nodes: number;
  readonly ill: number;
  readonly bursts: number;
  /** Nodes that join at once. */
  readonly changes: number;
}

/** A pass more than this long after the last one belongs to no burst any more. */
const REST_MS = 4000;
/** At the start a change of settings is handled too, whose rounds are ten seconds apart. */
const FIRST_REST_MS = 15_000;
/** On a busy machine the events of a burst wait behind others; none of it was handled before the first pass. */
const FIRST_PASS_MAX_MS = 60_000;
const POLL = seconds(0.05);

/** Passes of each burst. @param say says how far the pool is from being at rest */
export async function passesPerBurst(plan: BurstPlan, say: (what: string) => void): Promise<readonly number[]> {
  const { nodes, ill, bursts, changes } = plan;
  await using parts = new AsyncDisposableStack();
  const cluster = await startPoolCluster({ toleration: '10s', maxUnhealthy: '20%' }, () => undefined);
  parts.defer(() => cluster.close());
  for (let index = 0; index < nodes; index += 1) cluster.add(index, isIll(index, nodes, ill) ? 'Unknown' : 'True');
  const passes = new Set<number>();
  const started = startSystem(cluster, passes);
  parts.defer(() => started.close());
  const { system } = started;

  const atRest = async (restMs: number): Promise<void> => {
    let seen = -1;
    let since = performance.now();
    while (performance.now() - since < restMs) {
      if (passes.size !== seen) since = performance.now();
      seen = passes.size;
      say(`${seen} passes`);
      await systemClock.sleep(POLL);
    }
  };
  while (!system.forwarder.ready().ready || passes.size === 0) await systemClock.sleep(POLL);
  await atRest(FIRST_REST_MS);
  const counts: number[] = [];
  for (let burst = 0; burst < bursts; burst += 1) {
    const before = passes.size;
    for (let change = 0; change < changes; change += 1) cluster.add(nodes + burst * changes + change);
    const giveUp = performance.now() + FIRST_PASS_MAX_MS;
    while (passes.size === before) {
      if (performance.now() > giveUp) throw new Error(`no pass followed burst ${burst}`);
      await systemClock.sleep(POLL);
    }
    await atRest(REST_MS);
    counts.push(passes.size - before);
  }
  return counts;
}

function startSystem(cluster: PoolCluster, passes: Set<number>) {
  const transport = createTransport({ server: cluster.url, clock: systemClock, userAgent: 'curfew-bench' });
  const scheduler = createRealScheduler();
  const store = createMemoryRecordStore();
  const kubernetes = createKubernetesApi(transport);
  const records: RecordStore = { ...store, put: noting(store, passes) };
  const system = createSystem({
    cluster: 'bench',
    scheduler,
    kubernetes: () => kubernetes,
    watch: createClusterWatch(transport),
    records,
    dueIndex: store,
    instances: () => createCloud(scheduler).instances(() => undefined),
    audit: { write: () => undefined },
    random: Math.random,
  });
  system.start();
  return {
    system,
    async close() {
      await system.stop();
      scheduler.close();
      transport.close();
    },
  };
}

/** Each pass claims its pool's record with the time at which it begins. */
function noting(store: RecordStore, passes: Set<number>): RecordStore['put'] {
  return async (record, expectedVersion) => {
    const outcome = await store.put(record, expectedVersion);
    const { passTime } = record.state;
    if (record.id === poolRecordId(POOL) && outcome.kind === 'written' && typeof passTime === 'number') {
      passes.add(passTime);
    }
    return outcome;
  };
}
