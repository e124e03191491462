/** Since when a node could be repaired (I5), by the cluster as it is. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { CheckContext } from './invariant.ts';
import { annotationOf, dig, instantOf, textOf, TERMINATION_TIMESTAMP } from './reading.ts';
import { countAround, mostRepairs } from './repair-limits.ts';
import { isGateOpen, poolNameOf, repairAnswer } from './repair-oracle.ts';
import { ownershipOf, type Ownership } from './repair-ownership.ts';

/** UIDs of the nodes of a pool whose repair may be under way. */
export type UnderWay = (poolName: string | undefined) => ReadonlySet<string>;

interface ClusterFacts {
  readonly nodes: readonly KubernetesObject[];
  readonly ownership: Ownership;
  readonly everReadable: ReadonlySet<string>;
  readonly gateOpen: boolean;
  readonly policies: readonly KubernetesObject[];
  readonly pools: ReadonlyMap<string, KubernetesObject>;
  /** Nodes whose repair may be under way. */
  readonly busy: readonly KubernetesObject[];
  /** Nodes that are being terminated, by UID. */
  readonly repaired: ReadonlyMap<string, unknown>;
}

/** Karpenter has nothing to do with it. */
const isUnmanaged = (node: KubernetesObject): boolean =>
  poolNameOf(node) === undefined && !(node.metadata.ownerReferences ?? []).some(({ kind }) => kind === 'NodeClaim');

export function factsOf(
  { mirror }: CheckContext,
  everReadable: ReadonlySet<string>,
): Omit<ClusterFacts, 'busy' | 'repaired'> {
  const nodes = [...mirror.all('nodes').values()];
  const configMaps = [...mirror.all('configmaps').values()];
  const config = configMaps.find(
    ({ metadata }) => metadata.namespace === 'curfew' && metadata.name === 'curfew-config',
  );
  return {
    nodes,
    ownership: ownershipOf(nodes, [...mirror.all('nodeclaims').values()]),
    everReadable,
    gateOpen: isGateOpen(config) === true,
    policies: [...mirror.all('nodelifecyclepolicies').values()],
    pools: new Map([...mirror.all('nodepools').values()].map(pool => [pool.metadata.name, pool])),
  };
}

/** Since when the node could be repaired; undefined when it cannot be, or is being terminated forcefully already. */
export function overdueSince(
  node: KubernetesObject,
  facts: ClusterFacts,
  now: number,
  underWay: UnderWay,
): number | undefined {
  if (!facts.gateOpen) return undefined;
  const { nodes, ownership, policies, everReadable } = facts;
  const instance = textOf(dig(node, 'spec', 'providerID'));
  if (instance === undefined || ownership.nodesOf(instance).length > 1) return undefined;
  const [claim, ...others] = ownership.claimsOf(instance);
  if (others.length > 0) return undefined;
  if (claim === undefined && (facts.repaired.has(node.metadata.uid) || !isUnmanaged(node))) return undefined;
  const named = textOf(dig(claim, 'status', 'nodeName'));
  if (named !== undefined && named !== node.metadata.name) return undefined;
  const deadline = claim && instantOf(annotationOf(claim, TERMINATION_TIMESTAMP));
  if (claim?.metadata.deletionTimestamp !== undefined && deadline !== undefined && deadline <= now) return undefined;
  const poolName = claim && poolNameOf(claim);
  const pool = poolName === undefined ? undefined : facts.pools.get(poolName);
  const neighbours = ownership.neighboursIn(poolName);
  const answer = repairAnswer({ now, node, claim, pool, policies, everReadable, neighbours, nodes });
  if (answer.kind !== 'from' || answer.time > now) return undefined;
  const most = mostRepairs(node, pool, policies, nodes);
  const around = countAround(node, facts.busy);
  if (around.zone >= most.zone || around.cluster >= most.cluster) return undefined;
  return answer.budget !== undefined && underWay(poolName).size >= answer.budget ? undefined : answer.time;
}
