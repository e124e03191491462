/** Forwarder and functions in one process, with records in memory: as many runs of a function at once as are deployed. */
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { createRealScheduler } from '../../runtime/real-scheduler.ts';
import { createSystem } from '../../runtime/system.ts';
import { createClusterWatch } from '../../shared/adapters/kubernetes/cluster-watch.ts';
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { MAX_CONCURRENCY } from '../../shared/contract/inbox.ts';
import { HEALTH_EVENT } from '../../shared/contract/names.ts';
import { seconds } from '../../shared/domain/time.ts';
import type { Instances } from '../../shared/ports/instances.ts';
import { answerQuestions } from '../measure/answering.ts';
import { readUsage } from '../measure/usage.ts';
import { drainSchema, nodeNameFor } from './objects.ts';

const noCloud = () => Promise.reject(new Error('there is no cloud'));
const NO_INSTANCES: Instances = {
  describe: noCloud,
  list: noCloud,
  terminate: noCloud,
  reboot: noCloud,
  terminateInAutoScalingGroup: noCloud,
};
const POLL = seconds(0.005);
const [server = ''] = process.argv.slice(2);
const transport = createTransport({ server, clock: systemClock, userAgent: 'curfew' });
const kubernetes = createKubernetesApi(transport);
const store = createMemoryRecordStore();
let requests = 0;
const system = createSystem({
  cluster: 'storm',
  scheduler: createRealScheduler(),
  kubernetes: () => kubernetes,
  watch: createClusterWatch(transport),
  records: store,
  dueIndex: store,
  instances: () => NO_INSTANCES,
  audit: { write: () => undefined },
  random: Math.random,
  inboxes: { concurrency: MAX_CONCURRENCY },
});

answerQuestions({
  usage: readUsage,

  async ready() {
    system.start();
    // What is published at the start is none of the storm.
    while (!system.forwarder.ready().ready || system.depth('drain') > 0) await systemClock.sleep(POLL);
  },

  drain(argument) {
    const { from, to } = drainSchema.parse(argument);
    for (let node = from; node < to; node++) {
      requests += 1;
      system.publish({
        source: 'bench',
        'detail-type': HEALTH_EVENT,
        detail: { id: `e-${requests}`, nodeName: nodeNameFor(node), isFatal: true },
      });
    }
  },
});
