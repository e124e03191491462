/** PATCH: the patch is computed on the stored object, and the result goes the way of an update. */
import type { JsonObject } from '../json.ts';
import { shareObject } from '../json.ts';
import { jsonPatch } from '../patch/json.ts';
import { mergePatch } from '../patch/merge.ts';
import { strategicMergePatch } from '../patch/strategic.ts';
import type { ServerContext, Target } from '../server-context.ts';
import { existing } from '../server-context.ts';
import { invalid, unsupportedMediaType } from '../status-errors.ts';
import { ApiStatusError } from '../types.ts';
import type { Patch, WriteOptions } from '../types.ts';
import { applyObject } from './apply.ts';
import type { Request } from './commit.ts';
import { checkIdentity, decodeBody } from './decode.ts';
import { replace } from './replace.ts';

/** @throws ApiStatusError 400, 404, 409, 415, 422 as kube-apiserver would */
export function patchObject(server: ServerContext, target: Target, patch: Patch, options: WriteOptions): JsonObject {
  const { subresource } = options;
  const request: Request = {
    verb: 'patch',
    options,
    body: patch.body,
    ...(subresource === undefined ? {} : { subresource }),
  };
  if (patch.type === 'apply') {
    return applyObject(server, target, { body: patch.body, force: patch.force === true, request });
  }
  if (patch.type === 'strategic' && !target.served.rules.strategicMerge) {
    throw unsupportedMediaType(
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    );
  }
  const current = existing(target);
  const patched = patchedState(target, current, patch);
  if (patched !== current) checkIdentity(target, patched);
  try {
    if (patched !== current) decodeBody(target.served, patched);
    return replace(server, target, { current, proposed: patched, request });
  } catch (error) {
    throw asPatchError(error, patched);
  }
}

function patchedState(
  { served }: Target,
  current: JsonObject,
  patch: Exclude<Patch, { readonly type: 'apply' }>,
): JsonObject {
  switch (patch.type) {
    case 'merge':
      return mergePatch(current, patch.body);
    case 'json':
      return shareObject(current, jsonPatch(current, patch.body));
    case 'strategic':
      return shareObject(current, strategicMergePatch(current, patch.body, served.rules.mergeSchema));
  }
}

/** What cannot be decoded after a patch is the patch's fault: 422 where the same body in a PUT is 400. */
function asPatchError(error: unknown, patched: JsonObject): unknown {
  if (!(error instanceof ApiStatusError) || error.status.code !== 400) return error;
  const message = `Invalid value: ${JSON.stringify(JSON.stringify(patched))}: ${error.message}`;
  return invalid({ group: '', name: '' }, '', [{ reason: 'FieldValueInvalid', field: 'patch', message }]);
}
