/** Grace periods: what two runs on one node may get in each other's way with. */
import type { JsonObject, KubernetesManifest } from '../../../shared/domain/kubernetes-object.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { minutes, parseTimestamp, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import { invariant } from '../../../shared/errors.ts';
import { WORLD } from '../explored-cluster.ts';
import { clusterEvent, wakeUpOfNode } from '../messages.ts';
import type { Change, Message, Situation } from '../situation.ts';

const START = instant('2024-11-01T15:00:00Z');
const DO_NOT_DISRUPT = 'karpenter.sh/do-not-disrupt';

function instant(text: string): EpochMs {
  const time = parseTimestamp(text);
  invariant(time !== undefined, `${text} is a timestamp`);
  return time;
}

const NAMESPACE: KubernetesManifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'prod' } };
const POOL: KubernetesManifest = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: 'default', uid: 'uid-default' },
};

const node = (uid = 'uid-n1'): KubernetesManifest => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', uid, labels: { 'karpenter.sh/nodepool': 'default' } },
});

const pod = (name: string, doNotDisrupt: string): KubernetesManifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'prod',
    uid: `uid-${name}`,
    creationTimestamp: toTimestamp(START),
    annotations: { [DO_NOT_DISRUPT]: doNotDisrupt },
  },
  spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'main' }] },
  status: { phase: 'Running', startTime: toTimestamp(START) },
});

const podMessage = (name: string, change: 'Added' | 'Modified' | 'Deleted'): Message =>
  clusterEvent('grace-period', {
    kind: 'Pod',
    apiVersion: 'v1',
    namespace: 'prod',
    name,
    uid: `uid-${name}`,
    change,
    hints: { nodeName: 'n1' },
  });

const created = (name: string, doNotDisrupt: string, tells?: Change['tells']): Change => ({
  name: `pod ${name} created`,
  apply: core => core.seed(pod(name, doNotDisrupt)),
  ...(tells && { tells }),
});

const deleted = (name: string, tells?: Change['tells']): Change => ({
  name: `pod ${name} deleted`,
  apply(core) {
    core.delete({ type: RESOURCES.Pod, namespace: 'prod', name }, { user: WORLD, gracePeriodSeconds: 0 });
  },
  ...(tells && { tells }),
});

const annotatedNode = (name: string, annotations: JsonObject, tells?: Change['tells']): Change => ({
  name,
  apply(core) {
    core.patch(
      { type: RESOURCES.Node, name: 'n1' },
      { type: 'merge', body: { metadata: { annotations } } },
      { user: WORLD },
    );
  },
  ...(tells && { tells }),
});

const BASE = { concern: 'grace-period', start: START } as const;
const HELD_FOR_P1 = [{ kind: 'message', message: podMessage('p1', 'Added') }] as const;

export const GRACE_PERIOD_SITUATIONS: readonly Situation[] = [
  {
    ...BASE,
    name: 'the last pod goes while another one comes',
    objects: [NAMESPACE, POOL, node(), pod('p1', '10m')],
    earlier: HELD_FOR_P1,
    messages: { A: podMessage('p1', 'Deleted'), B: podMessage('p2', 'Added') },
    changes: [deleted('p1', 'A'), created('p2', '12m', 'B')],
    aftermath: minutes(20),
  },
  {
    ...BASE,
    name: 'the last pod, which protects nothing any more, goes while another one comes',
    objects: [NAMESPACE, POOL, node(), pod('p1', '10m')],
    earlier: [...HELD_FOR_P1, { kind: 'wait', duration: minutes(15) }],
    messages: { A: podMessage('p1', 'Deleted'), B: podMessage('p2', 'Added') },
    changes: [deleted('p1', 'A'), created('p2', '48h', 'B')],
  },
];
export { annotatedNode, wakeUpOfNode };
