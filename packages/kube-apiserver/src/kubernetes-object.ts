/** Kubernetes objects as JSON, read-only, with the metadata fields that the server itself uses typed. */

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

/** An object as it is stored: JSON that was seen to have what every object has. */
export type StoredObject = JsonObject & KubernetesObject;

/** What a client sends to create or apply an object: the server fills in the rest of the metadata. */
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

/** One object of a resource. `namespace` is absent for cluster-scoped resources. */
export interface ObjectRef {
  readonly type: ResourceType;
  readonly namespace?: string;
  readonly name: string;
}

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
