/** Deletes one object by its UID, and with it what it owns. */
import type { ObjectRef } from '../domain/kubernetes-object.ts';
import { throwConflict } from '../ports/exact-change.ts';
import type { KubernetesApi } from '../ports/kubernetes-api.ts';
import { inOtherVersion } from './follow.ts';
import { objectOf, OutOfSight } from '../ports/read-answer.ts';

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
  const options = { preconditions: { uid }, propagationPolicy: 'Background' } as const;
  const outcome = await kubernetes.delete(ref, options).catch(unlessOutOfSight);
  if (outcome === undefined) return false;
  if (outcome.kind !== 'conflict') return outcome.kind === 'ok';
  const object = objectOf(await kubernetes.get(ref), { notServed: 'notKnown' });
  if (object?.metadata.uid !== uid || object.metadata.deletionTimestamp !== undefined) return true;
  throwConflict(`deleting ${ref.type.resource} ${ref.name}`, outcome);
  return true;
}

/** Looks for it in another version. If no version is served, its definition is gone, and all objects of the kind with it. */
function unlessOutOfSight(error: unknown): undefined {
  if (!(error instanceof OutOfSight)) throw error;
}
