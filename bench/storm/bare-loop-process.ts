/** The reference: evicts every pod, as many at a time as Curfew. No protection, no configuration, no record, no Event: the least that a drain can cost. */
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { MAX_CONCURRENCY } from '../../shared/contract/inbox.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { userOf } from '../../test/control-plane/end-to-end/curfew-on-cluster.ts';
import { CALLS_AT_ONCE } from '../../shared/cluster/in-parallel.ts';
import { answerQuestions } from '../measure/answering.ts';
import { readUsage } from '../measure/usage.ts';
import { connect } from './connect.ts';
import { accessSchema, NAMESPACE } from './objects.ts';
import { objectsOf } from '../../shared/ports/read-answer.ts';

/** As many as the runs of the drain function at the same time have under way together. */
const AT_ONCE = MAX_CONCURRENCY * CALLS_AT_ONCE;
const [access = ''] = process.argv.slice(2);
const kubernetes = createKubernetesApi(connect(accessSchema.parse(JSON.parse(access)), userOf('drain')));
let pods: { readonly name: string; readonly uid: string }[] = [];

answerQuestions({
  usage: readUsage,

  async ready() {
    const all = objectsOf(await kubernetes.list(RESOURCES.Pod), { ifNotServed: 'throw' });
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
