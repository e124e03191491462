/** The cluster of the react bench in a process of its own: it breaks a node and waits until its NodeClaim's deletion is accepted. */
import { once } from 'node:events';
import { EventEmitter } from 'node:events';
import * as z from 'zod';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { RESOURCES, type KnownKind } from '../../shared/contract/resources.ts';
import { CONFIG_MAP } from '../../shared/contract/names.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { invariant } from '../../shared/errors.ts';
import { answerQuestions } from '../measure/answering.ts';
import { startEmbeddedCluster, startRealCluster, type BenchCluster } from './cluster.ts';
import {
  nodeClaimFor,
  nodeClaimStatus,
  nodeFor,
  nodeNameFor,
  nodeStatus,
  REACTORS,
  settingsObjects,
  type Reactor,
} from './objects.ts';

/** Longer than any reaction may take: a wake-up that was lost comes with the next tick. */
const REACTION_TIMEOUT_MS = 90_000;

const sampleSchema = z.object({ reactor: z.enum(REACTORS), index: z.number() });

let cluster: BenchCluster | undefined;
/** The repair function's requests in the current sample, with the time of each. */
let looks: number[] = [];
const deletions = new EventEmitter();

answerQuestions({
  async start(argument) {
    const { controlPlane } = z.object({ controlPlane: z.boolean() }).parse(argument);
    cluster = controlPlane
      ? await startRealCluster()
      : await startEmbeddedCluster(({ user }) => {
          if (user === 'curfew-repair') looks.push(performance.now());
        });
    await create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: CONFIG_MAP.namespace } });
    for (const manifest of settingsObjects()) await create(manifest);
    await followDeletions(cluster);
    return { url: cluster.url, kubeconfig: cluster.kubeconfig };
  },

  /** Makes the node and its NodeClaim, healthy. */
  async prepare(argument) {
    const { reactor, index } = sampleSchema.parse(argument);
    const { kubernetes } = started();
    await create(nodeClaimFor(reactor, index));
    const name = nodeNameFor(reactor, index);
    const status = nodeClaimStatus(reactor, index);
    await kubernetes.patch({ type: RESOURCES.NodeClaim, name }, merge(status), { subresource: 'status' });
    await create(nodeFor(reactor, index));
    await setReady(reactor, index, 'True');
  },

  /** Breaks it. Answers milliseconds from the write that does. */
  async react(argument) {
    const { reactor, index } = sampleSchema.parse(argument);
    const name = nodeNameFor(reactor, index);
    const deleted = once(deletions, name, { signal: AbortSignal.timeout(REACTION_TIMEOUT_MS) });
    looks = [];
    const startTime = performance.now();
    await setReady(reactor, index, 'Unknown');
    const [endTime] = z.tuple([z.number()]).parse(await deleted);
    const [firstLook] = looks;
    return {
      reactionMs: endTime - startTime,
      ...(firstLook !== undefined && { firstLookMs: firstLook - startTime }),
      requests: looks.filter(time => time <= endTime).length,
    };
  },

  /** Takes the node away, so that nobody has to do with it any more. */
  async clear(argument) {
    const { reactor, index } = sampleSchema.parse(argument);
    await started().kubernetes.delete(
      { type: RESOURCES.Node, name: nodeNameFor(reactor, index) },
      { preconditions: {} },
    );
  },
});

function started(): BenchCluster {
  invariant(cluster !== undefined, 'the cluster is started first');
  return cluster;
}

const merge = (status: ReturnType<typeof nodeStatus>) => ({ type: 'merge', body: { status } }) as const;

async function setReady(reactor: Reactor, index: number, ready: 'True' | 'Unknown'): Promise<void> {
  const ref = { type: RESOURCES.Node, name: nodeNameFor(reactor, index) };
  const status = nodeStatus(ready, systemClock.now());
  const outcome = await started().kubernetes.patch(ref, merge(status), { subresource: 'status' });
  if (outcome.kind !== 'ok') throw new Error(`${ref.name} cannot be changed: ${outcome.kind}`);
}

async function create(manifest: KubernetesManifest): Promise<void> {
  const types: Readonly<Partial<Record<string, (typeof RESOURCES)[KnownKind]>>> = RESOURCES;
  const type = types[manifest.kind] ?? { group: '', version: 'v1', resource: 'namespaces' };
  const outcome = await started().kubernetes.create(type, manifest);
  if (outcome.kind !== 'ok' && outcome.kind !== 'exists') {
    throw new Error(`${manifest.kind} ${manifest.metadata.name} cannot be made: ${JSON.stringify(outcome)}`);
  }
}

/** Tells of every NodeClaim whose deletion the API server has accepted. */
async function followDeletions({ watch }: BenchCluster): Promise<void> {
  const { signal } = new AbortController();
  const page = await watch.list(RESOURCES.NodeClaim, { limit: 500, signal });
  invariant(page.kind === 'page', 'NodeClaims are served');
  void (async () => {
    let { resourceVersion } = page;
    for (;;) {
      const events = watch.watch(RESOURCES.NodeClaim, { resourceVersion, timeoutSeconds: 3600, signal });
      for await (const event of events) {
        const now = performance.now();
        if (event.type === 'BOOKMARK') continue;
        ({ resourceVersion } = event.object.metadata);
        const { name, deletionTimestamp } = event.object.metadata;
        if (event.type === 'DELETED' || deletionTimestamp !== undefined) deletions.emit(name, now);
      }
    }
  })();
}
