/** A write as admission policies see it. */
import type { JsonObject } from '../json.ts';
import { nameOf } from '../objects.ts';
import type { ServedResource } from '../resources/resource-rules.ts';
import type { ServerContext, Target } from '../server-context.ts';
import { NAMESPACES } from '../write/namespaces.ts';
import { CLUSTER } from '../store/collection.ts';
import type { WriteOptions } from '../types.ts';
import { DEFAULT_USER } from '../write/commit.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

export interface AdmissionRequest {
  readonly target: Target;
  readonly operation: Operation;
  /** Absent for the object itself. */
  readonly subresource: string | undefined;
  /** Absent for a delete. */
  readonly object: JsonObject | undefined;
  /** Absent for a create. */
  readonly oldObject: JsonObject | undefined;
  readonly options: WriteOptions;
}

const OPTIONS: Readonly<Record<Operation, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
};

/** The variable `request`, for a policy that matched the request in the version `as`. */
export function requestVariable(request: AdmissionRequest, as: ServedResource): JsonObject {
  const { target, operation, subresource = '', options, object } = request;
  const { served, namespace } = target;
  const kindOf = ({ info }: ServedResource): JsonObject => ({
    group: info.group,
    version: info.version,
    kind: info.kind,
  });
  const resourceOf = ({ info }: ServedResource): JsonObject => ({
    group: info.group,
    version: info.version,
    resource: info.resource,
  });
  return {
    kind: kindOf(as),
    resource: resourceOf(as),
    subResource: subresource,
    requestKind: kindOf(served),
    requestResource: resourceOf(served),
    requestSubResource: subresource,
    name: target.name === '' && object !== undefined ? nameOf(object) : target.name,
    namespace,
    operation,
    userInfo: { username: options.user ?? DEFAULT_USER, uid: '', groups: [...(options.groups ?? [])], extra: {} },
    dryRun: options.dryRun === true,
    options: { apiVersion: 'meta.k8s.io/v1', kind: OPTIONS[operation] },
  };
}

/** The Namespace that a request is about or in; undefined for cluster-scoped objects. */
export function namespaceOfRequest(
  server: ServerContext,
  { target, object }: AdmissionRequest,
): JsonObject | undefined {
  const { served, namespace, name } = target;
  const isNamespace = served.info.group === NAMESPACES.group && served.info.resource === NAMESPACES.name;
  const stored = (of: string): JsonObject | undefined =>
    server.registry.find(NAMESPACES.group, NAMESPACES.name)?.storage.collection.get(CLUSTER, of);
  if (isNamespace) return object ?? stored(name);
  return served.info.namespaced ? stored(namespace) : undefined;
}
