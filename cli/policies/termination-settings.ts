/**
 * Finds the finalizer that the NodeClaims and Nodes of each NodePool carry, as the finalizer function will decide it.
 */
import { effectiveTermination } from '../../functions/finalizer/explain.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { readPolicies } from '../../shared/policies/policy-set.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { objectsOf } from '../../shared/ports/read-answer.ts';

/** The finalizers that one pool asks for; an empty text is none of ours. */
export interface PoolFinalizers {
  readonly nodeClaims: string;
  readonly nodes: string;
  /** Karpenter's own finalizer gives way to ours. */
  readonly replaces: boolean;
}

export interface TerminationTable {
  readonly pools: ReadonlyMap<string, PoolFinalizers>;
  /** Finalizers of every pool that is not in `pools`, and of nodes without a pool. */
  readonly others: PoolFinalizers;
}

export const NO_FINALIZERS: PoolFinalizers = { nodeClaims: '', nodes: '', replaces: false };

export type TableResult =
  | { readonly kind: 'table'; readonly table: TerminationTable }
  /** Something cannot be read: nothing is put on by a guess (I6). */
  | { readonly kind: 'invalid'; readonly messages: readonly string[] };

/** @param objects NodePools and NodeLifecyclePolicies; what else there is is passed over */
export function terminationTable(objects: readonly KubernetesObject[]): TableResult {
  const policies = readPolicies(objects.filter(({ kind }) => kind === 'NodeLifecyclePolicy'));
  const pools = objects.filter(({ kind }) => kind === 'NodePool');
  const messages = new Set(
    policies.faults.map(({ object, message }) => `${object.kind} ${object.metadata.name}: ${message}`),
  );
  const settle = (pool: KubernetesObject | undefined): PoolFinalizers => {
    const effective = effectiveTermination(pool, policies);
    if (effective.kind === 'invalid') messages.add(effective.message);
    // Under Observe nothing is put on anything.
    if (effective.kind !== 'custom' || effective.mode === 'Observe') return NO_FINALIZERS;
    const { finalizerName, scope, builtin } = effective.settings;
    return {
      nodeClaims: scope === 'NodeClaimAndNode' ? finalizerName : '',
      nodes: scope === 'None' ? '' : finalizerName,
      replaces: builtin === 'Replace',
    };
  };
  const table: TerminationTable = {
    pools: new Map(
      pools.map(pool => [pool.metadata.name, settle(pool)] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ),
    others: settle(undefined),
  };
  return messages.size > 0 ? { kind: 'invalid', messages: [...messages] } : { kind: 'table', table };
}

/** Reads the objects from which the table of a cluster is made: its NodePools and NodeLifecyclePolicies. */
export async function poolsAndPolicies(kubernetes: Pick<KubernetesApi, 'list'>): Promise<readonly KubernetesObject[]> {
  const pools = objectsOf(await kubernetes.list(RESOURCES.NodePool), { ifNotServed: 'empty' });
  const policies = objectsOf(await kubernetes.list(RESOURCES.NodeLifecyclePolicy), { ifNotServed: 'empty' });
  // The items of a list need not name their kind.
  return [
    ...pools.map(pool => ({ ...pool, kind: 'NodePool' })),
    ...policies.map(policy => ({ ...policy, kind: 'NodeLifecyclePolicy' })),
  ];
}
