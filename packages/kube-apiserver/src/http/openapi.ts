/**
 * OpenAPI documents, made from the served resources: enough for clients that look up which parameters a path takes
 * (`fieldValidation`, `dryRun`), for `kubectl explain`, and for the schemas of custom resources. Built-in kinds are open objects.
 *
 * PATCH does not list strategic merge: kubectl would then compute patches from these schemas, which do not say how lists of
 * built-in kinds merge. Without it kubectl uses the types it was compiled with.
 */
import { createHash } from 'node:crypto';
import { apiVersionOf } from '../kubernetes-object.ts';
import type { JsonObject } from '../json.ts';
import { isObject } from '../json.ts';
import type { ResourceInfo } from '../types.ts';
import { gitVersion } from './discovery.ts';
import { objectAt } from './json-fields.ts';
import { kindDescriptions, metadataSchemas } from './openapi-schemas.ts';
import type { ServedGroup, ServedVersion } from './served-resources.ts';

const info: JsonObject = { title: 'Kubernetes', version: gitVersion };
const metaRef = (name: string): JsonObject => ({
  allOf: [{ $ref: `#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.${name}` }],
});

function query(name: string, type: 'string' | 'integer' | 'boolean', description: string): JsonObject {
  return { name, in: 'query', description, schema: { type, uniqueItems: true } };
}

const writeParameters: readonly JsonObject[] = [
  query('dryRun', 'string', 'When set to All, nothing is stored.'),
  query('fieldManager', 'string', 'Name of who makes the change.'),
  query('fieldValidation', 'string', 'What to do with unknown and duplicate fields: Ignore, Warn or Strict.'),
];
const forceParameter = query('force', 'boolean', 'Take over conflicting fields; for apply patches only.');
const deleteParameters: readonly JsonObject[] = [
  query('dryRun', 'string', 'When set to All, nothing is stored.'),
  query('gracePeriodSeconds', 'integer', 'Seconds before the object is removed; 0 removes it at once.'),
  query('propagationPolicy', 'string', 'What happens to dependents: Orphan, Background or Foreground.'),
];
const listParameters: readonly JsonObject[] = [
  query('allowWatchBookmarks', 'boolean', 'Whether a watch wants BOOKMARK events.'),
  query('continue', 'string', 'Token of the previous page.'),
  query('fieldSelector', 'string', 'Selects by fields.'),
  query('labelSelector', 'string', 'Selects by labels.'),
  query('limit', 'integer', 'Largest number of objects in the answer.'),
  query('resourceVersion', 'string', 'Version to read at or to watch from.'),
  query('resourceVersionMatch', 'string', 'How resourceVersion is meant.'),
  query('sendInitialEvents', 'boolean', 'Whether a watch starts with what exists.'),
  query('timeoutSeconds', 'integer', 'Longest duration of the call.'),
  query('watch', 'boolean', 'Stream changes instead of a list.'),
];

/** Name of a kind's schema: the group's domain backwards, as clients of OpenAPI v2 and v3 know it. */
function schemaName({ group, version, kind }: ResourceInfo): string {
  const domain =
    group === ''
      ? 'io.k8s.api.core'
      : group.includes('.')
        ? group.split('.').toReversed().join('.')
        : `io.k8s.api.${group}`;
  return `${domain}.${version}.${kind}`;
}

function gvkOf({ group, version, kind }: ResourceInfo): JsonObject {
  return { group, version, kind };
}

function operation(
  resource: ResourceInfo,
  action: string,
  parameters: readonly JsonObject[],
  body?: readonly string[],
): JsonObject {
  const schema = { $ref: `#/components/schemas/${schemaName(resource)}` };
  return {
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': gvkOf(resource),
    parameters,
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: Object.fromEntries(body.map(type => [type, { schema }])) } }),
    responses: { 200: { description: 'OK', content: { 'application/json': { schema } } } },
  };
}

const pathParameter = (name: string): JsonObject => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string', uniqueItems: true },
});
const objectBody = ['application/json', 'application/yaml'];
const patchBody = ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json'];

function pathsOf(resource: ResourceInfo): JsonObject {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const collection = resource.namespaced
    ? `${root}/namespaces/{namespace}/${resource.resource}`
    : `${root}/${resource.resource}`;
  const namespace = resource.namespaced ? [pathParameter('namespace')] : [];
  const has = (verb: string): boolean => resource.verbs.includes(verb);
  const write = (action: string): JsonObject => operation(resource, action, writeParameters, objectBody);
  const patch = operation(resource, 'patch', [...writeParameters, forceParameter], patchBody);
  const many: JsonObject = {
    ...(has('list') ? { get: operation(resource, 'list', listParameters) } : {}),
    ...(has('create') ? { post: write('post') } : {}),
    ...(has('deletecollection')
      ? { delete: operation(resource, 'deletecollection', [...deleteParameters, ...listParameters]) }
      : {}),
    ...(namespace.length === 0 ? {} : { parameters: namespace }),
  };
  const one: JsonObject = {
    ...(has('get') ? { get: operation(resource, 'get', []) } : {}),
    ...(has('update') ? { put: write('put') } : {}),
    ...(has('patch') ? { patch } : {}),
    ...(has('delete') ? { delete: operation(resource, 'delete', deleteParameters) } : {}),
    parameters: [pathParameter('name'), ...namespace],
  };
  return {
    ...(resource.namespaced && has('list')
      ? { [`${root}/${resource.resource}`]: { get: operation(resource, 'list', listParameters) } }
      : {}),
    [collection]: many,
    ...(has('get') ? { [`${collection}/{name}`]: one } : {}),
    ...(resource.hasStatus
      ? {
          [`${collection}/{name}/status`]: {
            put: write('put'),
            patch,
            parameters: [pathParameter('name'), ...namespace],
          },
        }
      : {}),
  };
}

function openField(description: string): JsonObject {
  return { type: 'object', description, 'x-kubernetes-preserve-unknown-fields': true };
}

function schemaOf(resource: ResourceInfo): JsonObject {
  const own = resource.schema ?? {};
  const builtIn: JsonObject = {
    spec: openField('What is wanted. The embedded API server does not describe the fields of built-in kinds.'),
    ...(resource.hasStatus
      ? {
          status: openField(
            'What was observed. The embedded API server does not describe the fields of built-in kinds.',
          ),
        }
      : {}),
  };
  const isCustom = resource.schema !== undefined;
  return {
    ...own,
    type: 'object',
    description:
      own.description ?? kindDescriptions.get(resource.kind) ?? `${resource.kind} of ${apiVersionOf(resource)}.`,
    properties: {
      ...(isCustom ? objectAt(own, 'properties') : builtIn),
      apiVersion: { type: 'string', description: 'Group and version of the schema of this object.' },
      kind: { type: 'string', description: 'Name of the REST resource that this object represents.' },
      metadata: { ...metaRef('ObjectMeta'), default: {}, description: 'Standard metadata of an object.' },
    },
    ...(isCustom ? {} : { 'x-kubernetes-preserve-unknown-fields': true }),
    'x-kubernetes-group-version-kind': [gvkOf(resource)],
  };
}

/** `/openapi/v3/…` of one group and version. */
export function openApiDocument(served: ServedVersion): JsonObject {
  const paths: Record<string, JsonObject> = {};
  const schemas: Record<string, JsonObject> = { ...metadataSchemas };
  for (const resource of served.resources) {
    for (const [path, item] of Object.entries(pathsOf(resource))) if (isObject(item)) paths[path] = item;
    schemas[schemaName(resource)] = schemaOf(resource);
  }
  return { openapi: '3.0.0', info, paths, components: { schemas } };
}

/** `/openapi/v3`: where each group and version is described. The hash changes with the description, so that clients may cache. */
export function openApiIndex(groups: readonly ServedGroup[]): JsonObject {
  const entries = groups.flatMap(({ group, versions }) =>
    versions.map(served => {
      const path = group === '' ? `api/${served.version}` : `apis/${group}/${served.version}`;
      const hash = createHash('sha256')
        .update(JSON.stringify(served.resources))
        .digest('hex')
        .slice(0, 32)
        .toUpperCase();
      return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }] as const;
    }),
  );
  return { paths: Object.fromEntries(entries) };
}
