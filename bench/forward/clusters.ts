/** The two clusters that the workload runs on: the embedded API server in this process, and a real control plane. */
import { setImmediate } from 'node:timers/promises';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { serveApiServer } from '../../packages/kube-apiserver/src/http/server.ts';
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { loadKubeconfig } from '../../shared/adapters/kubernetes/kubeconfig.ts';
import { createTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, seconds } from '../../shared/domain/time.ts';
import { startControlPlane } from '../../test/control-plane/start.ts';
import { CREATION_TIME, NAMESPACE, nodeConditions, nodeManifest } from './objects.ts';
import { podManifest, podStatus } from './pods.ts';
import { isAnnotated, type ClusterSize, type Write } from './workload.ts';

export interface Cluster {
  /** Text of a kubeconfig file, or the path of one. */
  readonly kubeconfig: { readonly text: string } | { readonly path: string };
  /** Makes all nodes and pods, running. */
  populate(size: ClusterSize, onProgress: (done: number) => void): Promise<void>;
  /** Carries writes out, none of which depends on another one of them. Rejects when one is refused. */
  write(writes: readonly Write[]): Promise<void>;
}

/** Watch events that a client may lag behind before its watch has to start over: none must, here. */
const WATCH_HISTORY = 200_000;
const MAX_UNSENT_BYTES = 1024 ** 3;

export async function startEmbedded(): Promise<Cluster> {
  const core = createApiServer({ clock: systemClock, random: Math.random, watchHistory: WATCH_HISTORY });
  const served = await serveApiServer(core, { now: () => systemClock.now(), maxUnsentBytes: MAX_UNSENT_BYTES });
  const writeOne = (write: Write): void => {
    switch (write.kind) {
      case 'create':
        core.create(write.type, write.manifest, { namespace: NAMESPACE });
        return;
      case 'patch':
        core.patch(
          write.ref,
          { type: 'merge', body: write.body },
          write.subresource === undefined ? {} : { subresource: write.subresource },
        );
        return;
      case 'delete':
        core.delete(write.ref, { gracePeriodSeconds: write.gracePeriodSeconds });
        return;
      default:
        write satisfies never;
    }
  };
  return {
    kubeconfig: { text: served.kubeconfig() },
    async populate(size, onProgress) {
      let done = 0;
      for (const { manifest, status } of objectsOf(size)) {
        core.seed(status === undefined ? manifest : { ...manifest, status });
        if (manifest.kind === 'Node') writeOne(firstPost(manifest));
        done += 1;
        onProgress(done);
        // Requests for the progress are answered in between.
        if (done % 1000 === 0) await setImmediate();
      }
    },
    async write(writes) {
      for (const write of writes) writeOne(write);
    },
  };
}

/** Writes at once to the real API server. */
const CONCURRENCY = 32;

export async function startReal(): Promise<Cluster> {
  const controlPlane = await startControlPlane();
  const { options } = await loadKubeconfig(controlPlane.adminKubeconfig);
  const transport = createTransport({
    ...options,
    clock: systemClock,
    userAgent: 'curfew-bench',
    requestTimeout: seconds(60),
  });
  const kubernetes = createKubernetesApi(transport);

  const outcomeOf = (write: Write): Promise<{ readonly kind: string }> => {
    switch (write.kind) {
      case 'create':
        return kubernetes.create(write.type, withoutOwners(write.manifest));
      case 'patch':
        return kubernetes.patch(
          write.ref,
          { type: 'merge', body: write.body },
          write.subresource === undefined ? {} : { subresource: write.subresource },
        );
      case 'delete':
        return kubernetes.delete(write.ref, { preconditions: {}, gracePeriodSeconds: write.gracePeriodSeconds });
      default:
        return write satisfies never;
    }
  };
  const writeOne = async (write: Write): Promise<void> => {
    const outcome = await outcomeOf(write);
    if (outcome.kind !== 'ok') throw new Error(`${write.kind}: ${JSON.stringify(outcome)}`);
  };
  /** Several at a time; each job is one object's writes in their order. */
  const inParallel = async (jobs: Iterable<readonly Write[]>, onDone: () => void): Promise<void> => {
    const iterator = jobs[Symbol.iterator]();
    const worker = async (): Promise<void> => {
      for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
        for (const write of next.value) await writeOne(write);
        onDone();
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  };
  return {
    kubeconfig: { path: controlPlane.adminKubeconfig },
    async populate(size, onProgress) {
      let done = 0;
      await inParallel(creations(size), () => onProgress((done += 1)));
    },
    async write(writes) {
      await inParallel(
        writes.map(write => [write]),
        () => undefined,
      );
    },
  };
}

/** The real garbage collector deletes pods of a ReplicaSet that is not there. */
function withoutOwners(manifest: KubernetesManifest): KubernetesManifest {
  const { ownerReferences: _, ...metadata } = manifest.metadata;
  return { ...manifest, metadata };
}

interface SeededObject {
  readonly manifest: KubernetesManifest;
  /** A pod's; a node brings its own. */
  readonly status?: ReturnType<typeof podStatus>;
}

function* objectsOf({ nodes, pods }: ClusterSize): Generator<SeededObject, void, undefined> {
  for (let index = 0; index < nodes; index += 1) yield { manifest: nodeManifest(index) };
  for (let index = 0; index < pods; index += 1) {
    const manifest = podManifest({ index, generation: 0, nodes, annotated: isAnnotated(index) });
    yield { manifest, status: podStatus(index, CREATION_TIME) };
  }
}

/** A kubelet has posted its node's status before: the API server knows it as the manager of those fields. */
function firstPost({ metadata }: KubernetesManifest): Write {
  const status = {
    conditions: [
      ...nodeConditions({
        heartbeatTime: addDuration(CREATION_TIME, minutes(1)),
        ready: 'True',
        transitionTime: CREATION_TIME,
      }),
    ],
  };
  const ref = { type: RESOURCES.Node, name: metadata.name ?? '' };
  return { kind: 'patch', ref, body: { status }, subresource: 'status' };
}

/** The API server drops the status of a pod that is created; a node's it takes. */
function* creations(size: ClusterSize): Generator<readonly Write[], void, undefined> {
  for (const { manifest, status } of objectsOf(size)) {
    const type = manifest.kind === 'Node' ? RESOURCES.Node : RESOURCES.Pod;
    const create: Write = { kind: 'create', type, manifest };
    if (status === undefined) yield [create, firstPost(manifest)];
    else {
      const ref = { type, namespace: NAMESPACE, name: manifest.metadata.name ?? '' };
      yield [create, { kind: 'patch', ref, body: { status }, subresource: 'status' }];
    }
  }
}
