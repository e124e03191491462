/**
 * Looks for a custom resource of ours. Where the version in which it is known is not served and another one is, an API server answers as if it
 * were gone: it is the same object in each version. An annotation on it says what it was made for.
 */
import { ANNOTATIONS } from '../contract/names.ts';
import type { KubernetesObject, ObjectRef } from '../domain/kubernetes-object.ts';
import type { KubernetesApi } from '../ports/kubernetes-api.ts';

/**
 * Other versions in which an object may be seen that a call did not find; none if its own version is served, or nothing
 * of its kind is.
 */
async function otherVersionsOf(
  kubernetes: Pick<KubernetesApi, 'versionsOf'>,
  { group, version, resource }: ObjectRef['type'],
): Promise<readonly string[]> {
  const versions = await kubernetes.versionsOf({ group, resource });
  return versions.includes(version) ? [] : versions;
}

/** The object in a version that is served; undefined: there is none. */
export async function inOtherVersion(
  kubernetes: Pick<KubernetesApi, 'versionsOf'>,
  ref: ObjectRef,
): Promise<ObjectRef | undefined> {
  const [version] = await otherVersionsOf(kubernetes, ref.type);
  return version === undefined ? undefined : { ...ref, type: { ...ref.type, version } };
}

export type FoundInAnyVersion =
  /** @property ref the reference that finds it */
  | { readonly kind: 'there'; readonly ref: ObjectRef; readonly object: KubernetesObject }
  | { readonly kind: 'notThere' }
  /** In no version: nobody can tell whether it is there. */
  | { readonly kind: 'notServed' };

/** The object, in whichever version. */
export async function findInAnyVersion(
  kubernetes: Pick<KubernetesApi, 'get' | 'versionsOf'>,
  ref: ObjectRef,
): Promise<FoundInAnyVersion> {
  let answer = await kubernetes.get(ref);
  const other = answer.kind === 'notServed' ? await inOtherVersion(kubernetes, ref) : undefined;
  if (other !== undefined) answer = await kubernetes.get(other);
  const { kind } = answer;
  return kind === 'there' ? { kind, ref: other ?? ref, object: answer.object } : { kind };
}

/** The annotation that says what a custom resource was made for. One of its name without it is somebody else's (I7). */
export interface Mark {
  readonly annotation: string;
  readonly value: string;
  /** The UID of the object that it is made for, where the value does not name one: a name may be used again (I10). */
  readonly subjectUid?: string;
}

/** Whether the object has the mark. One of an earlier version says no UID. */
export function hasMark({ metadata }: KubernetesObject, { annotation, value, subjectUid }: Mark): boolean {
  const { [annotation]: made, [ANNOTATIONS.madeForUid]: madeFor } = metadata.annotations ?? {};
  return made === value && (madeFor === undefined || subjectUid === undefined || madeFor === subjectUid);
}

/** The annotations of the mark. */
export const annotationsOf = ({ annotation, value, subjectUid }: Mark): Readonly<Record<string, string>> => ({
  [annotation]: value,
  ...(subjectUid !== undefined && { [ANNOTATIONS.madeForUid]: subjectUid }),
});

export type FoundResource =
  | { readonly kind: 'present'; readonly object: KubernetesObject; /** Made for this. */ readonly isOurs: boolean }
  | { readonly kind: 'absent' }
  /** Its version is not served; the versions that are. */
  | { readonly kind: 'notServed'; readonly versions: readonly string[] };

/** The state of a custom resource that is looked for. */
export interface KnownResource {
  readonly mark: Mark;
  /** The UID of the object that was made: it is ours also when somebody has removed its mark. */
  readonly uid: string | undefined;
  /** Its kind, if known: the versions are looked up by it. */
  readonly kind?: string;
}

/** The custom resource of this name, in this version. */
export async function lookUpResource(
  kubernetes: Pick<KubernetesApi, 'get' | 'versionsOf'>,
  ref: ObjectRef,
  { mark, uid, kind }: KnownResource,
): Promise<FoundResource> {
  const answer = await kubernetes.get(ref);
  switch (answer.kind) {
    case 'there': {
      const { object } = answer;
      return { kind: 'present', object, isOurs: object.metadata.uid === uid || hasMark(object, mark) };
    }
    case 'notThere':
      return { kind: 'absent' };
    case 'notServed':
      return {
        kind: 'notServed',
        versions: await kubernetes.versionsOf(kind === undefined ? ref.type : { ...ref.type, kind }),
      };
  }
}

/** UID of the one of this name that was made for this, in whichever version; undefined: there is none. */
export async function uidWithMark(
  kubernetes: Pick<KubernetesApi, 'get' | 'versionsOf'>,
  ref: ObjectRef,
  mark: Mark,
): Promise<string | undefined> {
  const found = await findInAnyVersion(kubernetes, ref);
  return found.kind === 'there' && hasMark(found.object, mark) ? found.object.metadata.uid : undefined;
}
