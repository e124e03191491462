/** Everything that `curfew explain` looks at about one node. Live reads only; works on any `KubernetesApi`. */
import { readDisruptionBudget, type DisruptionBudget } from '../pod-disruption-budget.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { DrainLimitsInForce } from '../../shared/domain/drain-limits.ts';
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import { readNode, type NodeView } from '../../shared/domain/node.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import { listPolicies, loadNodePool } from '../../shared/cluster/node-pool.ts';
import { findNodeClaims } from '../../shared/cluster/owner.ts';
import { drainLimitsFor } from '../../functions/drain/explain.ts';
import {
  effectiveTermination,
  takesBackDeadline,
  TERMINATING_CONDITION,
  type EffectiveTermination,
} from '../../functions/finalizer/explain.ts';
import { DEFAULT_TERMINATION_FINALIZER, TERMINATION_FINALIZER_ANNOTATION } from '../../shared/domain/termination.ts';
import { loadPodsOnNode } from '../../shared/cluster/protected-pods.ts';
import { effectiveProtection, type EffectiveProtection } from '../../shared/policies/protection-settings.ts';
import { loadPool } from '../../shared/cluster/known-pool.ts';
import type { Cluster } from '../cluster.ts';
import { loadSettingsInForce, unreadFor, type UnreadPolicy } from './settings-in-force.ts';
import { drainsHeld } from './modes.ts';
import { readTermination, type KnownTermination } from './termination-record.ts';
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import { objectOf, objectsOf } from '../../shared/ports/read-answer.ts';

export interface NodeObservation {
  readonly node: NodeView;
  readonly nodePool: string | undefined;
  readonly pods: readonly PodView[];
  readonly protection: EffectiveProtection;
  /** The policies whose protection cannot be read as it is. */
  readonly unreadProtection?: readonly UnreadPolicy[];
  /** The reason why no drain begins: the policy whose mode is Observe. */
  readonly drainsHeld?: string | undefined;
  /** The number of drains at once, and the time that each may take. */
  readonly drainLimits?: DrainLimitsInForce;
  readonly budgets: readonly DisruptionBudget[];
  /** One as a rule; none for nodes that Karpenter does not manage. */
  readonly nodeClaims: readonly NodeClaimView[];
  /** Settings of terminations in its pool. */
  readonly termination?: EffectiveTermination;
  /** The record of its termination, from Curfew's table; undefined: it is not read, or there is none. */
  readonly stored?: KnownTermination | undefined;
  /** The NodePool or policy that set the deadline in that record sets none any more. */
  readonly isDeadlineTakenBack?: boolean;
}

/** Progress of its termination, as the finalizer function has written it; undefined: none is under way. */
export const progressOf = ({ conditions }: NodeView): NodeView['conditions'][number] | undefined =>
  conditions.find(({ type, status }) => type === TERMINATING_CONDITION && status === 'True');

/** Whether the termination is not carried out, for its policy only observes. What a brake alone holds goes on once it has begun. */
export const isOnlyObserved = (
  { mode, isBraked }: Pick<ReturnType<typeof effectiveTermination>, 'mode' | 'isBraked'>,
  node: NodeView,
): boolean => mode === 'Observe' && !(isBraked && progressOf(node) !== undefined);

/** Whether a termination is under way that neither NodePool nor policy asks for any more. */
export const isLeft = ({ kind }: Pick<EffectiveTermination, 'kind'>, node: NodeView): boolean =>
  kind === 'none' && progressOf(node) !== undefined;

/** Whether a finalizer of Curfew keeps one of these objects: by the settings, by its mark, or by default. */
export const isHeldByCurfew = (
  termination: EffectiveTermination,
  objects: readonly (Pick<NodeView, 'finalizers' | 'annotations'> | undefined)[],
): boolean =>
  objects.some(object =>
    object?.finalizers?.some(
      name =>
        name === DEFAULT_TERMINATION_FINALIZER ||
        name === object.annotations[TERMINATION_FINALIZER_ANNOTATION] ||
        (termination.kind === 'custom' && name === termination.settings.finalizerName),
    ),
  );

/** Undefined when there is no such node. */
export async function observeNode(
  { kubernetes, records }: Pick<Cluster, 'kubernetes' | 'records'>,
  name: string,
): Promise<NodeObservation | undefined> {
  const deps = { kubernetes };
  const object = objectOf(await kubernetes.get({ type: RESOURCES.Node, name }), { ifNotServed: 'throw' });
  if (object === undefined) return undefined;
  const node = readNode(object);
  const nodePool = nodePoolOf(node);
  const [pods, budgets, nodeClaims, pool, lastKnownPool, policies] = await Promise.all([
    loadPodsOnNode(deps, name),
    kubernetes.list(RESOURCES.PodDisruptionBudget),
    findNodeClaims(deps, node, nodePool),
    loadNodePool(deps, nodePool),
    loadPool({ kubernetes, ...(records && { records }) }, nodePool),
    listPolicies(deps),
  ]);
  const inForce = await loadSettingsInForce(records, policies);
  const termination = effectiveTermination(pool, inForce.termination.set);
  const stored = records && (await readTermination(records, { node, nodeClaims }));
  return {
    node,
    nodePool,
    pods,
    protection: effectiveProtection(lastKnownPool, inForce.protection.set),
    unreadProtection: unreadFor(lastKnownPool, inForce.protection),
    drainsHeld: drainsHeld(pool, inForce.drain.set),
    drainLimits: drainLimitsFor(pool, inForce.drain.set),
    budgets: objectsOf(budgets, { ifNotServed: 'throw' })
      .map(readDisruptionBudget)
      .filter(budget => budget !== undefined),
    nodeClaims,
    termination,
    stored,
    isDeadlineTakenBack:
      stored?.deadline !== undefined && takesBackDeadline(stored.deadline, pool, inForce.termination.set),
  };
}
