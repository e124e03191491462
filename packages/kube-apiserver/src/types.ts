/**
 * The contract between the parts of the embedded API server: `ApiServer` (in-process core, no I/O, no real time) and what is
 * built on it: the HTTP front (`http/`), the in-process adapters of Curfew's ports, the simulation's actors.
 *
 * Objects are plain JSON, deeply immutable once stored: readers share them, writers replace them.
 */
import type {
  JsonObject,
  KubernetesManifest,
  KubernetesObject,
  ObjectRef,
  ResourceType,
  StoredObject,
} from './kubernetes-object.ts';

/** The body of a Kubernetes `Status` answer. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: JsonObject;
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: JsonObject;
  readonly code: number;
}

/** Every refusal of the API server: `status` is what a client receives over HTTP. */
export class ApiStatusError extends Error {
  readonly status: Status;
  constructor(status: Status) {
    // Refusals are answers: nobody asks where one was made, and a stack costs more than the call that was refused.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(status.message ?? status.reason ?? `status ${status.code}`);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'ApiStatusError';
    this.status = status;
  }
}

/** One served resource: built in, or from a CustomResourceDefinition. */
export interface ResourceInfo extends ResourceType {
  readonly kind: string;
  readonly listKind: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly hasStatus: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
  /** OpenAPI v3 schema of a custom resource version; absent for built-in kinds. */
  readonly schema?: JsonObject;
  /** `additionalPrinterColumns` of a custom resource version. */
  readonly printerColumns?: readonly {
    name: string;
    type: string;
    jsonPath: string;
    priority?: number;
    description?: string;
  }[];
}

export interface WriteOptions {
  /** Who writes: the fault injector, the trace and the audit of the simulation see it. Default `admin`. */
  readonly user?: string;
  /** Groups of the user, as admission policies see them. */
  readonly groups?: readonly string[];
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  /** What to do with unknown and duplicate fields of custom resources. Default `Warn`. */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  /** Receives what `Warn` finds (`unknown field "spec.x"`), one call each; HTTP sends them as `Warning` headers. */
  readonly onWarning?: (message: string) => void;
  /** `status` writes the status subresource only. */
  readonly subresource?: 'status';
}

export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface DeleteOptions extends WriteOptions {
  readonly preconditions?: Preconditions;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
}

export type Patch =
  | { readonly type: 'merge'; readonly body: JsonObject }
  | { readonly type: 'json'; readonly body: readonly JsonObject[] }
  | { readonly type: 'strategic'; readonly body: JsonObject }
  | { readonly type: 'apply'; readonly body: JsonObject; readonly force?: boolean };

export interface SeedOptions {
  /** Refuses what the transition rules of a CustomResourceDefinition forbid (422), where the stored object is one that they apply to. */
  readonly keepsTransitions?: boolean;
}

export interface ListOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
}

export interface ListResult {
  readonly resourceVersion: string;
  readonly items: readonly KubernetesObject[];
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface WatchOptions extends ListOptions {
  /** Events after this version. Absent or `0`: synthetic ADDED for all that exists first. */
  readonly resourceVersion?: string;
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
}

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubernetesObject }
  | { readonly type: 'BOOKMARK'; readonly object: JsonObject }
  | { readonly type: 'ERROR'; readonly object: Status };

/** What a write did, for observers (trace, invariants, actors). Called synchronously after the write is stored. */
export interface ObservedWrite {
  readonly verb: 'create' | 'update' | 'patch' | 'delete' | 'evict';
  readonly user: string;
  readonly resource: ResourceInfo;
  readonly ref: ObjectRef;
  readonly subresource?: string;
  readonly gracePeriodSeconds?: number;
  /** The patch or manifest as sent. */
  readonly body?: unknown;
  /** The object before and after; `after` is absent when the write removed it. */
  readonly before?: KubernetesObject;
  readonly after?: KubernetesObject;
}

/** All that a server has stored at one version, by `group/plural`. */
export interface Snapshot {
  readonly version: number;
  readonly objects: ReadonlyMap<string, readonly StoredObject[]>;
}

/** The verbs. All are synchronous, throw `ApiStatusError`, and have the semantics of kube-apiserver. */
export interface ApiServerCore {
  resources(): readonly ResourceInfo[];
  /** The served resource for a type, or undefined (HTTP 404 `the server could not find the requested resource`). */
  resource(type: { group: string; version?: string; resource: string }): ResourceInfo | undefined;
  resourceForKind(apiVersion: string, kind: string): ResourceInfo | undefined;
  get(ref: ObjectRef): KubernetesObject;
  list(type: ResourceType, options?: ListOptions): ListResult;
  create(
    type: ResourceType,
    manifest: KubernetesManifest,
    options?: WriteOptions & { namespace?: string },
  ): KubernetesObject;
  update(ref: ObjectRef, object: KubernetesManifest, options?: WriteOptions): KubernetesObject;
  /** With `type: 'apply'` on an absent object it is created. */
  patch(ref: ObjectRef, patch: Patch, options?: WriteOptions): KubernetesObject;
  /**
   * Returns the object when it stays (finalizers, graceful deletion) and, for the kinds that answer so (pods, namespaces, services …),
   * also when it is gone: then as it was last; else a success Status.
   */
  delete(ref: ObjectRef, options?: DeleteOptions): KubernetesObject | Status;
  deleteCollection(type: ResourceType, list?: ListOptions, options?: DeleteOptions): ListResult;
  /** `pods/eviction`: 201 Status, or 404, 409 (preconditions), 429 (a budget forbids), 500 (more than one budget). */
  evict(ref: ObjectRef, options?: DeleteOptions): Status;
  /** Delivers events synchronously, in order, after the write that caused them; throws 410 Gone for a version that is too old. */
  watch(type: ResourceType, options: WatchOptions, deliver: (event: WatchEvent) => void): { stop(): void };
  /** Sends a BOOKMARK to every watch that allows them (the HTTP front and the simulation decide when). */
  sendBookmarks(): void;
  /** Forgets the watch history: the next watch from an older version gets 410 (as after etcd compaction). */
  compact(): void;
  /** All that is stored now, as a backup of etcd has it. */
  snapshot(): Snapshot;
  /**
   * Goes back to a snapshot of this server: objects, UIDs and versions are those of then. Every open watch ends with 410; observers hear of
   * nothing, since nobody has written.
   */
  restore(snapshot: Snapshot): void;
  observe(observer: (write: ObservedWrite) => void): { stop(): void };
  /** What the server could not do as kube-apiserver would: CEL rules of custom resources that it had to skip, each once. */
  warnings(): readonly string[];
  /**
   * Stores an object as given (its own uid, creationTimestamp, deletionTimestamp and status included): for fixtures and the
   * objects of a scenario. Missing metadata is filled in.
   */
  seed(manifest: KubernetesManifest, options?: SeedOptions): KubernetesObject;
  /** Current resourceVersion of the store. */
  readonly resourceVersion: string;
}

export interface ApiServerOptions {
  /** Milliseconds since 1970. */
  readonly clock: { now(): number };
  /** Source of uids and generated names, in [0, 1). Default: seeded constant, so that two servers agree. */
  readonly random?: () => number;
  /** Watch events kept per resource before 410. Default 1,000. */
  readonly watchHistory?: number;
}
