/** PUT: the whole object is replaced. */
import type { KubernetesManifest } from '../kubernetes-object.ts';
import type { JsonObject } from '../json.ts';
import { copyObject, shareObject, textAt } from '../json.ts';
import { metadataOf } from '../objects.ts';
import type { ServerContext, Target } from '../server-context.ts';
import { existing } from '../server-context.ts';
import type { WriteOptions } from '../types.ts';
import type { Request } from './commit.ts';
import { finish } from './commit.ts';
import { createObject } from './create.ts';
import { checkIdentity, decodeBody } from './decode.ts';
import { uidConflict } from './preconditions.ts';
import { replace } from './replace.ts';

/** @throws ApiStatusError 400, 404, 409, 422 as kube-apiserver would */
export function update(
  server: ServerContext,
  target: Target,
  manifest: KubernetesManifest,
  options: WriteOptions,
): JsonObject {
  const { served, namespace, name } = target;
  const { subresource } = options;
  const body = decodeBody(served, copyObject(manifest));
  checkIdentity(target, body);
  const request: Request = {
    verb: 'update',
    options,
    body: manifest,
    ...(subresource === undefined ? {} : { subresource }),
  };
  if (served.rules.createOnUpdate && served.storage.collection.get(namespace, name) === undefined) {
    const uid = textAt(metadataOf(body), 'uid');
    if (uid !== undefined) throw uidConflict(target, uid, '');
    const inNamespace = served.info.namespaced ? { namespace } : {};
    const stored = createObject(server, served, { body, options: { ...options, ...inNamespace } });
    finish(server, target, request, { before: undefined, after: stored });
    return stored;
  }
  const current = existing(target);
  return replace(server, target, { current, proposed: shareObject(current, body), request });
}
