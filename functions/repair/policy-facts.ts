/** What the statuses of policies are judged by: the policies as they are in force, and how the pools stand. Live reads. */
import { poolOf } from './rule/node-verdict.ts';
import type { ClusterFacts, PolicyFacts, PoolCounts } from './policy-summary.ts';
import { OWNER, poolCodec, type PoolRecord, poolRecordId } from './record.ts';
import { faultOf, loadInForce } from './settings.ts';
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import { loadCluster } from '../../shared/cluster/owner.ts';
import { CONFIG_MAP, KARPENTER } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import type { LoadedRecord } from '../../shared/lifecycle/record-codec.ts';
import { openRecord } from '../../shared/lifecycle/timed-record.ts';
import type { PolicySet } from '../../shared/policies/policy-set.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { objectOf, objectsOf } from '../../shared/ports/read-answer.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'events' | 'audit' | 'clock'>;

/** The policies of the cluster, each with what its status is judged by. */
export interface ObservedPolicies {
  readonly policies: readonly PolicyFacts[];
  readonly cluster: ClusterFacts;
}

/** undefined: there is no policy. */
export async function observePolicies(deps: Deps): Promise<ObservedPolicies | undefined> {
  const objects = objectsOf(await deps.kubernetes.list(RESOURCES.NodeLifecyclePolicy), { notServed: 'none' });
  if (objects.length === 0) return undefined;
  const { policies: inForce, generations } = await loadInForce(deps, objects);
  const cluster = await loadFacts(deps, inForce);
  const policies = objects.map(object => ({
    object,
    fault: faultOf(object),
    acceptedGeneration: generations.get(object.metadata.uid),
  }));
  return { policies, cluster };
}

async function loadFacts(deps: Deps, inForce: PolicySet): Promise<ClusterFacts> {
  const { namespace, name } = CONFIG_MAP;
  const [config, configMap, pools, { nodes, claims }] = await inParallel([
    loadConfig(OWNER, deps),
    deps.kubernetes.get({ type: RESOURCES.ConfigMap, namespace, name }),
    deps.kubernetes.list(RESOURCES.NodePool),
    loadCluster(deps),
  ]);
  const owners = indexOwners(nodes, claims);
  const byPool = Map.groupBy(nodes, node => poolOf(node, ownerOf(node, owners)));
  const karpenters = Map.groupBy(
    claims.filter(
      claim => claim.deletionTime === undefined && claim.finalizers.includes(KARPENTER.terminationFinalizer),
    ),
    claim => nodePoolOf(claim),
  );
  const factsOf = async (pool: KubernetesObject | undefined): Promise<PoolCounts> => {
    const key = pool?.metadata.name;
    const loaded = await openRecord(deps, poolCodec, poolRecordId(key)).load();
    return {
      pool,
      nodes: byPool.get(key)?.length ?? 0,
      repairs: repairsOf(loaded),
      karpenters: karpenters.get(key)?.length ?? 0,
    };
  };
  const data = objectOf(configMap, { notServed: 'notKnown' })?.['data'];
  return {
    gateOpen: config.featureGates.nodeRepair,
    inForce,
    pools: await inParallel([undefined, ...objectsOf(pools, { notServed: 'notKnown' })].map(factsOf)),
    templates: isJsonObject(data) ? Object.keys(data) : [],
  };
}

function repairsOf(loaded: LoadedRecord<PoolRecord>): PoolCounts['repairs'] {
  switch (loaded.kind) {
    case 'known':
      return loaded.value.counts;
    case 'none':
      return { held: 0, repairing: 0 };
    case 'newer':
      return undefined;
  }
}
