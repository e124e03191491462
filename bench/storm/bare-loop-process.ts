/** The reference: evicts every pod, ten at a time. No protection, no configuration, no record, no Event: the least that a drain can cost. */
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { answerQuestions } from '../measure/answering.ts';
import { readUsage } from '../measure/usage.ts';
import { NAMESPACE } from './objects.ts';

const AT_ONCE = 10;
const [server = ''] = process.argv.slice(2);
const kubernetes = createKubernetesApi(createTransport({ server, clock: systemClock, userAgent: 'bare-loop' }));
let pods: { readonly name: string; readonly uid: string }[] = [];

answerQuestions({
  usage: readUsage,

  async ready() {
    const all = (await kubernetes.list(RESOURCES.Pod)) ?? [];
    pods = all.map(({ metadata: { name, uid } }) => ({ name, uid }));
  },

  async evict() {
    const worker = async (): Promise<void> => {
      for (let pod = pods.pop(); pod !== undefined; pod = pods.pop()) {
        const ref = { type: RESOURCES.Pod, namespace: NAMESPACE, name: pod.name };
        await kubernetes.evict(ref, { preconditions: { uid: pod.uid } });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  },
});
