/** The cluster of the storm bench in a process of its own, and the times of what is done. */
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { DRAIN_STATES, STATE_LABEL } from '../../shared/domain/quarantine.ts';
import { seconds } from '../../shared/domain/time.ts';
import { answerQuestions } from '../measure/answering.ts';
import { readUsage } from '../measure/usage.ts';
import { embeddedCluster, realCluster, type StormListener } from './clusters.ts';
import { CONFIG, nodeFor, podFor, startSchema, untilSchema } from './objects.ts';

const POLL = seconds(0.005);

let beginTime = 0;
let evictions = 0;
let lastEvictionTime = 0;
/** When each Node got the state of an ended drain. */
const ends = new Map<string, number>();

const listener: StormListener = {
  evicted() {
    evictions += 1;
    lastEvictionTime = performance.now();
  },
  node({ metadata: { name, labels } }) {
    if (labels?.[STATE_LABEL] === DRAIN_STATES.succeeded && !ends.has(name)) ends.set(name, performance.now());
  },
};

answerQuestions({
  usage: readUsage,

  /** Answers how to reach it. */
  async start(argument) {
    const { nodes, podsPerNode, controlPlane } = startSchema.parse(argument);
    const cluster = controlPlane ? await realCluster(listener) : await embeddedCluster(listener);
    await cluster.create([CONFIG]);
    const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
    await cluster.create(range(nodes).map(nodeFor));
    await cluster.create(range(nodes).flatMap(node => range(podsPerNode).map(pod => podFor(node, pod))));
    return cluster.access;
  },

  begin() {
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
