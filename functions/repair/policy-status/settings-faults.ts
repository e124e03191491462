/** Finds settings of a policy that are accepted and probably not what its author meant. Pure. */
import type { PolicyWarning, SelectedPool } from './rule/policy-facts.ts';
import { unwatchedTypes } from '../common/settings.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { parseTerminationBlock } from '../../../shared/contract/termination-schema.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { namedTemplates } from '../../../shared/domain/named-templates.ts';
import { HOOKS_HOLD_NOTHING, idleHooks } from '../../../shared/domain/termination.ts';
import type { PolicySet } from '../../../shared/policies/policy-set.ts';
import { CONFLICT_BLOCKS, conflictsOver } from '../../../shared/policies/policy-conflicts.ts';
import { unstatedReach } from '../../../shared/policies/unstated-reach.ts';

interface PolicySurroundings {
  /** Fault of the policy; undefined: it has none. */
  readonly fault: string | undefined;
  readonly policySet: PolicySet;
  readonly selected: readonly SelectedPool[];
  /** Keys of the ConfigMap `curfew-config`. */
  readonly templates: readonly string[];
}

/** The warnings about the settings of a policy. */
export function warningsOf(
  object: KubernetesObject,
  { fault, policySet, selected, templates }: PolicySurroundings,
): readonly PolicyWarning[] {
  const unwatched = unwatchedTypes(object).map(message => silent('UnknownConditionType', message));
  const conflicts = CONFLICT_BLOCKS.flatMap(block => conflictsOver(block, policySet))
    .filter(({ loser }) => loser.metadata.uid === object.metadata.uid)
    .map(({ message }) => silent('PolicyConflict', message));
  const missing = namedTemplates(object.spec)
    .filter(({ template }) => !templates.includes(template))
    .map(({ template, path }) =>
      silent('NoTemplate', `${path}: ConfigMap curfew/curfew-config has no key ${JSON.stringify(template)}`),
    );
  // A block that is refused is not in force, or not where it says.
  const reach = fault === undefined ? unstatedReach(object.spec ?? {}) : undefined;
  const unstated = reach === undefined ? [] : [silent('ReachNotStated', `${reach}: state both`)];
  const endedByKarpenter = selected
    .filter(each => each.claimsWithKarpenterFinalizer > 0 && each.blocksInForce.includes('termination'))
    .flatMap(({ name }) => name ?? []);
  return [...terminationWarnings(object, endedByKarpenter), ...unwatched, ...conflicts, ...missing, ...unstated];
}

const silent = (reason: string, message: string): PolicyWarning => ({ reason, message, isReported: false });

/**
 * The warnings about the termination block.
 * @param pools pools for which this block is in force, and where NodeClaims carry Karpenter's finalizer
 */
function terminationWarnings({ spec }: KubernetesObject, pools: readonly string[]): readonly PolicyWarning[] {
  const block = parseTerminationBlock(spec?.['termination'] ?? {}, 'spec.termination');
  if (spec?.['termination'] === undefined || !block.ok || pools.length === 0) return [];
  const where = `NodePool ${pools.toSorted().join(', ')}`;
  if (block.value.builtin === 'Replace') {
    const message = `spec.termination.builtin: Replace is not in force in ${where}: NodeClaims there carry karpenter.sh/termination, and Karpenter terminates them; apply what "curfew policies admission" prints (Kubernetes 1.36), and NodeClaims change with their next update`;
    return [{ reason: EVENT_REASONS.replaceNotInForce, message, isReported: true }];
  }
  const idle = idleHooks(block.value.hooks, 'spec.termination.hooks');
  if (idle === undefined) return [];
  const message = `${idle} ${HOOKS_HOLD_NOTHING} (${where})`;
  return [{ reason: EVENT_REASONS.hooksDoNotHold, message, isReported: true }];
}
