/**
 * The ports on Kubernetes as somebody with these grants sees them: what is not granted is refused with 403, in kube-apiserver's words,
 * and never reaches the cluster.
 */
import {
  forbiddenRequest,
  type ResourceAttributes,
} from '../../packages/kube-apiserver/src/authorization/attributes.ts';
import { toApiFailure, type ApiFailure } from '../../shared/adapters/kubernetes/api-failure.ts';
import { toThrown } from '../../shared/adapters/kubernetes/errors.ts';
import { describeCall } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import type { KubernetesGrant, KubernetesVerb } from '../../shared/contract/permissions.ts';
import type { ObjectRef, ResourceType } from '../../shared/domain/kubernetes-object.ts';
import type { RetryableError, TerminalError } from '../../shared/errors.ts';
import type { ClusterWatch } from '../../shared/ports/cluster-watch.ts';
import type { KubernetesApi, ListQuery } from '../../shared/ports/kubernetes-api.ts';
import { describeGrant } from './describe.ts';

/** Who calls, with what grants. */
export interface KubernetesIdentity {
  /** The user name in refusals. */
  readonly user: string;
  readonly grants: readonly KubernetesGrant[];
  /** Hears of every permission that a call makes use of (`describe.ts`). */
  readonly onUse?: (permission: string) => void;
  /** Hears of every refusal, in the words of the 403. */
  readonly onRefusal?: (message: string) => void;
}

type Request = ResourceAttributes & { readonly verb: KubernetesVerb };

/** A refusal is the `RetryableError` that the adapter makes of a 403. */
export function kubernetesWithin(api: KubernetesApi, identity: KubernetesIdentity): KubernetesApi {
  const allowed = <T>(request: Request, doing: () => string, call: () => Promise<T>): Promise<T> => {
    const failure = refusalOf(request, identity);
    if (failure === undefined) return call();
    return Promise.reject(
      toThrown(failure, { doing: doing(), write: request.verb !== 'get' && request.verb !== 'list' }),
    );
  };
  return {
    get: ref =>
      allowed(
        onObject('get', ref),
        () => describeCall('reading', ref),
        () => api.get(ref),
      ),
    list: (type, query, options) =>
      allowed(
        onCollection('list', type, query),
        () => `listing ${type.resource}`,
        () => api.list(type, query, options),
      ),
    create(type, manifest) {
      const { namespace, name = `${manifest.metadata.generateName ?? ''}*` } = manifest.metadata;
      const ref = { type, name, ...(namespace === undefined ? {} : { namespace }) };
      // The name of what is created stands in the body, which no authorizer reads.
      const { name: _, ...request } = onObject('create', ref);
      return allowed(
        request,
        () => describeCall('creating', ref),
        () => api.create(type, manifest),
      );
    },
    patch: (ref, patch, options) =>
      allowed(
        onObject('patch', ref, options?.subresource),
        () => describeCall('patching', ref),
        () => api.patch(ref, patch, options),
      ),
    delete: (ref, options) =>
      allowed(
        onObject('delete', ref),
        () => describeCall('deleting', ref),
        () => api.delete(ref, options),
      ),
    evict: (ref, options) =>
      allowed(
        onObject('create', ref, 'eviction'),
        () => describeCall('evicting', ref),
        () => api.evict(ref, options),
      ),
    // Discovery is open to every identity (`system:discovery`).
    resolve: kind => api.resolve(kind),
    versionsOf: kind => api.versionsOf(kind),
  };
}

/** A watch that is refused fails when it is first read, as over HTTP. */
export function watchWithin(watch: ClusterWatch, identity: KubernetesIdentity): ClusterWatch {
  const refusal = (request: Request): RetryableError | TerminalError | undefined => {
    const failure = refusalOf(request, identity);
    return failure && toThrown(failure, { doing: `${request.verb}ing ${request.resource}`, write: false });
  };
  return {
    // Discovery is open to every identity (`system:discovery`).
    resolve: (kind, signal) => watch.resolve(kind, signal),
    versionsOf: (kind, signal) => watch.versionsOf(kind, signal),
    list(type, options) {
      const refused = refusal(onCollection('list', type, options.selection));
      return refused === undefined ? watch.list(type, options) : Promise.reject(refused);
    },
    watch(type, options) {
      const refused = refusal(onCollection('watch', type, options.selection));
      return refused === undefined ? watch.watch(type, options) : failing(refused);
    },
  };
}

/** As `group` of a grant: every kind of groups that belong neither to Kubernetes nor to Karpenter nor to Curfew. */
export const ANY_CUSTOM_KIND = '*';
const isCustom = (group: string): boolean =>
  group.includes('.') && !/(^|\.)(k8s\.io|karpenter\.sh|karpenter\.k8s\.aws|curfew\.dev)$/.test(group);

/** The first grant that covers the request, as RBAC decides it. */
export function grantFor(grants: readonly KubernetesGrant[], request: Request): KubernetesGrant | undefined {
  return grants.find(
    ({ group, resource, subresource, verbs, namespace, names }) =>
      (group === ANY_CUSTOM_KIND
        ? isCustom(request.group)
        : group === request.group && resource === request.resource) &&
      subresource === request.subresource &&
      verbs.includes(request.verb) &&
      (namespace === undefined || namespace === request.namespace) &&
      (names === undefined || (request.name !== undefined && names.includes(request.name))),
  );
}

function refusalOf(request: Request, { user, grants, onUse, onRefusal }: KubernetesIdentity): ApiFailure | undefined {
  const grant = grantFor(grants, request);
  if (grant === undefined) {
    const { status, message } = forbiddenRequest(user, request);
    onRefusal?.(message);
    return toApiFailure(status.code, status);
  }
  onUse?.(describeGrant(request.verb, grant));
  return undefined;
}

function onObject(verb: KubernetesVerb, { type, namespace, name }: ObjectRef, subresource?: string): Request {
  return {
    verb,
    group: type.group,
    resource: type.resource,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

/** A list or watch that selects one object by its name is a request for that object. */
function onCollection(verb: 'list' | 'watch', type: ResourceType, query: ListQuery = {}): Request {
  const { namespace, fieldSelector = '' } = query;
  const name = /^metadata\.name=([^,=!]+)$/.exec(fieldSelector)?.[1];
  return {
    verb,
    group: type.group,
    resource: type.resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
}

function failing(error: Error): AsyncIterable<never> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) };
}
