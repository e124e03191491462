/** URL paths of the Kubernetes API. Every segment and value is percent-encoded: names come from users' objects. */
import type { ObjectRef, ResourceType } from '../../domain/kubernetes-object.ts';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Path of a group's own document. */
export const groupPath = (group: string): string => (group === '' ? '/api' : `/apis/${encodeURIComponent(group)}`);

/** Path of a whole resource, in one namespace where given. */
export function collectionPath(type: ResourceType, namespace?: string, query?: Query): string {
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${groupPath(type.group)}/${encodeURIComponent(type.version)}${scope}/${encodeURIComponent(type.resource)}${queryText(query)}`;
}

/** Path of one object, or of one of its subresources. */
export function objectPath(ref: ObjectRef, subresource?: string): string {
  const tail = subresource === undefined ? '' : `/${encodeURIComponent(subresource)}`;
  return `${collectionPath(ref.type, ref.namespace)}/${encodeURIComponent(ref.name)}${tail}`;
}

function queryText(query: Query = {}): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) text.set(name, String(value));
  return text.size === 0 ? '' : `?${text.toString()}`;
}
