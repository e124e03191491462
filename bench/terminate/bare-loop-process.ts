/**
 * The reference: a loop that watches NodeClaims and terminates each that is being deleted by the same calls, and nothing else. No
 * protection, no budget, no record, no second look, no Event: the least that a termination can cost.
 */
import { AutoScalingClient } from '@aws-sdk/client-auto-scaling';
import { EC2Client } from '@aws-sdk/client-ec2';
import { createInstances } from '../../shared/adapters/ec2/instances.ts';
import { createClusterWatch } from '../../shared/adapters/kubernetes/cluster-watch.ts';
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { DISRUPTED_TAINT } from '../../shared/domain/drainable-pod.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { readNodeClaim } from '../../shared/domain/node-claim.ts';
import { answerQuestions } from '../measure/answering.ts';
import { FINALIZERS, NAMESPACE } from './objects.ts';
import { objectsOf } from '../../shared/ports/read-answer.ts';

const [server = ''] = process.argv.slice(2);
const transport = createTransport({ server, clock: systemClock, userAgent: 'bare-loop' });
const watch = createClusterWatch(transport);
const kubernetes = createKubernetesApi(transport);
const instances = createInstances({
  ec2: new EC2Client({}),
  autoScaling: new AutoScalingClient({}),
  clusterName: 'bench',
});
const { signal } = new AbortController();
const AT_ONCE = 10;
const begun = new Set<string>();
let watching = false;

answerQuestions({ ready: () => watching });

const page = await watch.list(RESOURCES.NodeClaim, { limit: 500, signal });
if (page.kind !== 'page') throw new Error('NodeClaims are not served');
let { resourceVersion } = page;
for (;;) {
  watching = true;
  for await (const event of watch.watch(RESOURCES.NodeClaim, { resourceVersion, timeoutSeconds: 300, signal })) {
    if (event.type === 'BOOKMARK') {
      ({ resourceVersion } = event);
      continue;
    }
    const { metadata } = event.object;
    ({ resourceVersion } = metadata);
    const isOurs = metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(FINALIZERS.bare) === true;
    if (event.type !== 'MODIFIED' || !isOurs || begun.has(metadata.uid)) continue;
    begun.add(metadata.uid);
    await terminate(event.object);
  }
}

async function terminate(claim: KubernetesObject): Promise<void> {
  const { name } = claim.metadata;
  const node = { type: RESOURCES.Node, name };
  await kubernetes.delete(node, { preconditions: {} });
  await kubernetes.patch(node, { type: 'merge', body: { spec: { taints: [{ ...DISRUPTED_TAINT }] } } });
  await drain(name);
  await kubernetes.list(RESOURCES.VolumeAttachment);
  const { providerID = '' } = readNodeClaim(claim);
  await instances.describe(providerID);
  await instances.terminate(providerID);
  while ((await instances.describe(providerID))?.state !== 'terminated');
  for (const type of [RESOURCES.Node, RESOURCES.NodeClaim]) {
    await kubernetes.patch({ type, name }, { type: 'merge', body: { metadata: { finalizers: null } } });
  }
}

/** Evicts the pods and lists them until they are gone. */
async function drain(nodeName: string): Promise<void> {
  const podsLeft = async () =>
    objectsOf(await kubernetes.list(RESOURCES.Pod, { fieldSelector: `spec.nodeName=${nodeName}` }), {
      ifNotServed: 'throw',
    });
  const pods = await podsLeft();
  for (let start = 0; start < pods.length; start += AT_ONCE) {
    const batch = pods.slice(start, start + AT_ONCE);
    await Promise.all(
      batch.map(({ metadata: { name, uid } }) =>
        kubernetes.evict({ type: RESOURCES.Pod, namespace: NAMESPACE, name }, { preconditions: { uid } }),
      ),
    );
  }
  while ((await podsLeft()).length > 0);
}
