/** Deletes one object by its UID, and with it what it owns. */
import type { ObjectRef } from '../domain/kubernetes-object.ts';
import { throwConflict } from '../ports/exact-change.ts';
import type { KubernetesApi } from '../ports/kubernetes-api.ts';
import { inOtherVersion } from './follow.ts';
import { objectOf, KindNotServed } from '../ports/read-answer.ts';

/** `notServed`: its kind is served in no version, so that nobody can tell whether it is there. */
export type DeletionAnswer = 'done' | 'notServed';

/**
 * Deletes it. Done when it is being deleted, is gone, or another one has its name. One whose version is not served is not gone.
 *
 * @throws {RetryableError} when the API server reports a conflict and the object is still there: a write came in between
 */
export async function deleteExactly(kubernetes: Api, ref: ObjectRef, uid: string): Promise<DeletionAnswer> {
  const answer = await deleteAs(kubernetes, ref, uid);
  if (answer === 'found') return 'done';
  const other = await inOtherVersion(kubernetes, ref);
  const last = other === undefined ? answer : await deleteAs(kubernetes, other, uid);
  return last === 'notServed' ? last : 'done';
}

type Api = Pick<KubernetesApi, 'get' | 'delete' | 'versionsOf'>;

async function deleteAs(kubernetes: Api, ref: ObjectRef, uid: string): Promise<'found' | 'notFound' | 'notServed'> {
  const options = { preconditions: { uid }, propagationPolicy: 'Background' } as const;
  const outcome = await kubernetes.delete(ref, options).catch(unlessNotServed);
  if (outcome === undefined) return 'notServed';
  if (outcome.kind !== 'conflict') return outcome.kind === 'ok' ? 'found' : 'notFound';
  const object = objectOf(await kubernetes.get(ref), { ifNotServed: 'throw' });
  if (object?.metadata.uid !== uid || object.metadata.deletionTimestamp !== undefined) return 'found';
  throwConflict(`deleting ${ref.type.resource} ${ref.name}`, outcome);
  return 'found';
}

/** Looks for it in another version. */
function unlessNotServed(error: unknown): undefined {
  if (!(error instanceof KindNotServed)) throw error;
}
