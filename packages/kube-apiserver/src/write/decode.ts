/** What a request body must say, and in which namespace it means. */
import type { JsonObject } from '../json.ts';
import type { ServedResource } from '../resources/resource-rules.ts';
import type { Target } from '../server-context.ts';
import { metadataOf } from '../objects.ts';
import { show, textAt } from '../json.ts';
import { badRequest, invalid, invalidValue } from '../status-errors.ts';

/**
 * The body with `apiVersion` and `kind` of the resource.
 * @throws ApiStatusError 400 when it says that it is something else
 */
export function decodeBody({ apiVersion, info }: ServedResource, body: JsonObject): JsonObject {
  const kind = textAt(body, 'kind') ?? info.kind;
  if (body.apiVersion !== undefined && body.apiVersion !== apiVersion) {
    throw badRequest(
      `the API version in the data (${show(body.apiVersion)}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (kind !== info.kind) {
    if (info.schema === undefined)
      throw badRequest(`${kind} in version "${info.version}" cannot be handled as a ${info.kind}`);
    const causes = invalidValue('kind', kind, [`must be ${info.kind}`]);
    throw invalid({ group: info.group, name: kind }, textAt(metadataOf(body), 'name') ?? '', causes);
  }
  return { ...body, apiVersion, kind };
}

const OTHER_NAMESPACE = 'the namespace of the provided object does not match the namespace sent on the request';

/**
 * The namespace of an object: that of the request, else that of the object. (In kube-apiserver the request always has one; a
 * caller in the same process may leave it to the object, and none at all means `default`.) Cluster-scoped objects have none,
 * whatever they say.
 * @throws ApiStatusError 400 when both are given and differ
 */
export function namespaceFor(
  { info }: ServedResource,
  sent: string | undefined,
  requested: string | undefined,
): string | undefined {
  if (!info.namespaced) return undefined;
  if (sent !== undefined && requested !== undefined && sent !== requested) throw badRequest(OTHER_NAMESPACE);
  return requested ?? sent ?? 'default';
}

/** @throws ApiStatusError 400 when an object is not the one of the request */
export function checkIdentity({ served, name, namespace }: Target, object: JsonObject): void {
  const metadata = metadataOf(object);
  const sent = textAt(metadata, 'name') ?? '';
  if (sent !== name) {
    throw badRequest(`the name of the object (${sent}) does not match the name on the URL (${name})`);
  }
  if (served.info.namespaced && (textAt(metadata, 'namespace') ?? namespace) !== namespace) {
    throw badRequest(OTHER_NAMESPACE);
  }
}
