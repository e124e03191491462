/**
 * The deadline that the NodeClaim's own `terminationGracePeriod` sets, written in Karpenter's annotation, where `kubectl describe` and others
 * find it, as Karpenter does. A deadline of NodePool or policy is not written down: it can be edited later, and the annotation would stand above
 * it.
 */
import { KARPENTER } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { toTimestamp } from '../../../shared/domain/time.ts';
import { isRefused } from '../../../shared/lifecycle/refusals.ts';
import { changeExactly } from '../../../shared/ports/exact-change.ts';
import { FROM_NODE_CLAIM } from './rule/deadline.ts';
import type { StepContext } from './context.ts';

const ANNOTATION = KARPENTER.terminationTimestampAnnotation;

/**
 * Writes the deadline, and answers whether the NodeClaim was written, or has changed: the next look starts from there. An annotation that has a
 * value keeps it, whatever it is. Where it cannot be written, the deadline holds without it.
 */
export async function writeDeadline(context: StepContext): Promise<boolean> {
  const { deps, observed, run, deadline, isForced } = context;
  const { claim } = observed;
  if (claim?.metadata.deletionTimestamp === undefined || isForced || deadline?.source !== FROM_NODE_CLAIM) return false;
  const { name, annotations = {} } = claim.metadata;
  if (annotations[ANNOTATION] !== undefined) return false;
  const change = { annotations: { [ANNOTATION]: toTimestamp(deadline.time) } };
  const ref = { type: RESOURCES.NodeClaim, name };
  const outcome = await run.backoff.try(
    { key: 'writeDeadline', stored: context.record().refusals, restsOn: [claim] },
    () => changeExactly(deps.kubernetes, ref, claim.metadata, change),
  );
  return !isRefused(outcome);
}
