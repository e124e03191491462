/** Finds the resource that serves a kind in the API's discovery documents, which every authenticated user may read. */
import { isJsonObject, listIn } from '../../domain/json.ts';
import type { GroupKind, GroupResource, GroupVersionKind, ResourceType } from '../../domain/kubernetes-object.ts';
import { isNotFound, parseApiFailure } from './api-failure.ts';
import { toThrown } from './errors.ts';
import { parseJson } from './objects.ts';
import { collectionPath, groupPath } from './paths.ts';
import type { Transport } from './transport.ts';

/** Undefined where the group, the version or the kind is not served. Throws as a list does. */
export async function resolveKind(
  transport: Transport,
  { group, version, kind }: GroupVersionKind,
  signal?: AbortSignal,
): Promise<ResourceType | undefined> {
  const doing = `looking for the resource of ${kind} in ${group === '' ? version : `${group}/${version}`}`;
  const resources = await readResources(transport, { group, version }, doing, signal);
  const found = resources.find(each => each.kind === kind);
  return found === undefined ? undefined : { group, version, resource: found.resource };
}

/** The versions in which the kind or resource is served, as the group prefers them. Throws as a list does. */
export async function versionsOf(
  transport: Transport,
  what: GroupKind | GroupResource,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const { group } = what;
  const name = 'kind' in what ? what.kind : what.resource;
  const doing = `looking for the versions of ${name} in ${group === '' ? 'the core group' : group}`;
  const listed = listIn(await readDocument(transport, groupPath(group), doing, signal), 'versions');
  // The core group names its versions alone.
  const versions = listed
    .map(each => (isJsonObject(each) ? each['version'] : each))
    .filter(each => typeof each === 'string');
  const served: string[] = [];
  for (const version of versions) {
    const resources = await readResources(transport, { group, version }, doing, signal);
    if (resources.some(each => name === ('kind' in what ? each.kind : each.resource))) served.push(version);
  }
  return served;
}

/** Lists the resources that a version of a group serves; none if it is not served. */
async function readResources(
  transport: Transport,
  type: Pick<ResourceType, 'group' | 'version'>,
  doing: string,
  signal?: AbortSignal,
): Promise<readonly { readonly kind: unknown; readonly resource: string }[]> {
  const path = collectionPath({ ...type, resource: '' }).replace(/\/$/, '');
  const resources = listIn(await readDocument(transport, path, doing, signal), 'resources');
  return resources.flatMap(each => {
    // Subresources are listed too, as `widgets/status`.
    if (!isJsonObject(each) || typeof each['name'] !== 'string' || each['name'].includes('/')) return [];
    return { kind: each['kind'], resource: each['name'] };
  });
}

/** Undefined where the API server says that there is none. */
async function readDocument(transport: Transport, path: string, doing: string, signal?: AbortSignal): Promise<unknown> {
  const response = await transport.request({ method: 'GET', path, doing, ...(signal && { signal }) });
  if (response.status === 200) return parseJson(response.body, doing);
  const failure = parseApiFailure(response.status, response.body, response.retryAfter);
  if (isNotFound(failure)) return undefined;
  throw toThrown(failure, { doing, write: false });
}
