/** Requests for resources: the method and the path name a verb of the core. */
import type { KubernetesObject, ObjectRef } from '../kubernetes-object.ts';
import { badRequest, notServed } from '../status-errors.ts';
import type { ApiServerCore, DeleteOptions, ResourceInfo, Status, WriteOptions } from '../types.ts';
import { ApiStatusError } from '../types.ts';
import { absentSubresource } from './absent-subresources.ts';
import { checkDuplicateFields } from './duplicate-fields.ts';
import { methodNotServed } from './http-errors.ts';
import { textAt } from './json-fields.ts';
import { checkObjectVersion } from './list-version.ts';
import { forbiddenOption, requiredOption } from './option-errors.ts';
import type { ResourcePath } from './request-path.ts';
import { decodeObject } from './request-body.ts';
import { deleteOptions, evictionOptions, listOptions, writeOptions } from './request-options.ts';
import { manifestOf, patchOf, sentObject, type ResourceRequest } from './resource-body.ts';

/** What came out: an object or a list to be shaped as the client asked, or a body to be sent as it is. */
export type Outcome =
  | { readonly kind: 'object'; readonly code: number; readonly object: KubernetesObject }
  | { readonly kind: 'list'; readonly list: ReturnType<ApiServerCore['list']> }
  | { readonly kind: 'body'; readonly code: number; readonly body: unknown };

function optionsOf({ method, query, user, groups, program, warn }: ResourceRequest): WriteOptions {
  const kind = method === 'POST' ? 'CreateOptions' : method === 'PUT' ? 'UpdateOptions' : 'PatchOptions';
  return { ...writeOptions(kind, query, user, program), groups, onWarning: warn };
}

function refOf({ path, resource }: ResourceRequest, name: string): ObjectRef {
  return { type: resource, name, ...(path.namespace === undefined ? {} : { namespace: path.namespace }) };
}

function object(code: number, written: KubernetesObject): Outcome {
  return { kind: 'object', code, object: written };
}

function exists(core: ApiServerCore, ref: ObjectRef): boolean {
  try {
    core.get(ref);
    return true;
  } catch (error) {
    if (error instanceof ApiStatusError && error.status.code === 404) return false;
    throw error;
  }
}

/** A write that may turn out to be a create, which takes that permission too. What refuses it anyway refuses it first. */
function createdOrWritten(
  { mayCreate }: ResourceRequest,
  isThere: boolean,
  options: WriteOptions,
  write: (options: WriteOptions) => KubernetesObject,
): Outcome {
  if (isThere) return object(200, write(options));
  const { onWarning: _, ...quiet } = options;
  write({ ...quiet, dryRun: true });
  mayCreate();
  return object(201, write(options));
}

function applyPatch(core: ApiServerCore, request: ResourceRequest, ref: ObjectRef, options: WriteOptions): Outcome {
  const patch = patchOf(request);
  if (patch.type !== 'apply') {
    if (request.query.has('force'))
      throw forbiddenOption('PatchOptions', 'force', 'may not be specified for non-apply patch');
    return object(200, core.patch(ref, patch, options));
  }
  if (!request.query.get('fieldManager')) {
    throw requiredOption('PatchOptions', 'fieldManager', 'is required for apply patch');
  }
  manifestOf(patch.body, request);
  checkDuplicateFields({ text: request.body, isYaml: true }, 'error decoding patch', options);
  return createdOrWritten(request, exists(core, ref), options, write => core.patch(ref, patch, write));
}

function removalOptions({ query, body, contentType, user, groups, warn }: ResourceRequest): DeleteOptions {
  const options = deleteOptions(query, body === '' ? undefined : decodeObject(body, contentType), user);
  return { ...options, groups, onWarning: warn };
}

function onCollection(core: ApiServerCore, request: ResourceRequest): Outcome {
  const { method, resource, path, query } = request;
  switch (method) {
    case 'GET':
      return { kind: 'list', list: core.list(resource, listOptions(query, path.namespace)) };
    case 'POST': {
      if (resource.namespaced && path.namespace === undefined) throw methodNotServed();
      const options = optionsOf(request);
      const manifest = sentObject(request, options);
      const namespace = path.namespace === undefined ? {} : { namespace: path.namespace };
      return object(201, core.create(resource, manifest, { ...options, ...namespace }));
    }
    case 'DELETE':
      if (!resource.verbs.includes('deletecollection')) throw methodNotServed();
      return {
        kind: 'list',
        list: core.deleteCollection(resource, listOptions(query, path.namespace), removalOptions(request)),
      };
    default:
      throw methodNotServed();
  }
}

/** The Status of a deletion says its code in the response alone. */
function deleted(removed: KubernetesObject | Status): Outcome {
  return { kind: 'body', code: 200, body: 'code' in removed ? { ...removed, code: undefined } : removed };
}

function onObject(core: ApiServerCore, request: ResourceRequest, ref: ObjectRef, status: boolean): Outcome {
  const { method } = request;
  if (method === 'GET') {
    checkObjectVersion(request.query, core.resourceVersion);
    return object(200, core.get(ref));
  }
  if (method === 'DELETE') {
    if (status) throw methodNotServed();
    return deleted(core.delete(ref, removalOptions(request)));
  }
  const options: WriteOptions = {
    ...optionsOf(request),
    ...(status ? { subresource: 'status' } : {}),
  };
  switch (method) {
    case 'PUT': {
      const manifest = sentObject(request, options);
      return createdOrWritten(request, exists(core, ref), options, write => core.update(ref, manifest, write));
    }
    case 'PATCH':
      return applyPatch(core, request, ref, options);
    default:
      throw methodNotServed();
  }
}

function evict(core: ApiServerCore, request: ResourceRequest, ref: ObjectRef): Outcome {
  if (request.method !== 'POST') throw methodNotServed();
  const eviction = decodeObject(request.body, request.contentType);
  const kind = textAt(eviction, 'kind') || 'Eviction';
  if (kind !== 'Eviction') {
    throw badRequest(`${kind} in version "v1" cannot be handled as a Eviction: no kind "${kind}" is registered`);
  }
  const namespace = textAt(eviction, 'metadata', 'namespace') || ref.namespace;
  if (namespace !== ref.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (textAt(eviction, 'metadata', 'name') !== ref.name)
    throw badRequest('name in URL does not match name in Eviction object');
  const { query, user, groups, warn } = request;
  const status = core.evict(ref, { ...evictionOptions(query, eviction, user), groups, onWarning: warn });
  return { kind: 'body', code: status.code, body: status };
}

/** Whether there is anything to ask at this path, whatever is asked. Throws 404 or 501. */
export function checkServed(resource: ResourceInfo, { namespace, name, subresource }: ResourcePath): void {
  if (name === undefined) return;
  if (resource.namespaced && namespace === undefined) throw notServed();
  if (subresource === undefined || resource.subresources.includes(subresource)) return;
  throw absentSubresource(resource, { namespace, name, subresource });
}

/** Executes a request other than a watch, of a path that is served. Throws `ApiStatusError`. */
export function executeRequest(core: ApiServerCore, request: ResourceRequest): Outcome {
  const { path } = request;
  if (path.name === undefined) return onCollection(core, request);
  const ref = refOf(request, path.name);
  if (path.subresource === undefined) return onObject(core, request, ref, false);
  switch (path.subresource) {
    case 'status':
      return onObject(core, request, ref, true);
    case 'eviction':
      return evict(core, request, ref);
    default:
      throw notServed();
  }
}
