/** Server-side apply as a request: it creates the object or goes the way of an update. */
import { applyConfiguration } from '../apply/apply.ts';
import type { JsonObject } from '../json.ts';
import { copyObject, shareObject, show, without } from '../json.ts';
import { metadataOf } from '../objects.ts';
import type { ServerContext, Target } from '../server-context.ts';
import { inVersion, resourceOf, rfc3339 } from '../server-context.ts';
import { badRequest, conflict, notFound } from '../status-errors.ts';
import type { Request } from './commit.ts';
import { finish } from './commit.ts';
import { createObject } from './create.ts';
import { checkIdentity } from './decode.ts';
import { replace } from './replace.ts';

/** @throws ApiStatusError 400, 404, 409, 422 as kube-apiserver would */
export function applyObject(
  server: ServerContext,
  target: Target,
  { body, force, request }: { readonly body: JsonObject; readonly force: boolean; readonly request: Request },
): JsonObject {
  const { served, namespace, name } = target;
  const { options } = request;
  const config = decodeConfiguration(target, copyObject(body));
  const stored = served.storage.collection.get(namespace, name);
  if (stored === undefined && options.subresource !== undefined) throw notFound(resourceOf(served), name);
  const live = stored === undefined ? undefined : inVersion(stored, served);
  const now = rfc3339(server.clock.now());
  const applied = applyConfiguration(served, { live, config, force, options, now });
  if (live !== undefined) {
    return replace(server, target, { current: live, proposed: shareObject(live, applied), request, tracked: true });
  }
  const { uid } = metadataOf(config);
  if (uid !== undefined) {
    throw conflict(
      resourceOf(served),
      name,
      `uid mismatch: the provided object specified uid ${show(uid)}, and no existing object was found`,
    );
  }
  const inNamespace = served.info.namespaced ? { namespace } : {};
  const created = createObject(server, served, {
    // There is nothing that could have another version.
    body: { ...applied, metadata: without(metadataOf(applied), 'resourceVersion') },
    options: { ...options, ...inNamespace },
    tracked: true,
  });
  finish(server, target, request, { before: undefined, after: created });
  return created;
}

/** A configuration names its version, its kind and, if at all, the object of the request. */
function decodeConfiguration(target: Target, body: JsonObject): JsonObject {
  const { served, name, namespace } = target;
  const { apiVersion, info } = served;
  if (body.apiVersion !== apiVersion) {
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${show(body.apiVersion)}, expected: ${apiVersion}`,
    );
  }
  if (body.kind !== info.kind) throw badRequest(`Incorrect kind specified in apply patch: ${show(body.kind)}`);
  const metadata = { name, ...metadataOf(body) };
  checkIdentity(target, { metadata });
  return { ...body, metadata: { ...metadata, ...(info.namespaced ? { namespace } : {}) } };
}
