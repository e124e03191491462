/** The cluster of the storm bench in a process of its own: nodes with pods, kubelets that stop pods at once, and the times of what is done. */
import { startEmbeddedCluster, type EmbeddedCluster } from '../../cli/start/embedded-cluster.ts';
import { createRealScheduler } from '../../runtime/real-scheduler.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { DRAIN_STATES, STATE_LABEL } from '../../shared/domain/quarantine.ts';
import { seconds } from '../../shared/domain/time.ts';
import { invariant } from '../../shared/errors.ts';
import { startKubelet } from '../../simulator/actors/kubelet.ts';
import { createCloud } from '../../simulator/cloud.ts';
import { answerQuestions } from '../measure/answering.ts';
import { CONFIG, nodeFor, podFor, sizeSchema, untilSchema } from './objects.ts';

const POLL = seconds(0.005);

let cluster: EmbeddedCluster | undefined;
let beginTime = 0;
let evictions = 0;
let lastEvictionTime = 0;
/** When each Node got the state of an ended drain. */
const ends = new Map<string, number>();

answerQuestions({
  async start(argument) {
    const { nodes, podsPerNode } = sizeSchema.parse(argument);
    cluster = await startEmbeddedCluster(systemClock, 0);
    const { core, url } = cluster;
    const scheduler = createRealScheduler();
    startKubelet({ core, scheduler, cloud: createCloud(scheduler) });
    core.seed(CONFIG);
    for (let node = 0; node < nodes; node++) {
      core.seed(nodeFor(node));
      for (let pod = 0; pod < podsPerNode; pod++) core.seed(podFor(node, pod));
    }
    core.observe(({ verb, resource, after }) => {
      if (verb === 'evict') {
        evictions += 1;
        lastEvictionTime = performance.now();
      }
      if (resource.kind !== 'Node' || after?.metadata.labels?.[STATE_LABEL] !== DRAIN_STATES.succeeded) return;
      if (!ends.has(after.metadata.name)) ends.set(after.metadata.name, performance.now());
    });
    return url;
  },

  begin() {
    invariant(cluster !== undefined, 'the cluster is started first');
    evictions = 0;
    ends.clear();
    beginTime = performance.now();
  },

  /** Milliseconds from `begin`: to the last of so many accepted evictions, and to the end of each drain. */
  async until(argument) {
    const { evicted, drained, withinMs } = untilSchema.parse(argument);
    const giveUp = performance.now() + withinMs;
    while (evictions < evicted || ends.size < drained) {
      if (performance.now() > giveUp) {
        throw new Error(`${evictions} of ${evicted} evictions, ${ends.size} of ${drained} drains in ${withinMs} ms`);
      }
      await systemClock.sleep(POLL);
    }
    return { evictedMs: lastEvictionTime - beginTime, endsMs: [...ends.values()].map(end => end - beginTime) };
  },
});
