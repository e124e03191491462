/** Deletes one object by its UID. */
import type { ObjectRef } from '../domain/kubernetes-object.ts';
import { RetryableError } from '../errors.ts';
import type { KubernetesApi } from '../ports/kubernetes-api.ts';

/**
 * Done when it is being deleted, is gone, or another one has its name. Throws `RetryableError` when the API server reports a conflict and
 * the object is still there: a write came in between.
 */
export async function deleteExactly(
  kubernetes: Pick<KubernetesApi, 'get' | 'delete'>,
  ref: ObjectRef,
  uid: string,
): Promise<void> {
  const outcome = await kubernetes.delete(ref, { preconditions: { uid } });
  if (outcome.kind !== 'conflict') return;
  const object = await kubernetes.get(ref);
  if (object?.metadata.uid !== uid || object.metadata.deletionTimestamp !== undefined) return;
  throw new RetryableError(`deleting ${ref.type.resource} ${ref.name}: ${outcome.message}`, { reason: 'Conflict' });
}
