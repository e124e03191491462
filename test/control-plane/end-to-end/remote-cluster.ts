/**
 * A real cluster as the simulation's actors see one: what is there stands in a mirror that watches keep, and writes go out one after
 * the other. An actor reads no later than its last event, as an informer's client does; preconditions make up for the rest.
 */
import type { ActorApi } from '../../../simulator/actors/actor.ts';
import { notFound } from '../../../packages/kube-apiserver/src/status-errors.ts';
import type { WatchEvent as CoreEvent } from '../../../packages/kube-apiserver/src/types.ts';
import type { KubernetesObject, ObjectRef, ResourceType } from '../../../shared/domain/kubernetes-object.ts';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { toDurationMs } from '../../../shared/domain/time.ts';
import { RetryableError } from '../../../shared/errors.ts';
import type { ClusterWatch, WatchEvent } from '../../../shared/ports/cluster-watch.ts';
import type { KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';

export interface RemoteCluster {
  readonly api: ActorApi;
  /** The first write or watch that failed for another reason than what it was about being gone or changed. */
  failure(): Error | undefined;
  stop(): void;
}

const PAGE_LIMIT = 500;
const WATCH_SECONDS = 300;
const RECONNECT_AFTER = toDurationMs(200);

/** @param types that actors follow or read; they are mirrored when this resolves */
export async function mirrorCluster(
  kubernetes: KubernetesApi,
  watch: ClusterWatch,
  types: readonly ResourceType[],
): Promise<RemoteCluster> {
  const mirrors = new Map<string, Mirror>();
  const stopping = new AbortController();
  let failed: Error | undefined;
  const fail = (error: unknown): void => {
    if (!stopping.signal.aborted) failed ??= error instanceof Error ? error : new Error(String(error));
  };
  for (const type of types) {
    const mirror = new Mirror(type, watch, stopping.signal);
    mirrors.set(keyOf(type), mirror);
    const version = await mirror.list();
    void mirror.follow(version).catch(fail);
  }
  const mirrorOf = (type: ResourceType): Mirror => {
    const mirror = mirrors.get(keyOf(type));
    if (mirror === undefined) throw new Error(`${type.resource} are not mirrored`);
    return mirror;
  };

  let writes = Promise.resolve();
  const write = (call: () => Promise<unknown>): void => {
    // Gone or changed in the meantime: what actors take for an expected outcome.
    writes = writes.then(async () => {
      if (!stopping.signal.aborted) await call().catch(fail);
    });
  };

  const api: ActorApi = {
    get: ref => mirrorOf(ref.type).get(ref),
    list: (type, { namespace } = {}) => ({ resourceVersion: '', items: mirrorOf(type).items(namespace) }),
    watch: (type, _, deliver) => mirrorOf(type).subscribe(deliver),
    delete(ref, options = {}) {
      const object = mirrorOf(ref.type).get(ref);
      const { gracePeriodSeconds, preconditions = {} } = options;
      const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
      write(() => kubernetes.delete(ref, { preconditions, ...grace }));
      return object;
    },
    patch(ref, patch, options = {}) {
      const object = mirrorOf(ref.type).get(ref);
      if (patch.type !== 'merge' && patch.type !== 'json') throw new Error(`no ${patch.type} patch here`);
      const { subresource } = options;
      write(() => kubernetes.patch(ref, patch, subresource === undefined ? {} : { subresource }));
      return object;
    },
    create(type, manifest) {
      write(() => kubernetes.create(type, manifest));
      // Nobody reads the answer.
      return {
        ...manifest,
        metadata: { name: '', uid: '', resourceVersion: '', creationTimestamp: '', ...manifest.metadata },
      };
    },
    evict(ref, options = {}) {
      const { preconditions = {} } = options;
      write(() => kubernetes.evict(ref, { preconditions }));
      return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
    },
    update: () => {
      throw new Error('actors patch here');
    },
    resourceForKind: () => undefined,
  };
  return { api, failure: () => failed, stop: () => stopping.abort() };
}

const keyOf = ({ group, resource }: ResourceType): string => `${resource}.${group}`;

/** One resource, as its watch tells of it. */
class Mirror {
  readonly #type: ResourceType;
  readonly #watch: ClusterWatch;
  readonly #signal: AbortSignal;
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #subscribers = new Set<(event: CoreEvent) => void>();

  constructor(type: ResourceType, watch: ClusterWatch, signal: AbortSignal) {
    this.#type = type;
    this.#watch = watch;
    this.#signal = signal;
  }

  async list(): Promise<string> {
    const page = await this.#watch.list(this.#type, { limit: PAGE_LIMIT, signal: this.#signal });
    if (page.kind !== 'page') throw new Error(`${this.#type.resource} are not served`);
    for (const object of page.items) this.#objects.set(nameOf(object.metadata), object);
    return page.resourceVersion;
  }

  async follow(from: string): Promise<void> {
    let resourceVersion = from;
    for (;;) {
      const options = { resourceVersion, timeoutSeconds: WATCH_SECONDS, signal: this.#signal };
      try {
        for await (const event of this.#watch.watch(this.#type, options)) resourceVersion = this.#take(event);
      } catch (error) {
        // A definition that is new is not watched at once.
        if (!(error instanceof RetryableError)) throw error;
        await systemClock.sleep(RECONNECT_AFTER, this.#signal);
      }
    }
  }

  /** Answers the version to go on from. */
  #take(event: WatchEvent): string {
    if (event.type === 'BOOKMARK') return event.resourceVersion;
    const { object } = event;
    if (event.type === 'DELETED') this.#objects.delete(nameOf(object.metadata));
    else this.#objects.set(nameOf(object.metadata), object);
    for (const deliver of this.#subscribers) deliver({ type: event.type, object });
    return object.metadata.resourceVersion;
  }

  get(ref: ObjectRef): KubernetesObject {
    const object = this.#objects.get(nameOf(ref));
    if (object === undefined) throw notFound({ group: ref.type.group, name: ref.type.resource }, ref.name);
    return object;
  }

  items(namespace: string | undefined): readonly KubernetesObject[] {
    const all = [...this.#objects.values()];
    return namespace === undefined ? all : all.filter(({ metadata }) => metadata.namespace === namespace);
  }

  subscribe(deliver: (event: CoreEvent) => void): { stop(): void } {
    for (const object of this.#objects.values()) deliver({ type: 'ADDED', object });
    this.#subscribers.add(deliver);
    return { stop: () => this.#subscribers.delete(deliver) };
  }
}

const nameOf = ({ namespace = '', name }: { readonly namespace?: string; readonly name: string }): string =>
  `${namespace}/${name}`;
