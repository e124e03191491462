/** A request for a resource, and what its body says. */
import type { KubernetesManifest } from '../kubernetes-object.ts';
import { apiVersionOf } from '../kubernetes-object.ts';
import type { JsonObject } from '../json.ts';
import { badRequest } from '../status-errors.ts';
import type { Patch, ResourceInfo, WriteOptions } from '../types.ts';
import type { ApiStatusError } from '../types.ts';
import { checkDuplicateFields } from './duplicate-fields.ts';
import { objectAt, textAt } from './json-fields.ts';
import { decodeApply, decodeObject, decodeOperations, mediaTypeOf, unsupportedBody } from './request-body.ts';
import { flag } from './request-options.ts';
import type { ResourcePath } from './request-path.ts';

/** A request after its path, query and body were read. */
export interface ResourceRequest {
  readonly method: string;
  readonly path: ResourcePath;
  readonly resource: ResourceInfo;
  readonly query: URLSearchParams;
  readonly contentType: string | undefined;
  readonly body: string;
  readonly user: string;
  readonly groups: readonly string[];
  readonly program: string | undefined;
  /** Asked before an update or an apply creates the object. Throws `ApiStatusError` 403. */
  readonly mayCreate: () => void;
  /** Receives what becomes `Warning` headers. */
  readonly warn: (message: string) => void;
}

const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];

const SHOWN_BODY_CHARS = 22;

function kindMissing(body: JsonObject, { kind }: ResourceInfo): ApiStatusError {
  const text = JSON.stringify(body);
  const begin = text.length > SHOWN_BODY_CHARS ? `${text.slice(0, SHOWN_BODY_CHARS)} ...` : text;
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind}): Object 'Kind' is missing in '${text}' (${begin})`,
  );
}

/**
 * A body as a manifest of the resource. A missing kind or version is that of the path, but custom resources must say both; others
 * are refused, as is a name or a namespace that contradicts the path.
 */
export function manifestOf(body: JsonObject, { path, resource }: ResourceRequest): KubernetesManifest {
  const expected = apiVersionOf(resource);
  const isCustom = resource.schema !== undefined;
  const apiVersion = textAt(body, 'apiVersion') || (isCustom ? '' : expected);
  const kind = textAt(body, 'kind') || (isCustom ? '' : resource.kind);
  if (kind === '') throw kindMissing(body, resource);
  if (apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  if (kind !== resource.kind) {
    throw badRequest(`the kind in the data (${kind}) does not match the expected kind (${resource.kind})`);
  }
  const metadata = objectAt(body, 'metadata');
  const namespace = textAt(metadata, 'namespace');
  if (path.namespace !== undefined && namespace !== '' && namespace !== path.namespace) {
    throw badRequest(`the namespace of the provided object does not match the namespace sent on the request`);
  }
  const name = textAt(metadata, 'name');
  if (path.name !== undefined && name !== '' && name !== path.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${path.name})`);
  }
  return { ...body, apiVersion, kind, metadata };
}

function cannotHandle({ kind, version }: ResourceInfo): string {
  return `${kind} in version "${version}" cannot be handled as a ${kind}`;
}

/** The body of a create or an update. */
export function sentObject(request: ResourceRequest, options: WriteOptions): KubernetesManifest {
  const { body, contentType, resource } = request;
  const value = decodeObject(body, contentType);
  const manifest = manifestOf(value, request);
  const decoded = { text: body, isYaml: mediaTypeOf(contentType) === 'application/yaml', value };
  checkDuplicateFields(decoded, cannotHandle(resource), options);
  return manifest;
}

/** The patch that the body is, by its content type. */
export function patchOf({ body, contentType, query }: ResourceRequest): Patch {
  const type = contentType === undefined ? '' : mediaTypeOf(contentType);
  switch (type) {
    case 'application/json-patch+json':
      return { type: 'json', body: decodeOperations(body) };
    case 'application/merge-patch+json':
      return { type: 'merge', body: decodeObject(body, 'application/json') };
    case 'application/strategic-merge-patch+json':
      return { type: 'strategic', body: decodeObject(body, 'application/json') };
    case 'application/apply-patch+yaml':
      return { type: 'apply', body: decodeApply(body), force: flag(query, 'force') };
    default:
      throw unsupportedBody(type, patchTypes);
  }
}
