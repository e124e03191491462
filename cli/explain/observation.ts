/** Everything that `curfew explain` looks at about one node. Live reads only; works on any `KubernetesApi`. */
import { readDisruptionBudget, type DisruptionBudget } from '../pod-disruption-budget.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { DrainLimitsInForce } from '../../shared/domain/drain-limits.ts';
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import { readNode, type NodeView } from '../../shared/domain/node.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import { loadNodePool, loadPolicies } from '../../shared/cluster/node-pool.ts';
import { findNodeClaims } from '../../shared/cluster/owner.ts';
import { drainLimitsFor } from '../../functions/drain/explain.ts';
import { effectiveTermination, TERMINATING_CONDITION } from '../../functions/finalizer/explain.ts';
import type { Deadline } from '../../shared/domain/termination.ts';
import type { DurationMs } from '../../shared/domain/time.ts';
import { loadPodsOnNode, loadProtection } from '../../shared/cluster/protected-pods.ts';
import type { EffectiveProtection } from '../../shared/policies/protection-settings.ts';
import { drainsHeld } from './modes.ts';
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { objectOf, objectsOf } from '../../shared/ports/read-answer.ts';

export interface NodeObservation {
  readonly node: NodeView;
  readonly nodePool: string | undefined;
  readonly pods: readonly PodView[];
  readonly protection: EffectiveProtection;
  /** The reason why no drain begins: the policy whose mode is Observe. */
  readonly drainsHeld?: string | undefined;
  /** The number of drains at once, and the time that each may take. */
  readonly drainLimits?: DrainLimitsInForce;
  readonly budgets: readonly DisruptionBudget[];
  /** One as a rule; none for nodes that Karpenter does not manage. */
  readonly nodeClaims: readonly NodeClaimView[];
  /**
   * Grace period that the NodePool or a policy gives a termination which Curfew carries out; a NodeClaim's own comes
   * before it.
   */
  readonly terminationGracePeriod?: DurationMs | undefined;
  /** A termination is under way that neither NodePool nor policy asks for any more. */
  readonly isLeft?: boolean;
  /** The record of a termination under way, from Curfew's table; undefined: it is not read, or there is none. */
  readonly stored?: { readonly deadline: Deadline | undefined } | undefined;
}

/** Progress of its termination, as the finalizer function has written it; undefined: none is under way. */
export const progressOf = ({ conditions }: NodeView): NodeView['conditions'][number] | undefined =>
  conditions.find(({ type, status }) => type === TERMINATING_CONDITION && status === 'True');

/** Whether the termination is not carried out, for its policy only observes. What a brake alone holds goes on once it has begun. */
export const isOnlyObserved = (
  { mode, isBraked }: Pick<ReturnType<typeof effectiveTermination>, 'mode' | 'isBraked'>,
  node: NodeView,
): boolean => mode === 'Observe' && !(isBraked && progressOf(node) !== undefined);

/** Undefined when there is no such node. */
export async function observeNode(kubernetes: KubernetesApi, name: string): Promise<NodeObservation | undefined> {
  const deps = { kubernetes };
  const object = objectOf(await kubernetes.get({ type: RESOURCES.Node, name }), { notServed: 'notKnown' });
  if (object === undefined) return undefined;
  const node = readNode(object);
  const nodePool = nodePoolOf(node);
  const [pods, protection, budgets, nodeClaims, pool, policies] = await Promise.all([
    loadPodsOnNode(deps, name),
    loadProtection(deps, object),
    kubernetes.list(RESOURCES.PodDisruptionBudget),
    findNodeClaims(deps, node, nodePool),
    loadNodePool(deps, nodePool),
    loadPolicies(deps),
  ]);
  const termination = effectiveTermination(pool, policies);
  return {
    node,
    nodePool,
    pods,
    protection,
    drainsHeld: drainsHeld(pool, policies),
    drainLimits: drainLimitsFor(pool, policies),
    budgets: objectsOf(budgets, { notServed: 'notKnown' })
      .map(readDisruptionBudget)
      .filter(budget => budget !== undefined),
    nodeClaims,
    isLeft: progressOf(node) !== undefined && termination.kind === 'none',
    terminationGracePeriod:
      termination.kind === 'custom' && !isOnlyObserved(termination, node)
        ? termination.settings.gracePeriod?.period
        : undefined,
  };
}
