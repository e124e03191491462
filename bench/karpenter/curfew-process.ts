/** Curfew in one process, as Karpenter is one: each part with its own token and permissions, records in memory. */
import * as z from 'zod';
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { createRealScheduler } from '../../runtime/real-scheduler.ts';
import { createSystem } from '../../runtime/system.ts';
import { createClusterWatch } from '../../shared/adapters/kubernetes/cluster-watch.ts';
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import type { Transport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { FUNCTION_NAMES, type FunctionName } from '../../shared/contract/names.ts';
import { addDuration, seconds } from '../../shared/domain/time.ts';
import { messageOf } from '../../shared/errors.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { connectAs, FORWARDER_USER, userOf } from '../../test/control-plane/end-to-end/curfew-on-cluster.ts';
import { answerQuestions } from '../measure/answering.ts';
import { readUsage } from '../measure/usage.ts';

const startSchema = z.object({ server: z.string(), ca: z.string(), tokens: z.record(z.string(), z.string()) });
const POLL_PERIOD = seconds(1);
/** Wake-ups that lie ahead stay in inboxes. */
const FIRST_LOOKS_MAX = seconds(30);
const problems: string[] = [];

answerQuestions({
  async start(argument) {
    const { server, ca, tokens } = startSchema.parse(argument);
    const transports = new Map<string, Transport>();
    const transportOf = (user: string): Transport => {
      const known = transports.get(user) ?? connectAs(user, { server, ca, token: tokens[user] ?? '' });
      transports.set(user, known);
      return known;
    };
    const apis = new Map<FunctionName, KubernetesApi>();
    const readsOf = (by: FunctionName): KubernetesApi => {
      const api = apis.get(by) ?? createKubernetesApi(transportOf(userOf(by)));
      apis.set(by, api);
      return api;
    };
    const store = createMemoryRecordStore();
    const noCloud = () => Promise.reject(new Error('Karpenter ends the instances here'));
    const system = createSystem({
      cluster: 'bench',
      scheduler: createRealScheduler(),
      kubernetes: readsOf,
      watch: createClusterWatch(transportOf(FORWARDER_USER)),
      records: store,
      dueIndex: store,
      instances: () => ({
        describe: noCloud,
        checkOf: noCloud,
        list: noCloud,
        terminate: noCloud,
        reboot: noCloud,
        terminateInAutoScalingGroup: noCloud,
      }),
      audit: { write: () => undefined },
      random: Math.random,
      hooks: {
        onBuried: ({ function: name, explanation }) => problems.push(`${name}: ${explanation}`),
        onFailed: (name, error) => problems.push(`${name}: ${messageOf(error)}`),
      },
    });
    system.start();
    // As Karpenter's caches are full when it is ready: everything that is there has been looked at.
    const isBusy = (): boolean =>
      !system.forwarder.ready().ready || FUNCTION_NAMES.some(name => system.depth(name) > 0);
    const end = addDuration(systemClock.now(), FIRST_LOOKS_MAX);
    do await systemClock.sleep(POLL_PERIOD);
    while (isBusy() && systemClock.now() < end);
  },
  problems: () => problems,
  usage: () => readUsage(),
});
