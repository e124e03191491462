/**
 * Objects that are there but out of sight: the version in which they are known is not served, and another one is. An API server answers as
 * if they were gone. They are the same objects in each version.
 */
import type { KubernetesObject, ObjectRef } from '../domain/kubernetes-object.ts';
import type { KubernetesApi } from '../ports/kubernetes-api.ts';
import { objectOf } from '../ports/read-answer.ts';

/** Where an object that a call did not find may be seen instead; none where its own version is served, or nothing of its kind is. */
export async function otherVersionsOf(
  kubernetes: Pick<KubernetesApi, 'versionsOf'>,
  { group, version, resource }: ObjectRef['type'],
): Promise<readonly string[]> {
  const versions = await kubernetes.versionsOf({ group, resource });
  return versions.includes(version) ? [] : versions;
}

/** The same object in a version that is served; undefined: there is none. */
export async function inOtherVersion(
  kubernetes: Pick<KubernetesApi, 'versionsOf'>,
  ref: ObjectRef,
): Promise<ObjectRef | undefined> {
  const [version] = await otherVersionsOf(kubernetes, ref.type);
  return version === undefined ? undefined : { ...ref, type: { ...ref.type, version } };
}

/** The object with the reference that finds it, in whichever version. */
export async function findInAnyVersion(
  kubernetes: Pick<KubernetesApi, 'get' | 'versionsOf'>,
  ref: ObjectRef,
): Promise<{ readonly ref: ObjectRef; readonly object: KubernetesObject } | undefined> {
  const object = objectOf(await kubernetes.get(ref), { notServed: 'none' });
  if (object !== undefined) return { ref, object };
  const other = await inOtherVersion(kubernetes, ref);
  const found = other && objectOf(await kubernetes.get(other), { notServed: 'none' });
  return other && found && { ref: other, object: found };
}
