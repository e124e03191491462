/** Reads the policies of the cluster as they are in force, and how the repairs of each pool stand. */
import { poolOf } from '../rule/pool-members.ts';
import { OWNER } from '../common/context.ts';
import { OWN_BLOCKS } from '../common/settings.ts';
import type { PolicyStatusDeps } from './context.ts';
import type { PolicyFacts } from './rule/policy-facts.ts';
import { policyInForce, type PoolCounts, selectedPools } from './settings.ts';
import { warningsOf } from './settings-faults.ts';
import { loadConfig } from '../../../shared/cluster/configuration.ts';
import { inParallel } from '../../../shared/cluster/in-parallel.ts';
import { lastVersions, withLastGood } from '../../../shared/cluster/kept-policies.ts';
import { nodePoolOf } from '../../../shared/cluster/node-pool.ts';
import { loadCluster } from '../../../shared/cluster/owner.ts';
import { parseDrainLimits } from '../../../shared/contract/drain-limits-schema.ts';
import { CONFIG_MAP, KARPENTER } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { parseTerminationBlock } from '../../../shared/contract/termination-schema.ts';
import { objectIn } from '../../../shared/domain/json.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { indexOwners, ownerOf } from '../../../shared/domain/node-owner.ts';
import { type BlockReader, faultIn } from '../../../shared/policies/deciding-policy.ts';
import { type PolicySet, readPolicies } from '../../../shared/policies/policy-set.ts';
import { PROTECTION } from '../../../shared/policies/protection-settings.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import { objectOf, objectsOf } from '../../../shared/ports/read-answer.ts';

/** A policy, with the facts by which its status is judged. */
export interface ObservedPolicy extends PolicyFacts {
  readonly object: KubernetesObject;
}

/** The cluster around the policies. */
export interface ClusterFacts {
  readonly gateOpen: boolean;
  /** Policies, each as it is in force. */
  readonly policySet: PolicySet;
  readonly pools: readonly PoolCounts[];
  /** Keys of the ConfigMap `curfew-config`. */
  readonly templates: readonly string[];
}

/** Reads all policies, and the facts by which their statuses are judged. */
export async function observe(deps: PolicyStatusDeps): Promise<readonly ObservedPolicy[]> {
  const objects = objectsOf(await deps.kubernetes.list(RESOURCES.NodeLifecyclePolicy), { ifNotServed: 'empty' });
  if (objects.length === 0) return [];
  const { policies, generations } = await loadInForce(deps, objects);
  const cluster = await loadFacts(deps, policies);
  return objects.map(object =>
    observedPolicy(
      { object, fault: faultIn(object, ALL_BLOCKS), acceptedGeneration: generations.get(object.metadata.uid) },
      cluster,
    ),
  );
}

/** The facts of one policy. */
export function observedPolicy(
  policy: Pick<ObservedPolicy, 'object' | 'fault' | 'acceptedGeneration'>,
  { gateOpen, policySet, pools, templates }: ClusterFacts,
): ObservedPolicy {
  const { object, fault } = policy;
  const selected = selectedPools(object, policySet, pools);
  return {
    ...policy,
    generation: object.metadata.generation,
    statusBefore: object.status,
    gateOpen,
    inForce: policyInForce(object, policySet),
    selected,
    warnings: warningsOf(object, { fault, policySet, selected, templates }),
  };
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

async function loadFacts(deps: PolicyStatusDeps, policySet: PolicySet): Promise<ClusterFacts> {
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
    return {
      pool,
      nodes: byPool.get(key)?.length ?? 0,
      repairs: await deps.repairCountsOf(key),
      claimsWithKarpenterFinalizer: claimsByPool.get(key)?.length ?? 0,
    };
  };
  return {
    gateOpen: config.featureGates.nodeRepair,
    policySet,
    pools: await inParallel([undefined, ...objectsOf(pools, { ifNotServed: 'throw' })].map(factsOf)),
    templates: Object.keys(objectIn(objectOf(configMap, { ifNotServed: 'throw' }), 'data')),
  };
}
