/**
 * The warnings in the status of a policy, about settings that are accepted and probably not what its author meant.
 * Pure.
 */
import type { ClusterFacts, PolicyFacts, PoolCounts } from './policy-facts.ts';
import { unwatchedTypes } from './settings.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { parseTerminationBlock } from '../../shared/contract/termination-schema.ts';
import { kindAndName, type KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { namedTemplates } from '../../shared/domain/named-templates.ts';
import { HOOKS_HOLD_NOTHING, idleHooks } from '../../shared/domain/termination.ts';
import { policiesFor, type PolicySet } from '../../shared/policies/policy-set.ts';
import { CONFLICT_BLOCKS, conflictsOver } from '../../shared/policies/policy-conflicts.ts';
import { unstatedReach } from '../../shared/policies/unstated-reach.ts';

/** A condition without its transition time. */
export interface PolicyCondition {
  readonly type: 'Accepted' | 'Active' | 'Warning';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/**
 * The warnings about settings that are accepted and probably not what their author meant; at the end, which pools the
 * numbers leave out.
 *
 * @param found among the pools that it selects, those that Karpenter terminates, and those whose repairs nobody here
 * counts
 */
export function warningsOf(
  { object, fault }: PolicyFacts,
  { inForce, templates }: ClusterFacts,
  {
    poolsKarpenterTerminates,
    uncounted,
  }: { readonly poolsKarpenterTerminates: readonly string[]; readonly uncounted: readonly PoolCounts[] },
): readonly PolicyCondition[] {
  const unwatched = unwatchedTypes(object).map(message => ({ reason: 'UnknownConditionType', message }));
  const conflicts = CONFLICT_BLOCKS.flatMap(block => conflictsOver(block, inForce))
    .filter(({ loser }) => loser.metadata.uid === object.metadata.uid)
    .map(({ message }) => ({ reason: 'PolicyConflict', message }));
  const missing = namedTemplates(object.spec)
    .filter(({ template }) => !templates.includes(template))
    .map(({ template, path }) => ({
      reason: 'NoTemplate',
      message: `${path}: ConfigMap curfew/curfew-config has no key ${JSON.stringify(template)}`,
    }));
  // A block that is refused is not in force, or not where it says.
  const reach = fault === undefined ? unstatedReach(object.spec ?? {}) : undefined;
  const unstated = reach === undefined ? [] : [{ reason: 'ReachNotStated', message: `${reach}: state both` }];
  const uncountedNames = uncounted.map(({ pool }) =>
    pool === undefined ? 'the nodes without a NodePool' : kindAndName(pool),
  );
  const notCounted =
    uncountedNames.length === 0
      ? []
      : [
          {
            reason: 'NotCounted',
            message: `held and repairing leave out ${uncountedNames.join(', ')}: a newer version counts there`,
          },
        ];
  const all = [
    ...terminationWarnings(object, poolsKarpenterTerminates),
    ...unwatched,
    ...conflicts,
    ...missing,
    ...unstated,
    ...notCounted,
  ];
  const [first] = all;
  if (first === undefined) return [];
  return [
    { type: 'Warning', status: 'True', reason: first.reason, message: all.map(({ message }) => message).join('; ') },
  ];
}

/**
 * Names of the pools for which this very policy states how their nodes end, while NodeClaims there carry Karpenter's
 * finalizer.
 */
export function poolsTerminatedByKarpenter(
  selected: readonly PoolCounts[],
  inForce: PolicySet,
  isOwn: (policy: { readonly object: KubernetesObject }) => boolean,
): readonly string[] {
  return selected.flatMap(({ pool, claimsWithKarpenterFinalizer }) => {
    const policy = policiesFor(pool, inForce).find(({ object }) => object.spec?.['termination'] !== undefined);
    return pool !== undefined && claimsWithKarpenterFinalizer > 0 && policy !== undefined && isOwn(policy)
      ? [pool.metadata.name]
      : [];
  });
}

interface TerminationWarning {
  readonly reason: string;
  readonly message: string;
}

/**
 * The warnings about the termination block.
 * @param pools pools for which this block is in force, and where NodeClaims carry Karpenter's finalizer
 */
function terminationWarnings({ spec }: KubernetesObject, pools: readonly string[]): readonly TerminationWarning[] {
  const block = parseTerminationBlock(spec?.['termination'] ?? {}, 'spec.termination');
  if (spec?.['termination'] === undefined || !block.ok || pools.length === 0) return [];
  const where = `NodePool ${pools.toSorted().join(', ')}`;
  if (block.value.builtin === 'Replace') {
    const message = `spec.termination.builtin: Replace is not in force in ${where}: NodeClaims there carry karpenter.sh/termination, and Karpenter terminates them; apply what "curfew policies admission" prints (Kubernetes 1.36), and NodeClaims change with their next update`;
    return [{ reason: EVENT_REASONS.replaceNotInForce, message }];
  }
  const idle = idleHooks(block.value.hooks, 'spec.termination.hooks');
  if (idle === undefined) return [];
  return [{ reason: EVENT_REASONS.hooksDoNotHold, message: `${idle} ${HOOKS_HOLD_NOTHING} (${where})` }];
}
