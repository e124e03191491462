/** What repair looks at: the rules that hold for a pool, the NodeClaim of a node, the whole cluster for a pass. Always live reads. */
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import { listNodeClaims, listNodes } from '../../shared/cluster/lists.ts';
import { loadNodePool, nodePoolOf } from '../../shared/cluster/node-pool.ts';
import { KARPENTER } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { readNodeClaim, type NodeClaimView } from '../../shared/domain/node-claim.ts';
import { DO_NOT_REPAIR_ANNOTATION, readNode, type NodeView } from '../../shared/domain/node.ts';
import { readPolicies, type PolicySet } from '../../shared/policies/policy-set.ts';
import { effectiveProtection, type EffectiveProtection } from '../../shared/policies/protection-settings.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { RepairRules } from './decide.ts';
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { indexOwners, ownerOf, type Owner } from './owner.ts';
import { withLastAccepted } from './policies/accepted.ts';
import { OWNER } from './record.ts';
import { effectiveRepair } from './settings.ts';

export type ObserveDeps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'events' | 'audit' | 'clock'>;

/** The rules of a pool, and where they come from. */
export interface PoolRules {
  readonly rules: RepairRules;
  readonly pool: KubernetesObject | undefined;
  readonly policies: PolicySet;
}

/** @param pool undefined: the nodes without a NodePool */
export async function loadRules(deps: ObserveDeps, pool: string | undefined): Promise<PoolRules> {
  const [config, nodePool, policies] = await inParallel([
    loadConfig(OWNER, deps),
    loadNodePool(deps, pool),
    loadAcceptedPolicies(deps),
  ]);
  const value = nodePool?.metadata.annotations?.[DO_NOT_REPAIR_ANNOTATION];
  const poolVeto = nodePool && {
    kind: 'NodePool' as const,
    name: nodePool.metadata.name,
    uid: nodePool.metadata.uid,
    value,
  };
  const rules = { ...effectiveRepair(nodePool, policies), gateOpen: config.featureGates.nodeRepair, poolVeto };
  return { rules, pool: nodePool, policies };
}

/** All policies, each as it was last accepted. */
export async function loadAcceptedPolicies(deps: ObserveDeps): Promise<PolicySet> {
  const objects = (await deps.kubernetes.list(RESOURCES.NodeLifecyclePolicy)) ?? [];
  return readPolicies(await withLastAccepted(deps, objects));
}

export function protectionOf({ pool, policies }: PoolRules): EffectiveProtection {
  return effectiveProtection(pool, policies);
}

type Kubernetes = Pick<FunctionDeps, 'kubernetes'>;

export interface ClusterView {
  readonly nodes: readonly NodeView[];
  readonly claims: readonly NodeClaimView[];
}

/** All nodes and all NodeClaims. */
export async function loadCluster(deps: Kubernetes): Promise<ClusterView> {
  const [nodes, claims] = await inParallel([listNodes(deps), listNodeClaims(deps)]);
  return { nodes: nodes.map(readNode), claims: claims.map(readNodeClaim) };
}

/**
 * The NodeClaim of one node by as few reads as possible: the one that is known or owns the node, if it is the right one; else all of
 * the labelled pool; else all. Whether others share its instance only a pass can tell, which looks at all of them anyhow.
 */
export async function findOwner(deps: Kubernetes, node: NodeView, known: string | undefined): Promise<Owner> {
  const { kubernetes } = deps;
  for (const name of new Set([known, node.ownerClaim])) {
    if (name === undefined) continue;
    const object = await kubernetes.get({ type: RESOURCES.NodeClaim, name });
    const owner = ownerAmong(node, object === undefined ? [] : [object]);
    if (owner.kind === 'claim') return owner;
  }
  const pool = nodePoolOf(node);
  if (pool !== undefined && node.providerID !== undefined) {
    const labelSelector = `${KARPENTER.nodePoolLabel}=${pool}`;
    const owner = ownerAmong(node, await listNodeClaims(deps, { labelSelector }));
    if (owner.kind !== 'none') return owner;
  }
  return node.providerID === undefined ? ownerAmong(node, []) : ownerAmong(node, await listNodeClaims(deps));
}

function ownerAmong(node: NodeView, claims: readonly KubernetesObject[]): Owner {
  return ownerOf(node, indexOwners([node], claims.map(readNodeClaim)));
}
