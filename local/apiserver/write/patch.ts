/** PATCH: the patch is computed on the stored object, and the result goes the way of an update. */
import type { JsonObject } from '../json.ts';
import { shareObject, textAt } from '../json.ts';
import { metadataOf } from '../objects.ts';
import { jsonPatch } from '../patch/json.ts';
import { mergePatch } from '../patch/merge.ts';
import { strategicMergePatch } from '../patch/strategic.ts';
import type { ServerContext, Target } from '../server-context.ts';
import { existing } from '../server-context.ts';
import { badRequest, unsupportedMediaType } from '../status-errors.ts';
import type { Patch, WriteOptions } from '../types.ts';
import type { Request } from './commit.ts';
import { decodeBody } from './create.ts';
import { replace } from './update.ts';

/** @throws ApiStatusError 400, 404, 409, 415, 422 as kube-apiserver would */
export function patchObject(server: ServerContext, target: Target, patch: Patch, options: WriteOptions): JsonObject {
  const { subresource } = options;
  const request: Request = {
    verb: 'patch',
    options,
    body: patch.body,
    ...(subresource === undefined ? {} : { subresource }),
  };
  if (patch.type === 'strategic' && !target.served.rules.strategicMerge) {
    throw unsupportedMediaType(
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    );
  }
  const current = existing(target);
  const patched = patchedState(target, current, patch);
  if (patched !== current) checkIdentity(target, patched);
  return replace(server, target, { current, proposed: patched, request });
}

function patchedState({ served }: Target, current: JsonObject, patch: Patch): JsonObject {
  switch (patch.type) {
    case 'merge':
      return mergePatch(current, patch.body);
    case 'json':
      return shareObject(current, jsonPatch(current, patch.body));
    case 'strategic':
      return shareObject(current, strategicMergePatch(current, patch.body, served.rules.mergeSchema));
    case 'apply':
      throw badRequest('apply is not served yet');
    default:
      return patch satisfies never;
  }
}

/** A patch cannot make an object another one. */
function checkIdentity({ served, name, namespace }: Target, patched: JsonObject): void {
  decodeBody(served, patched);
  const metadata = metadataOf(patched);
  const newName = textAt(metadata, 'name') ?? '';
  if (newName !== name) {
    throw badRequest(`the name of the object (${newName}) does not match the name on the URL (${name})`);
  }
  if (served.info.namespaced && (textAt(metadata, 'namespace') ?? namespace) !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}
