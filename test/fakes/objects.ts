/** Reads of tests, which know what is served. */
import type { KubernetesObject, ObjectRef, ResourceType } from '../../shared/domain/kubernetes-object.ts';
import type { KubernetesApi, ListOptions, ListQuery } from '../../shared/ports/kubernetes-api.ts';
import { objectOf, objectsOf } from '../../shared/ports/read-answer.ts';

/** The object; undefined where there is none of that name. Throws where the kind is not served. */
export const objectAt = async (
  api: Pick<KubernetesApi, 'get'>,
  ref: ObjectRef,
): Promise<KubernetesObject | undefined> => objectOf(await api.get(ref), { ifNotServed: 'throw' });

/** The objects. Throws where the kind is not served. */
export const objectsIn = async (
  api: Pick<KubernetesApi, 'list'>,
  type: ResourceType,
  query?: ListQuery,
  options?: ListOptions,
): Promise<readonly KubernetesObject[]> => objectsOf(await api.list(type, query, options), { ifNotServed: 'throw' });
