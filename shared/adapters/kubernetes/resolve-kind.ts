/** The resource that serves a kind, by the API's discovery documents; every authenticated user may read them. */
import { isJsonObject } from '../../domain/json.ts';
import type { GroupVersionKind, ResourceType } from '../../domain/kubernetes-object.ts';
import { isNotFound, parseApiFailure } from './api-failure.ts';
import { toThrown } from './errors.ts';
import { parseJson } from './objects.ts';
import { collectionPath } from './paths.ts';
import type { Transport } from './transport.ts';

/** Undefined where the group, the version or the kind is not served. Throws as a list does. */
export async function resolveKind(
  transport: Transport,
  { group, version, kind }: GroupVersionKind,
  signal?: AbortSignal,
): Promise<ResourceType | undefined> {
  const doing = `looking for the resource of ${kind} in ${group === '' ? version : `${group}/${version}`}`;
  const path = collectionPath({ group, version, resource: '' }).replace(/\/$/, '');
  const response = await transport.request({ method: 'GET', path, doing, ...(signal && { signal }) });
  if (response.status !== 200) {
    const failure = parseApiFailure(response.status, response.body, response.retryAfter);
    if (isNotFound(failure)) return undefined;
    throw toThrown(failure, { doing, write: false });
  }
  const answer = parseJson(response.body, doing);
  const resources =
    isJsonObject(answer) && Array.isArray(answer['resources']) ? (answer['resources'] as unknown[]) : [];
  // Subresources are listed too, as `widgets/status`.
  const found = resources.find(
    each =>
      isJsonObject(each) && each['kind'] === kind && typeof each['name'] === 'string' && !each['name'].includes('/'),
  );
  const name = isJsonObject(found) ? found['name'] : undefined;
  return typeof name === 'string' ? { group, version, resource: name } : undefined;
}
