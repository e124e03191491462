/** What serves a kind, by the API's discovery documents; every authenticated user may read them. */
import { isJsonObject } from '../../domain/json.ts';
import type { GroupKind, GroupVersionKind, ResourceType } from '../../domain/kubernetes-object.ts';
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
  const path = collectionPath({ group, version, resource: '' }).replace(/\/$/, '');
  const resources = listIn(await readDocument(transport, path, doing, signal), 'resources');
  // Subresources are listed too, as `widgets/status`.
  const found = resources.find(
    each =>
      isJsonObject(each) && each['kind'] === kind && typeof each['name'] === 'string' && !each['name'].includes('/'),
  );
  const name = isJsonObject(found) ? found['name'] : undefined;
  return typeof name === 'string' ? { group, version, resource: name } : undefined;
}

/** The versions in which the kind is served, as the group prefers them. Throws as a list does. */
export async function versionsOf(
  transport: Transport,
  { group, kind }: GroupKind,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const doing = `looking for the versions of ${kind} in ${group === '' ? 'the core group' : group}`;
  const listed = listIn(await readDocument(transport, groupPath(group), doing, signal), 'versions');
  // The core group names its versions alone.
  const versions = listed
    .map(each => (isJsonObject(each) ? each['version'] : each))
    .filter(each => typeof each === 'string');
  const served: string[] = [];
  for (const version of versions) {
    if ((await resolveKind(transport, { group, version, kind }, signal)) !== undefined) served.push(version);
  }
  return served;
}

/** Undefined where the API server says that there is none. */
async function readDocument(transport: Transport, path: string, doing: string, signal?: AbortSignal): Promise<unknown> {
  const response = await transport.request({ method: 'GET', path, doing, ...(signal && { signal }) });
  if (response.status === 200) return parseJson(response.body, doing);
  const failure = parseApiFailure(response.status, response.body, response.retryAfter);
  if (isNotFound(failure)) return undefined;
  throw toThrown(failure, { doing, write: false });
}

function listIn(document: unknown, key: string): readonly unknown[] {
  const list = isJsonObject(document) ? document[key] : undefined;
  return Array.isArray(list) ? list : [];
}
