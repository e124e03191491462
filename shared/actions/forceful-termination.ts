/**
 * Forceful termination of a NodeClaim as Karpenter understands it: the deadline annotation set to a past instant, and the deletion.
 * Both calls carry the UID, so that another NodeClaim of that name is never reached (I10).
 */
import { KARPENTER } from '../contract/names.ts';
import { RESOURCES } from '../contract/resources.ts';
import type { RepairAttempt } from '../domain/repair-record.ts';
import { RetryableError } from '../errors.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';

type Deps = Pick<FunctionDeps, 'kubernetes'>;

const KEY = KARPENTER.terminationTimestampAnnotation;

/** Carries the attempt out. A NodeClaim that is gone by now is as good as deleted; a conflict throws `RetryableError`: look again. */
export async function terminateForcefully(
  { kubernetes }: Deps,
  attempt: RepairAttempt,
  { annotate, deleteNodeClaim }: { readonly annotate: boolean; readonly deleteNodeClaim: boolean },
): Promise<void> {
  const ref = { type: RESOURCES.NodeClaim, name: attempt.nodeClaimName };
  if (annotate) {
    const annotations = { [KEY]: attempt.terminationTimestamp };
    const body = { metadata: { uid: attempt.nodeClaimUid, annotations } };
    const outcome = await kubernetes.patch(ref, { type: 'merge', body });
    if (outcome.kind === 'conflict') throw new RetryableError(`annotating NodeClaim: ${outcome.message}`);
  }
  if (deleteNodeClaim) {
    const outcome = await kubernetes.delete(ref, { preconditions: { uid: attempt.nodeClaimUid } });
    if (outcome.kind === 'conflict') throw new RetryableError(`deleting NodeClaim: ${outcome.message}`);
  }
}

/** I7: takes back the annotation of an attempt that was not carried out, if it is still the one that we wrote. */
export async function withdrawTermination({ kubernetes }: Deps, attempt: RepairAttempt | undefined): Promise<void> {
  if (attempt?.phase !== 'intended') return;
  const ref = { type: RESOURCES.NodeClaim, name: attempt.nodeClaimName };
  const claim = await kubernetes.get(ref);
  if (claim?.metadata.uid !== attempt.nodeClaimUid || claim.metadata.deletionTimestamp !== undefined) return;
  if (claim.metadata.annotations?.[KEY] !== attempt.terminationTimestamp) return;
  const { uid, resourceVersion } = claim.metadata;
  const body = { metadata: { uid, resourceVersion, annotations: { [KEY]: null } } };
  const outcome = await kubernetes.patch(ref, { type: 'merge', body });
  if (outcome.kind === 'conflict') throw new RetryableError(`taking back the annotation: ${outcome.message}`);
}
