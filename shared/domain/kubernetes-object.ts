/**
 * Kubernetes objects as Curfew sees them: JSON, read-only, with the metadata fields that it uses typed.
 * Kind-specific fields are read through the narrow readers next to this file (`node.ts`, `pod.ts`, …), never by casts.
 */
import { addDuration, parseTimestamp, toDurationMs, type EpochMs } from './time.ts';

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Timestamps are RFC 3339 text, as on the wire. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

/** An object that the API server has stored. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
  readonly [field: string]: unknown;
}

/** An object as a client sends it to create or apply it: the server fills in the rest of the metadata. */
export interface KubernetesManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Partial<ObjectMeta> & { readonly generateName?: string };
  readonly [field: string]: unknown;
}

/** A resource as it stands in a URL: `{ group: 'karpenter.sh', version: 'v1', resource: 'nodeclaims' }`; group `''` is the core group. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** A kind as it stands in manifests; `group` `''` is the core group. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** A kind in whatever version. */
export type GroupKind = Pick<GroupVersionKind, 'group' | 'kind'>;

/** A kind by its plural name. */
export type GroupResource = Pick<ResourceType, 'group' | 'resource'>;

/** One object of a resource. `namespace` is absent for cluster-scoped resources. */
export interface ObjectRef {
  readonly type: ResourceType;
  readonly namespace?: string;
  readonly name: string;
}

/** An `ObjectRef` as records keep it. */
export type ResourceName = ResourceType & Omit<ObjectRef, 'type'>;

export const refOf = ({
  group,
  version,
  resource,
  namespace,
  name,
}: ResourceType & { readonly namespace?: string | undefined; readonly name: string }): ObjectRef => ({
  type: { group, version, resource },
  name,
  ...(namespace !== undefined && { namespace }),
});

export const resourceNameOf = ({ type: { group, version, resource }, namespace, name }: ObjectRef): ResourceName => ({
  group,
  version,
  resource,
  ...(namespace !== undefined && { namespace }),
  name,
});

/** `NodePool web`, as messages name it. */
export const kindAndName = ({ kind, metadata }: KubernetesObject): string => `${kind} ${metadata.name}`;

/** The name of an object in a record, a wake-up or a message. */
export const subjectOf = ({ kind, apiVersion, metadata: { namespace, name, uid } }: KubernetesObject) => ({
  kind,
  apiVersion,
  ...(namespace !== undefined && { namespace }),
  name,
  uid,
});

/**
 * Time at which the deletion of the object began; undefined: it lives. The timestamp of a pod is the end of its grace period, and moves with it; the
 * beginning does not.
 */
export function deletionTimeOf({ metadata }: Pick<KubernetesObject, 'metadata'>): EpochMs | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata;
  const end = deletionTimestamp === undefined ? undefined : parseTimestamp(deletionTimestamp);
  return end === undefined ? undefined : addDuration(end, toDurationMs(-1000 * deletionGracePeriodSeconds));
}

/** As audit lines and Events write it: with its namespace, where it has one. */
export const qualifiedName = ({
  namespace,
  name,
}: {
  readonly namespace?: string | undefined;
  readonly name: string;
}): string => (namespace === undefined ? name : `${namespace}/${name}`);

/** `apiVersion` of a resource type: `v1` for the core group, else `group/version`. */
export function apiVersionOf(type: Pick<ResourceType, 'group' | 'version'>): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}

/** The group and version in an `apiVersion`. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}
