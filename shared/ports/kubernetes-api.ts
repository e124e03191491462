/**
 * The Kubernetes API as functions use it. Expected outcomes are values. Throttling, 5xx, time-outs, lost connections and missing
 * permission throw `RetryableError`. (401, 403: permission may be granted while the message waits, and I9 forbids losing the message.)
 * Input that the API server refuses throws `TerminalError` (reason `Invalid`, …). A patch or deletion of an object whose kind is not
 * served throws `KindNotServed`: the object may be there.
 */
import type {
  GroupKind,
  GroupResource,
  GroupVersionKind,
  JsonObject,
  KubernetesManifest,
  KubernetesObject,
  ObjectRef,
  ResourceType,
} from '../domain/kubernetes-object.ts';
import type { ObjectAnswer, ObjectsAnswer } from './read-answer.ts';

export interface ListQuery {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** The fields of an object to keep. */
export type ObjectProjection = (object: KubernetesObject) => KubernetesObject;

export interface ListOptions {
  /**
   * Applied to each object as soon as it is parsed, so that a long list of large objects takes the memory of what is kept. It
   * keeps at least what identifies the object.
   */
  readonly project?: ObjectProjection | undefined;
  /** Names of lists of objects that it does not look at: they may come empty, which saves parsing them. */
  readonly unread?: readonly string[] | undefined;
}

/** Checked by the API server before it acts; a mismatch is `conflict` (I10). */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export type WriteOutcome =
  | { readonly kind: 'ok'; readonly object: KubernetesObject }
  | { readonly kind: 'notFound' }
  /** A precondition was not met, or the object changed in between: look again. */
  | { readonly kind: 'conflict'; readonly message: string };

export type CreateOutcome =
  | { readonly kind: 'ok'; readonly object: KubernetesObject }
  | { readonly kind: 'exists' }
  /** The namespace is missing or terminating, or the resource is not served. */
  | { readonly kind: 'notFound' }
  /** Schema or policy refused it. */
  | { readonly kind: 'invalid'; readonly message: string };

export type DeleteOutcome =
  /** Accepted: gone at once, or `deletionTimestamp` is set and finalizers or the grace period keep it. */
  { readonly kind: 'ok' } | { readonly kind: 'notFound' } | { readonly kind: 'conflict'; readonly message: string };

export type EvictOutcome =
  | { readonly kind: 'ok' }
  | { readonly kind: 'notFound' }
  /** Another pod has that name by now, or the pod has changed since it was read. */
  | { readonly kind: 'conflict'; readonly message: string }
  /** A PodDisruptionBudget forbids it now (429), or an admission webhook wants to be asked again. */
  | { readonly kind: 'blocked'; readonly message: string; readonly retryAfterMs?: number }
  /** More than one PodDisruptionBudget, or a broken one. */
  | { readonly kind: 'misconfigured'; readonly message: string };

export type ObjectPatch =
  /** RFC 7386. `metadata.uid` and `metadata.resourceVersion` in the body act as preconditions. */
  | { readonly type: 'merge'; readonly body: JsonObject }
  /** For built-in kinds: lists that have a key are merged by it, such as the conditions of a Node by their type. */
  | { readonly type: 'strategic'; readonly body: JsonObject }
  | { readonly type: 'json'; readonly body: readonly JsonObject[] };

export interface KubernetesApi {
  /** The live object (quorum read). */
  get(ref: ObjectRef): Promise<ObjectAnswer>;
  /** All matching objects (all pages), consistent. */
  list(type: ResourceType, query?: ListQuery, options?: ListOptions): Promise<ObjectsAnswer>;
  create(type: ResourceType, manifest: KubernetesManifest): Promise<CreateOutcome>;
  patch(ref: ObjectRef, patch: ObjectPatch, options?: { subresource?: 'status' }): Promise<WriteOutcome>;
  /** `propagationPolicy`: what becomes of what it owns; without one as the kind has it, which for a Job leaves its pods running. */
  delete(
    ref: ObjectRef,
    options: { preconditions: Preconditions; gracePeriodSeconds?: number; propagationPolicy?: 'Background' },
  ): Promise<DeleteOutcome>;
  /** Without `gracePeriodSeconds` the pod's own grace period applies. */
  evict(ref: ObjectRef, options: { preconditions: Preconditions; gracePeriodSeconds?: number }): Promise<EvictOutcome>;
  /** The resource that serves a kind, by discovery; undefined when it is not served. */
  resolve(kind: GroupVersionKind): Promise<ResourceType | undefined>;
  /**
   * The versions in which the kind or resource is served, by discovery, the preferred one first; none when its definition is missing. An object is the
   * same in each of them: in a version that is not served it seems to be gone while it is there.
   */
  versionsOf(what: GroupKind | GroupResource): Promise<readonly string[]>;
}
