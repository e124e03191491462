/**
 * Checks whether `builtin: Replace` is in force for a NodeClaim: the admission policy that the command line prints turns Karpenter's finalizer
 * into ours in every write. A NodeClaim that still carries Karpenter's is written once without a change; if it comes back with it, there is no
 * such admission policy for it, and Karpenter terminates it. The condition on the NodeClaim remembers what was said.
 */
import type { FinalizerDeps } from '../common/context.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { readConditions } from '../../../shared/domain/node.ts';
import { KARPENTER_FINALIZER } from '../../../shared/domain/termination.ts';
import { isKarpenters, isLive } from './rule/objects.ts';
import type { ObservedTermination } from './observe.ts';
import { setConditions } from '../common/set-condition.ts';
import { changeExactly } from '../../../shared/ports/exact-change.ts';
import { orRejected } from '../../../shared/ports/read-answer.ts';

/** Condition on a NodeClaim: Karpenter's finalizer is still on it although a policy says `builtin: Replace`. */
const CONDITION = 'curfew.dev/ReplaceNotInForce';

/** Whether the NodeClaim says so. */
export const isReplaceReported = ({ status }: KubernetesObject): boolean =>
  readConditions(status?.['conditions']).some(({ type }) => type === CONDITION);

/** Reports it once on the NodeClaim, and takes that back when it is no longer so. A refusal by the API server delays nothing here. */
export async function checkReplace(
  { deps, reporter }: { readonly deps: FinalizerDeps; readonly reporter: Reporter },
  { claim, termination, now }: ObservedTermination,
): Promise<void> {
  if (claim === undefined || !isLive(claim)) return;
  const ref = { type: RESOURCES.NodeClaim, name: claim.metadata.name };
  const isReported = isReplaceReported(claim);
  const isAsked =
    termination.kind === 'custom' &&
    termination.mode === 'Enforce' &&
    termination.settings.builtin === 'Replace' &&
    isKarpenters(claim);
  if (!isAsked) {
    const absent = { conditions: [{ type: CONDITION, status: 'absent' as const }], now };
    if (isReported) await setConditions(deps, ref, claim, absent);
    return;
  }
  if (isReported) return;
  const outcome = await orRejected(changeExactly(deps.kubernetes, ref, claim.metadata, {}));
  if (outcome.kind !== 'ok' || !isKarpenters(outcome.object)) return;
  const message = `builtin: Replace is not in force here: ${KARPENTER_FINALIZER} is still on it, and Karpenter terminates it; "curfew policies admission" prints what replaces it`;
  const reason = EVENT_REASONS.replaceNotInForce;
  // Said first: a run that dies in between says it again (I9).
  await reporter.report({ about: claim, decision: 'warn', reason, message, event: { type: 'Warning' } });
  const condition = { type: CONDITION, status: 'True', reason, message } as const;
  await setConditions(deps, ref, outcome.object, { conditions: [condition], now });
}
