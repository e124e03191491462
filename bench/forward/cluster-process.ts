/** The cluster of the forward bench, in a process of its own: the API server (or the writer to a real one) and the bus. */
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { invariant } from '../../shared/errors.ts';
import { answerQuestions } from '../measure/answering.ts';
import { startBusEndpoint } from './bus-endpoint.ts';
import { startEmbedded, startReal, type Cluster } from './clusters.ts';
import { CREATION_TIME, nodeManifest } from './objects.ts';
import { nextBatch } from './pacing.ts';
import { podManifest, podStatus } from './pods.ts';
import { comparePublished } from './published.ts';
import { workload, type Step } from './workload.ts';

const sizeSchema = z.object({ nodes: z.number(), pods: z.number() });
const startSchema = sizeSchema.extend({ controlPlane: z.boolean() });
const playSchema = sizeSchema.extend({ run: z.number(), compression: z.number() });

const PACE_MS = 5;

let cluster: Cluster | undefined;
let done = 0;
const bus = await startBusEndpoint();

answerQuestions({
  async start(argument) {
    const { controlPlane, ...size } = startSchema.parse(argument);
    cluster = controlPlane ? await startReal() : await startEmbedded();
    await cluster.populate(size, populated => (done = populated));
    const pod = podManifest({ index: 1, generation: 0, nodes: size.nodes, annotated: false });
    return {
      kubeconfig: cluster.kubeconfig,
      busUrl: bus.url,
      nodeBytes: JSON.stringify(nodeManifest(1)).length,
      podBytes: JSON.stringify({ ...pod, status: podStatus(1, CREATION_TIME) }).length,
    };
  },

  /** Objects made, or steps carried out. */
  progress: () => done,

  /** Carries a run of the workload out and forgets what the bus took before. */
  async play(argument) {
    const { run, compression, ...size } = playSchema.parse(argument);
    const steps = workload(size, run);
    bus.takeCounts();
    const startTime = performance.now();
    await play(steps, compression);
    return { writes: steps.length, durationMs: performance.now() - startTime };
  },

  /** What the bus took since the run began. */
  published(argument) {
    const { run, ...size } = sizeSchema.extend({ run: z.number() }).parse(argument);
    return comparePublished(workload(size, run), bus.takeCounts());
  },
});

/** Carries the steps out at their times, `compression` times as fast. */
async function play(steps: readonly Step[], compression: number): Promise<void> {
  invariant(cluster !== undefined, 'a cluster is started first');
  const startTime = performance.now();
  done = 0;
  while (done < steps.length) {
    const batch = nextBatch(steps, done, (performance.now() - startTime) * compression);
    await cluster.write(batch.map(step => step.write()));
    done += batch.length;
    // Between two batches the event loop sends what was written.
    await sleep(batch.length === 0 ? PACE_MS : 0);
  }
}
