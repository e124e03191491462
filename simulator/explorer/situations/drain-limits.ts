/** Drains: what those of two nodes of one pool may get in each other's way with, where a policy lets one be drained at a time. */
import { HEALTH_EVENT } from '../../../shared/contract/names.ts';
import type { KubernetesManifest } from '../../../shared/domain/kubernetes-object.ts';
import { toTimestamp } from '../../../shared/domain/time.ts';
import { clusterEvent, wakeUpOfNode } from '../messages.ts';
import type { Change, Earlier, Message, Situation } from '../situation.ts';
import { node, nodePool, nodeRef, patched, podRef, policy, PROD, removed, START } from './changes.ts';
import { PROTECTED } from './drained-pods.ts';
import { BASE as DRAIN, CONFIG } from './drain.ts';

/** Which version of its Node a drain under way has prepared depends on who came first. */
const BASE = { ...DRAIN, inexact: [...DRAIN.inexact, 'active.nodeVersion'] } as const;

const LIMIT = policy({ nodePoolSelector: {}, drain: { maxConcurrent: 1 } });

/** A pod that its drain waits for: `web-n1` on node n1. */
const podOf = (nodeName: string): KubernetesManifest => ({
  ...PROTECTED,
  metadata: { ...PROTECTED.metadata, name: `web-${nodeName}`, uid: `uid-web-${nodeName}` },
  spec: { nodeName, terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'main' }] },
});

const POOL: readonly KubernetesManifest[] = [PROD, CONFIG, nodePool(), LIMIT, node('n1'), node('n2')];
const WITH_PODS: readonly KubernetesManifest[] = [...POOL, podOf('n1'), podOf('n2')];

const asked = (nodeName: string): Message => ({
  name: `HealthEvent of ${nodeName}`,
  to: 'drain',
  body: () =>
    JSON.stringify({
      id: `bus-${nodeName}`,
      time: toTimestamp(START),
      source: 'nvsentinel',
      'detail-type': HEALTH_EVENT,
      detail: { id: `e-${nodeName}`, nodeName, agent: 'monitor', checkName: 'XidError', isFatal: true },
    }),
});
const nodeEvent = (name: string): Message =>
  clusterEvent('drain', { kind: 'Node', apiVersion: 'v1', name, uid: `uid-${name}`, hints: { nodeName: name } });
const podGoes = (nodeName: string): Message =>
  clusterEvent('drain', {
    kind: 'Pod',
    apiVersion: 'v1',
    namespace: 'prod',
    name: `web-${nodeName}`,
    uid: `uid-web-${nodeName}`,
    change: 'Deleted',
    hints: { nodeName },
  });
const podGone = (nodeName: string, tells: 'A' | Message): Change =>
  removed(`pod web-${nodeName} deleted`, podRef(`web-${nodeName}`), tells);

/** n1 is drained, and n2 waits. */
const N1_FIRST: readonly Earlier[] = [
  { kind: 'message', message: asked('n1') },
  { kind: 'message', message: asked('n2') },
];

export const DRAIN_LIMITS_SITUATIONS: readonly Situation[] = [
  {
    ...BASE,
    name: 'two nodes are to be drained at once, and one may be',
    objects: WITH_PODS,
    messages: { A: asked('n1'), B: asked('n2') },
  },
  {
    ...BASE,
    name: 'two nodes are to be drained at once, one may be, and then the pods of both go',
    isLong: true,
    objects: WITH_PODS,
    messages: { A: asked('n1'), B: asked('n2') },
    changes: [podGone('n1', podGoes('n1')), podGone('n2', podGoes('n2'))],
  },
  {
    ...BASE,
    name: 'a slot comes free when the node that waits for it looks',
    objects: WITH_PODS,
    earlier: N1_FIRST,
    messages: { A: podGoes('n1'), B: wakeUpOfNode('drain', 'n2') },
    changes: [podGone('n1', 'A')],
  },
  {
    ...BASE,
    name: 'a person opens the node that waits when its slot comes free',
    isLong: true,
    objects: WITH_PODS,
    earlier: N1_FIRST,
    messages: { A: podGoes('n1'), B: nodeEvent('n2') },
    changes: [podGone('n1', 'A'), patched('node n2 uncordoned', nodeRef('n2'), { spec: { unschedulable: null } }, 'B')],
  },
];
