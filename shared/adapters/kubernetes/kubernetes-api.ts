/** `KubernetesApi` over HTTP. One request per call; what an answer means stands in `errors.ts`. */
import {
  apiVersionOf,
  type KubernetesObject,
  type ObjectRef,
  type ResourceType,
} from '../../domain/kubernetes-object.ts';
import { RetryableError } from '../../errors.ts';
import type { KubernetesApi, ListOptions, ListQuery, ObjectPatch, Preconditions } from '../../ports/kubernetes-api.ts';
import type { ObjectsAnswer } from '../../ports/read-answer.ts';
import { parseApiFailure, type ApiFailure } from './api-failure.ts';
import { toCreateOutcome, toDeleteOutcome, toEvictOutcome, toObjectAnswer, toWriteOutcome } from './errors.ts';
import { resolveKind, versionsOf } from './resolve-kind.ts';
import { listPage } from './list-page.ts';
import { parseJson, parseObject } from './objects.ts';
import { collectionPath, objectPath } from './paths.ts';
import type { Transport, TransportResponse } from './transport.ts';

const LIST_PAGE_LIMIT = 500;
/**
 * A list of one node's pods comes whole. Before Kubernetes 1.34 a limit makes the API server read every pod of the cluster from etcd;
 * without one it selects them in its watch cache, as fresh as etcd (ConsistentListFromCache).
 */
const OF_ONE_NODE = /(?:^|,)spec\.nodeName==?[^,]/;
/** A continue token lives for some minutes; a list that outlives it this often is given up for now. */
const MAX_LIST_RESTARTS = 3;

const JSON_TYPE = 'application/json';
const PATCH_TYPES = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
} as const;

/** Describes a call for error messages: `deleting nodeclaims nc1`, `evicting pods prod/web-0`. */
export function describeCall(verb: string, ref: ObjectRef): string {
  return `${verb} ${ref.type.resource} ${ref.namespace === undefined ? '' : `${ref.namespace}/`}${ref.name}`;
}

/** Whether a patch starts from an assumption that the server checks. */
export function hasTestOperation(patch: ObjectPatch): boolean {
  return patch.type === 'json' && patch.body.some(operation => operation['op'] === 'test');
}

/** Only what `errors.ts` calls an outcome is a value; the rest is thrown as `RetryableError` or `TerminalError`. */
export function createKubernetesApi(transport: Transport): KubernetesApi {
  return {
    async get(ref) {
      const doing = describeCall('reading', ref);
      const response = await transport.request({ method: 'GET', path: objectPath(ref), doing });
      if (!succeeded(response)) return toObjectAnswer(failureOf(response), ref, doing);
      return { kind: 'there', object: parseObject(parseJson(response.body, doing), doing) };
    },

    list: (type, query, options) => listAll(transport, type, query, options),

    async create(type, manifest) {
      const { namespace, name, generateName } = manifest.metadata;
      const doing = describeCall('creating', {
        type,
        ...(namespace === undefined ? {} : { namespace }),
        name: name ?? `${generateName ?? ''}*`,
      });
      const response = await transport.request({
        method: 'POST',
        path: collectionPath(type, namespace),
        body: { contentType: JSON_TYPE, json: manifest },
        doing,
      });
      if (!succeeded(response)) return toCreateOutcome(failureOf(response), doing);
      return { kind: 'ok', object: parseWritten(response.body, doing) };
    },

    async patch(ref, patch, options) {
      const doing = describeCall('patching', ref);
      const response = await transport.request({
        method: 'PATCH',
        path: objectPath(ref, options?.subresource),
        body: { contentType: PATCH_TYPES[patch.type], json: patch.body },
        doing,
      });
      if (!succeeded(response)) {
        return toWriteOutcome(failureOf(response), { ...ref, ...options }, doing, hasTestOperation(patch));
      }
      return { kind: 'ok', object: parseWritten(response.body, doing) };
    },

    async delete(ref, { preconditions, ...options }) {
      const doing = describeCall('deleting', ref);
      const response = await transport.request({
        method: 'DELETE',
        path: objectPath(ref),
        body: { contentType: JSON_TYPE, json: deleteOptions(preconditions, options) },
        doing,
      });
      return succeeded(response) ? { kind: 'ok' } : toDeleteOutcome(failureOf(response), ref, doing);
    },

    async evict(ref, { preconditions, gracePeriodSeconds }) {
      const doing = describeCall('evicting', ref);
      const response = await transport.request({
        method: 'POST',
        path: objectPath(ref, 'eviction'),
        body: { contentType: JSON_TYPE, json: evictionOf(ref, preconditions, gracePeriodSeconds) },
        doing,
      });
      return succeeded(response) ? { kind: 'ok' } : toEvictOutcome(failureOf(response), doing);
    },

    resolve: kind => resolveKind(transport, kind),

    versionsOf: kind => versionsOf(transport, kind),
  };
}

function succeeded(response: TransportResponse<string>): boolean {
  return response.status >= 200 && response.status < 300;
}

function failureOf({ status, body, retryAfter }: TransportResponse<string>): ApiFailure {
  return parseApiFailure(status, body, retryAfter);
}

async function listAll(
  transport: Transport,
  type: ResourceType,
  query: ListQuery = {},
  options: ListOptions = {},
): Promise<ObjectsAnswer> {
  for (let restarts = 0; restarts <= MAX_LIST_RESTARTS; restarts += 1) {
    const items: KubernetesObject[] = [];
    let token: string | undefined;
    do {
      const page = await listPage(transport, type, {
        query,
        limit: OF_ONE_NODE.test(query.fieldSelector ?? '') ? undefined : LIST_PAGE_LIMIT,
        ...options,
        ...(token === undefined ? {} : { continue: token }),
      });
      if (page.kind === 'notServed') return { kind: 'notServed', type };
      // The rest of this snapshot is gone; pages of two snapshots would not be consistent.
      if (page.kind === 'expired') break;
      items.push(...page.items);
      if (page.continue === undefined) return { kind: 'there', objects: items };
      token = page.continue;
    } while (token !== undefined);
  }
  throw new RetryableError(`listing ${type.resource}: the continue token expired ${MAX_LIST_RESTARTS + 1} times`, {
    reason: 'Expired',
  });
}

/** The write was accepted; an answer that cannot be read leaves its result unknown. */
function parseWritten(body: string, doing: string): KubernetesObject {
  try {
    return parseObject(parseJson(body, doing), doing);
  } catch (error) {
    throw new RetryableError(`${doing}: accepted, but the answer cannot be read`, {
      cause: error,
      outcomeUnknown: true,
      reason: 'UnreadableAnswer',
    });
  }
}

function deleteOptions(
  preconditions: Preconditions,
  more: { readonly gracePeriodSeconds?: number | undefined; readonly propagationPolicy?: 'Background' },
): Record<string, unknown> {
  // JSON leaves out what is undefined.
  return { kind: 'DeleteOptions', apiVersion: 'v1', preconditions, ...more };
}

function evictionOf(
  ref: ObjectRef,
  preconditions: Preconditions,
  gracePeriodSeconds: number | undefined,
): Record<string, unknown> {
  return {
    kind: 'Eviction',
    apiVersion: apiVersionOf({ group: 'policy', version: 'v1' }),
    metadata: { name: ref.name, namespace: ref.namespace },
    deleteOptions: deleteOptions(preconditions, { gracePeriodSeconds }),
  };
}
