/**
 * Publishes the pods of watched nodes, and what can hold them: PodDisruptionBudgets and VolumeAttachments.
 *
 * Pods come out of the one watch of all pods, which runs anyway for the annotated ones. A watch per node would cost the API server a
 * connection and a filter each, and would save the forwarder nothing. What that watch dropped before the node was watched is made
 * up for by one list of the node's pods, which is remembered and not published; annotated pods are left to that watch. Then
 * `podsWatched` on the Node says: look now, from here on every change is published. Budgets and attachments are watched only while some
 * node is.
 */
import { RESOURCES } from '../shared/contract/resources.ts';
import type { KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import type { DurationMs } from '../shared/domain/time.ts';
import { messageOf } from '../shared/errors.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { ClusterWatch } from '../shared/ports/cluster-watch.ts';
import { backoffDelay, type BackoffRange, type RandomSource } from './backoff.ts';
import { inBackground, pauseFor } from './keep-going.ts';
import type { Log } from './log.ts';
import { guardInactivity, orAborted } from './inactivity.ts';
import { createWatchedNodes, type WatchedNodes } from './watched-nodes.ts';

export interface NodePodsSettings {
  /** Budgets and attachments stay watched for so long after the last node: terminations come one after the other. */
  readonly linger: DurationMs;
  /** The longest that `podsWatched` waits for the watches of budgets and attachments. */
  readonly readyWithin: DurationMs;
  readonly listTimeout: DurationMs;
  readonly backoff: BackoffRange;
}

/** A watch that is switched on and off. */
export interface SwitchedWatch {
  start(): void;
  stop(): void;
  /** Resolves once what exists is known, or the resource is not served. Rejects when `signal` aborts first. */
  known(signal: AbortSignal): Promise<void>;
}

export interface NodePodsDeps {
  readonly watch: ClusterWatch;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: RandomSource | undefined;
  readonly settings: NodePodsSettings;
  /** Remembers a pod as if it had been published, unless it is known or matters by itself. */
  readonly seed: (pod: KubernetesObject) => void;
  /** Forgets what was of interest only on this node. */
  readonly release: (nodeName: string) => void;
  readonly drainWatches: readonly SwitchedWatch[];
  /** From now on the pods of this node are published. */
  readonly onWatched: (nodeName: string, signal: AbortSignal) => Promise<void>;
}

export interface NodePods {
  readonly nodes: WatchedNodes;
  /** Acts on what `nodes` reports, until `signal` aborts. */
  start(signal: AbortSignal): void;
}

/** Nodes that are added before `start`, or after its signal aborts, get no watch. */
export function createNodePods(deps: NodePodsDeps): NodePods {
  const { clock, log, settings, drainWatches } = deps;
  const running = new Map<string, AbortController>();
  let lingering: AbortController | undefined;
  let whole: AbortSignal | undefined;

  async function stopLater(signal: AbortSignal): Promise<void> {
    await clock.sleep(settings.linger, signal);
    for (const watch of drainWatches) watch.stop();
    lingering = undefined;
  }

  const nodes = createWatchedNodes({
    added(name) {
      if (whole === undefined || whole.aborted) return;
      lingering?.abort(new Error('another node is watched'));
      lingering = undefined;
      for (const watch of drainWatches) watch.start();
      const child = new AbortController();
      running.set(name, child);
      void publishPods(deps, name, child.signal);
    },
    // A function that joins has missed what was published to the others alone.
    joined(name) {
      const child = running.get(name);
      if (child === undefined) return;
      inBackground(deps.onWatched(name, child.signal), child.signal, log, 'telling that pods are watched failed');
    },
    removed(name) {
      running.get(name)?.abort(new Error(`${name} is not watched any more`));
      running.delete(name);
      deps.release(name);
      if (running.size > 0 || whole === undefined || whole.aborted) return;
      lingering = new AbortController();
      inBackground(stopLater(lingering.signal), lingering.signal, log, 'ending the watches of drains failed');
    },
  });

  return {
    nodes,
    start(signal) {
      whole = signal;
      // One listener for all nodes: each that is added to a signal is compared with all others, and so is whatever else waits on it.
      const end = (): void => [...running.values(), lingering].forEach(child => child?.abort(signal.reason));
      signal.addEventListener('abort', end, { once: true });
    },
  };
}

/** Lists the node's pods until that works, and says then that they are published. */
async function publishPods(deps: NodePodsDeps, nodeName: string, signal: AbortSignal): Promise<void> {
  const { clock, log, random, settings } = deps;
  for (let failures = 0; !signal.aborted;) {
    try {
      await listPods(deps, nodeName, signal);
      await drainWatchesKnown(deps, signal);
      await deps.onWatched(nodeName, signal);
      return;
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      log.warn({ nodeName, failures, error: messageOf(error) }, 'listing the pods of a node failed');
      await pauseFor(backoffDelay(failures, settings.backoff, random), clock, signal);
    }
  }
}

async function listPods(
  { watch, clock, settings, seed }: NodePodsDeps,
  nodeName: string,
  signal: AbortSignal,
): Promise<void> {
  const guard = guardInactivity(clock, settings.listTimeout, signal, `listing the pods of ${nodeName}`);
  try {
    // Without a limit: see LIST_PAGE_LIMIT in the adapter of the functions.
    const selection = { fieldSelector: `spec.nodeName=${nodeName}` };
    const page = await orAborted(watch.list(RESOURCES.Pod, { selection, signal: guard.signal }), guard.signal);
    if (page.kind === 'page') for (const pod of page.items) seed(pod);
  } finally {
    guard.dispose();
  }
}

async function drainWatchesKnown(
  { clock, log, settings, drainWatches }: NodePodsDeps,
  signal: AbortSignal,
): Promise<void> {
  const guard = guardInactivity(clock, settings.readyWithin, signal, 'listing budgets and attachments');
  try {
    await Promise.all(drainWatches.map(watch => watch.known(guard.signal)));
  } catch (error) {
    if (signal.aborted) throw error;
    log.warn({ error: messageOf(error) }, 'pods are watched, what can hold them is not yet');
  } finally {
    guard.dispose();
  }
}
