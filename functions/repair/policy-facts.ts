/**
 * Reads the facts by which the statuses of policies are judged: the policies as they are in force, and how the repairs
 * of each pool stand.
 */
import { poolOf } from './rule/node-verdict.ts';
import { OWNER, POOL_CODEC, poolRecordId } from './record.ts';
import type { PoolRecord } from './pool-record.ts';
import { OWN_BLOCKS } from './settings.ts';
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import { lastVersions, withLastGood } from '../../shared/cluster/kept-policies.ts';
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import { loadCluster } from '../../shared/cluster/owner.ts';
import { parseDrainLimits } from '../../shared/contract/drain-limits-schema.ts';
import { CONFIG_MAP, KARPENTER } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { parseTerminationBlock } from '../../shared/contract/termination-schema.ts';
import { objectIn } from '../../shared/domain/json.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import type { LoadedRecord } from '../../shared/lifecycle/record-codec.ts';
import { openRecord } from '../../shared/lifecycle/timed-record.ts';
import { type BlockReader, faultIn } from '../../shared/policies/deciding-policy.ts';
import { type PolicySet, readPolicies } from '../../shared/policies/policy-set.ts';
import { PROTECTION } from '../../shared/policies/protection-settings.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { objectOf, objectsOf } from '../../shared/ports/read-answer.ts';

/** One NodePool, or the nodes without one. */
export interface PoolCounts {
  readonly pool: KubernetesObject | undefined;
  readonly nodes: number;
  /** Counts of its repairs; undefined: a newer version keeps the record of the pool, and counts them. */
  readonly repairs: PoolRecord['counts'] | undefined;
  /** Number of NodeClaims that carry Karpenter's finalizer and are not being deleted. */
  readonly claimsWithKarpenterFinalizer: number;
}

export interface PolicyFacts {
  /** Policy as it is in the cluster. */
  readonly object: KubernetesObject;
  /** Fault for which it cannot be accepted; undefined: it can. */
  readonly fault: string | undefined;
  /** The generation whose repair blocks are in force; undefined: none. */
  readonly acceptedGeneration: number | undefined;
}

export interface ClusterFacts {
  readonly gateOpen: boolean;
  /** Policies, each as it is in force. */
  readonly inForce: PolicySet;
  readonly pools: readonly PoolCounts[];
  /** Keys of the ConfigMap `curfew-config`. */
  readonly templates: readonly string[];
}

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'events' | 'audit' | 'clock'>;

/** The policies of the cluster, each with the facts by which its status is judged. */
export interface ObservedPolicies {
  readonly policies: readonly PolicyFacts[];
  readonly cluster: ClusterFacts;
}

/** Reads the policies and the facts of the cluster; undefined: there is no policy. */
export async function observePolicies(deps: Deps): Promise<ObservedPolicies | undefined> {
  const objects = objectsOf(await deps.kubernetes.list(RESOURCES.NodeLifecyclePolicy), { ifNotServed: 'empty' });
  if (objects.length === 0) return undefined;
  const { policies: inForce, generations } = await loadInForce(deps, objects);
  const cluster = await loadFacts(deps, inForce);
  const policies = objects.map(object => ({
    object,
    fault: faultIn(object, ALL_BLOCKS),
    acceptedGeneration: generations.get(object.metadata.uid),
  }));
  return { policies, cluster };
}

/** All blocks of a policy, those that other functions use included. */
const ALL_BLOCKS: readonly BlockReader[] = [
  ...OWN_BLOCKS.blocks,
  { block: 'drain', parse: parseDrainLimits },
  { block: 'termination', parse: parseTerminationBlock },
  PROTECTION,
];

/** The policies as they are in force, and by UID the generation of each that counts. */
export async function loadInForce(
  deps: Pick<FunctionDeps, 'kubernetes' | 'records'>,
  objects: readonly KubernetesObject[],
): Promise<{ readonly policies: PolicySet; readonly generations: ReadonlyMap<string, number | undefined> }> {
  const versions = await lastVersions(deps, OWNER, OWN_BLOCKS, objects);
  const generations = objects.map(object => {
    const { uid, generation } = object.metadata;
    const isRead = faultIn(object, OWN_BLOCKS.blocks) === undefined;
    return [uid, isRead ? generation : versions.get(uid)?.generation] as const;
  });
  return { policies: readPolicies(withLastGood(objects, versions)), generations: new Map(generations) };
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
  const claimsByPool = Map.groupBy(
    claims.filter(
      claim => claim.deletionTime === undefined && claim.finalizers.includes(KARPENTER.terminationFinalizer),
    ),
    claim => nodePoolOf(claim),
  );
  const factsOf = async (pool: KubernetesObject | undefined): Promise<PoolCounts> => {
    const key = pool?.metadata.name;
    const loaded = await openRecord(deps, POOL_CODEC, poolRecordId(key)).load();
    return {
      pool,
      nodes: byPool.get(key)?.length ?? 0,
      repairs: repairsOf(loaded),
      claimsWithKarpenterFinalizer: claimsByPool.get(key)?.length ?? 0,
    };
  };
  return {
    gateOpen: config.featureGates.nodeRepair,
    inForce,
    pools: await inParallel([undefined, ...objectsOf(pools, { ifNotServed: 'throw' })].map(factsOf)),
    templates: Object.keys(objectIn(objectOf(configMap, { ifNotServed: 'throw' }), 'data')),
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
