/** Forwarder and functions in one process, with records in memory: as many runs of a function at once as are deployed. */
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { createRealScheduler } from '../../runtime/real-scheduler.ts';
import { createSystem } from '../../runtime/system.ts';
import { createClusterWatch } from '../../shared/adapters/kubernetes/cluster-watch.ts';
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import type { Transport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { MAX_CONCURRENCY } from '../../shared/contract/inbox.ts';
import { HEALTH_EVENT, FUNCTION_NAMES, type FunctionName } from '../../shared/contract/names.ts';
import { addDuration, minutes, seconds } from '../../shared/domain/time.ts';
import type { Instances } from '../../shared/ports/instances.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { FORWARDER_USER, userOf } from '../../test/control-plane/end-to-end/curfew-on-cluster.ts';
import { answerQuestions } from '../measure/answering.ts';
import { readUsage } from '../measure/usage.ts';
import { connect } from './connect.ts';
import { accessSchema, drainSchema, nodeNameFor } from './objects.ts';

const noCloud = () => Promise.reject(new Error('there is no cloud'));
const NO_INSTANCES: Instances = {
  describe: noCloud,
  checkOf: noCloud,
  list: noCloud,
  terminate: noCloud,
  reboot: noCloud,
  terminateInAutoScalingGroup: noCloud,
};
const POLL = seconds(0.005);
/** Wake-ups that lie ahead stay in inboxes. */
const FIRST_LOOKS_MAX = minutes(1);
const [access = ''] = process.argv.slice(2);
const transports = new Map<string, Transport>();
const transportOf = (user: string): Transport => {
  const transport = transports.get(user) ?? connect(accessSchema.parse(JSON.parse(access)), user);
  transports.set(user, transport);
  return transport;
};
const apis = new Map<FunctionName, KubernetesApi>();
/** As `npm start -- --kubeconfig` puts it together. */
const apiOf = (name: FunctionName): KubernetesApi => {
  const api = apis.get(name) ?? createKubernetesApi(transportOf(userOf(name)));
  apis.set(name, api);
  return api;
};
const store = createMemoryRecordStore();
let requests = 0;
const system = createSystem({
  cluster: 'storm',
  scheduler: createRealScheduler(),
  kubernetes: apiOf,
  watch: createClusterWatch(transportOf(FORWARDER_USER)),
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
    // What is published at the start is none of the storm, whichever function looks at it.
    const isBusy = (): boolean =>
      !system.forwarder.ready().ready || FUNCTION_NAMES.some(name => system.depth(name) > 0);
    const end = addDuration(systemClock.now(), FIRST_LOOKS_MAX);
    while (isBusy() && systemClock.now() < end) await systemClock.sleep(POLL);
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
