/** Deletes one object by its UID, and with it what it owns. */
import type { ObjectRef } from '../domain/kubernetes-object.ts';
import { RetryableError } from '../errors.ts';
import type { KubernetesApi } from '../ports/kubernetes-api.ts';
import { inOtherVersion } from './other-versions.ts';
import { objectOf } from '../ports/read-answer.ts';

/**
 * Done when it is being deleted, is gone, or another one has its name. One whose version is not served is not gone. Throws `RetryableError` when the API server reports a conflict and
 * the object is still there: a write came in between.
 */
export async function deleteExactly(kubernetes: Api, ref: ObjectRef, uid: string): Promise<void> {
  if (await deleteAs(kubernetes, ref, uid)) return;
  const other = await inOtherVersion(kubernetes, ref);
  if (other !== undefined) await deleteAs(kubernetes, other, uid);
}

type Api = Pick<KubernetesApi, 'get' | 'delete' | 'versionsOf'>;

/** Whether anything was found. */
async function deleteAs(kubernetes: Api, ref: ObjectRef, uid: string): Promise<boolean> {
  const outcome = await kubernetes.delete(ref, { preconditions: { uid }, propagationPolicy: 'Background' });
  if (outcome.kind !== 'conflict') return outcome.kind === 'ok';
  const object = objectOf(await kubernetes.get(ref), { notServed: 'notKnown' });
  if (object?.metadata.uid !== uid || object.metadata.deletionTimestamp !== undefined) return true;
  throw new RetryableError(`deleting ${ref.type.resource} ${ref.name}: ${outcome.message}`, { reason: 'Conflict' });
}
