/**
 * Objects that are there but out of sight: their definition does not serve the version that the rule names, but another one, or none. An API
 * server answers as if they were gone. Nothing of them counts as gone until it can be seen (I1, I6); the rule's condition `Watching` says so.
 */
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { GroupKind, KubernetesObject, ObjectRef, ResourceType } from '../../../shared/domain/kubernetes-object.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';

type Deps = Pick<FunctionDeps, 'kubernetes'>;

/** Asked when nothing is served in the rule's version: whether objects may be there, in another version or in one that is not served. */
export async function isOutOfSight(
  { kubernetes }: Deps,
  { group, kind }: GroupKind,
  { resource }: ResourceType,
): Promise<boolean> {
  if ((await kubernetes.versionsOf({ group, kind })).length > 0) return true;
  const definition = { type: RESOURCES.CustomResourceDefinition, name: `${resource}.${group}` };
  return (await kubernetes.get(definition)) !== undefined;
}

/**
 * An object that a read did not find. One answer of one API server tells a missing object from a missing version, which in a list alone
 * differ: discovery may come from another server, which is behind.
 */
export async function lookForMissing(
  deps: Deps,
  { type, namespace, name }: ObjectRef,
  kind: GroupKind,
): Promise<KubernetesObject | 'hidden' | undefined> {
  const query = { ...(namespace !== undefined && { namespace }), fieldSelector: `metadata.name=${name}` };
  const found = await deps.kubernetes.list(type, query);
  if (found !== undefined) return found[0];
  return (await isOutOfSight(deps, kind, type)) ? 'hidden' : undefined;
}
