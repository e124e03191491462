/** One page of a list over HTTP; what functions and the forwarder share. */
import type { KubernetesObject, ResourceType } from '../../domain/kubernetes-object.ts';
import type { ListQuery } from '../../ports/kubernetes-api.ts';
import { parseApiFailure } from './api-failure.ts';
import { toThrown } from './errors.ts';
import { parseJson, parseList } from './objects.ts';
import { collectionPath } from './paths.ts';
import type { Transport } from './transport.ts';

export type ListAnswer =
  | {
      readonly kind: 'page';
      readonly items: readonly KubernetesObject[];
      readonly resourceVersion: string;
      readonly continue?: string;
    }
  /** 404: no such resource, its CRD is missing. (A namespace that does not exist has an empty list.) */
  | { readonly kind: 'notServed' }
  /** 410: the continue token is too old, start again. */
  | { readonly kind: 'expired'; readonly message: string };

export async function listPage(
  transport: Transport,
  type: ResourceType,
  options: { query?: ListQuery; limit: number; continue?: string; signal?: AbortSignal },
): Promise<ListAnswer> {
  const { namespace, labelSelector, fieldSelector } = options.query ?? {};
  const doing = `listing ${type.resource}`;
  const response = await transport.request({
    method: 'GET',
    path: collectionPath(type, namespace, {
      labelSelector,
      fieldSelector,
      limit: options.limit,
      continue: options.continue,
    }),
    doing,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  if (response.status === 200) return { kind: 'page', ...parseList(parseJson(response.body, doing), doing) };
  const failure = parseApiFailure(response.status, response.body, response.retryAfter);
  if (failure.status === 404) return { kind: 'notServed' };
  if (failure.status === 410) return { kind: 'expired', message: failure.message };
  throw toThrown(failure, { doing, write: false });
}
