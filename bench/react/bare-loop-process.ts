/**
 * The reference: a loop that watches nodes and deletes the NodeClaim of each that is not ready, with nothing in between. No toleration,
 * no threshold, no record, no second look: it is what nobody should run, and the least that a reaction can cost.
 */
import { createClusterWatch } from '../../shared/adapters/kubernetes/cluster-watch.ts';
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { readNode } from '../../shared/domain/node.ts';
import { answerQuestions } from '../measure/answering.ts';
import { REACTOR_LABEL } from './objects.ts';

const [server = ''] = process.argv.slice(2);
const transport = createTransport({ server, clock: systemClock, userAgent: 'bare-loop' });
const watch = createClusterWatch(transport);
const kubernetes = createKubernetesApi(transport);
const { signal } = new AbortController();
let watching = false;

answerQuestions({ ready: () => watching });

const page = await watch.list(RESOURCES.Node, { limit: 500, signal });
if (page.kind !== 'page') throw new Error('nodes are not served');
let { resourceVersion } = page;
for (;;) {
  watching = true;
  const selection = { labelSelector: REACTOR_LABEL };
  for await (const event of watch.watch(RESOURCES.Node, { selection, resourceVersion, timeoutSeconds: 300, signal })) {
    if (event.type === 'BOOKMARK') {
      ({ resourceVersion } = event);
      continue;
    }
    ({ resourceVersion } = event.object.metadata);
    if (event.type === 'MODIFIED' && !isReady(event.object)) {
      await kubernetes.delete({ type: RESOURCES.NodeClaim, name: event.object.metadata.name }, { preconditions: {} });
    }
  }
}

function isReady(object: KubernetesObject): boolean {
  return readNode(object).conditions.every(({ type, status }) => type !== 'Ready' || status === 'True');
}
