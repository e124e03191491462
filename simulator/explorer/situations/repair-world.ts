/** Clusters in which something is to be repaired, and the messages that repair gets of them. */
import type { JsonObject, KubernetesManifest } from '../../../shared/domain/kubernetes-object.ts';
import { toWakeUpEnvelope } from '../../../shared/contract/wake-up.ts';
import { minutes } from '../../../shared/domain/time.ts';
import { fieldsOf } from '../../invariants/reading.ts';
import { clusterEvent, wakeUpOfNode } from '../messages.ts';
import type { Change, Earlier, Message } from '../situation.ts';
import { node, nodeClaim, nodePool, nodeRef, patched, ready, START, wait } from './changes.ts';

/** Longer than a message can wait: the record alone brings the timer. */
export const TOLERATION = 30;
export const REPAIR = { defaultTolerationDuration: `${TOLERATION}m` };
const GATE: KubernetesManifest = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'curfew', name: 'curfew-config' },
  data: { 'config.toml': '[featureGates]\nnodeRepair = true\n' },
};
export const SICK = ready('False');
export const WELL = ready('True');

export const cluster = (
  repair: JsonObject | undefined,
  n1: JsonObject,
  n2: JsonObject,
): readonly KubernetesManifest[] => [
  GATE,
  nodePool(repair === undefined ? {} : { repair }),
  node('n1', { conditions: [n1] }),
  nodeClaim('n1'),
  node('n2', { conditions: [n2] }),
  nodeClaim('n2'),
];
/** Node n1 is not ready, n2 is. */
export const ONE_SICK = cluster(REPAIR, SICK, WELL);
export const BOTH_SICK = cluster(REPAIR, SICK, SICK);

/** A Node that tells of its boots; no actor gives it another one, so a reboot is not known to have helped. */
export function booted(manifest: KubernetesManifest): KubernetesManifest {
  if (manifest.kind !== 'Node') return manifest;
  const bootID = `boot-of-${manifest.metadata.name}`;
  return { ...manifest, status: { ...fieldsOf(manifest['status']), nodeInfo: { bootID } } };
}

export const nodeEvent = (
  name: string,
  change: 'Added' | 'Modified' | 'Deleted' = 'Modified',
  uid = `uid-${name}`,
): Message =>
  clusterEvent('repair', {
    kind: 'Node',
    apiVersion: 'v1',
    name,
    uid,
    change,
    changed: ['conditions'],
    hints: { nodePool: 'default', nodeName: name },
  });
export const POOL_EVENT = clusterEvent('repair', {
  kind: 'NodePool',
  apiVersion: 'karpenter.sh/v1',
  name: 'default',
  uid: 'uid-default',
  changed: ['repair'],
});
export const POOL_WAKE_UP: Message = {
  name: 'wake-up of NodePool default',
  to: 'repair',
  body: now =>
    JSON.stringify(
      toWakeUpEnvelope({
        owner: 'repair',
        subject: { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: 'default' },
        wakeTime: now,
      }),
    ),
};
export const wakeUp = (name: string): Message => wakeUpOfNode('repair', name);

export const conditions = (name: string, condition: JsonObject, tells?: Change['tells']): Change =>
  patched(
    `node ${name} is ${condition['status'] === 'True' ? 'ready' : 'not ready'}`,
    nodeRef(name),
    { status: { conditions: [condition] } },
    tells,
  );

/** An attempt that a run recorded and died before it acted is one more. */
const UNCOUNTED = ['attempt.number', 'number'];
/** What was said last, and when, differs with the order. */
export const BASE = {
  concern: 'repair',
  start: START,
  uncounted: UNCOUNTED,
  inexact: ['said', 'number', 'missingTime', 'illness.settling'],
} as const;
export const seen = (...names: readonly string[]): readonly Earlier[] =>
  names.map(name => ({ kind: 'message', message: nodeEvent(name) }));
/** A repair is in the record, and the run that began it ended before it could delete the NodeClaim. */
export const BEGUN: readonly Earlier[] = [
  ...seen('n1'),
  wait(TOLERATION - 2),
  { kind: 'dieBefore', description: /^delete nodeclaims/ },
  wait(2),
];
export const LONG = minutes(TOLERATION + 15);
/** A pass of the pool and an event of n1, and what follows for long enough that the next action has its turn. */
export const LONG_STORY = {
  ...BASE,
  messages: { A: POOL_WAKE_UP, B: nodeEvent('n1') },
  aftermath: LONG,
  isLong: true,
} as const;
