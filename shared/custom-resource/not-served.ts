/**
 * Objects that are there but not served: their definition does not serve the version that a rule or record names, but another one, or none. An API
 * server answers as if they were gone. Nothing of them counts as gone until it can be seen (I1, I6).
 */
import { RESOURCES } from '../contract/resources.ts';
import type { GroupKind, GroupResource, KubernetesObject, ResourceType } from '../domain/kubernetes-object.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import { objectOf, type ObjectAnswer } from '../ports/read-answer.ts';

type Deps = Pick<FunctionDeps, 'kubernetes'>;

/** The name of the CustomResourceDefinition of a kind. */
export const definitionNameOf = ({ resource, group }: GroupResource): string => `${resource}.${group}`;

/** Asked when nothing is served in that version: whether objects may be there, in another version or in one that is not served. */
export async function isNotServed(
  { kubernetes }: Deps,
  what: GroupKind | GroupResource,
  { resource }: Pick<ResourceType, 'resource'>,
): Promise<boolean> {
  if ((await kubernetes.versionsOf(what)).length > 0) return true;
  const { group } = what;
  const definition = { type: RESOURCES.CustomResourceDefinition, name: definitionNameOf({ resource, group }) };
  return objectOf(await kubernetes.get(definition), { ifNotServed: 'throw' }) !== undefined;
}

/** Reads the object out of an answer. It is undefined if there is none, or if the cluster has no such kind. */
export async function objectOrNotServed(
  deps: Deps,
  answer: ObjectAnswer,
  kind: GroupKind,
): Promise<KubernetesObject | 'notServed' | undefined> {
  if (answer.kind === 'notServed') return (await isNotServed(deps, kind, answer.type)) ? 'notServed' : undefined;
  return answer.kind === 'there' ? answer.object : undefined;
}
