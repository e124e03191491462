/** Repair: what passes of two pools that share a limit may get in each other's way with. */
import type { KubernetesManifest } from '../../../shared/domain/kubernetes-object.ts';
import { toWakeUpEnvelope } from '../../../shared/contract/wake-up.ts';
import { addDuration, minutes } from '../../../shared/domain/time.ts';
import { clusterEvent } from '../messages.ts';
import type { Earlier, Message, Situation } from '../situation.ts';
import {
  node,
  nodeClaim,
  nodePool,
  nodeRef,
  patched,
  policy,
  policyRef,
  ready,
  removed,
  START,
  unattended,
  wait,
} from './changes.ts';
import {
  BASE,
  cluster,
  nodeEvent,
  POOL_WAKE_UP,
  REPAIR,
  seen,
  SICK,
  TOLERATION,
  wakeUp,
  WELL,
} from './repair-world.ts';

const ZONE = 'us-west-2a';

/** The object in NodePool `gpu`. */
function inGpu(object: KubernetesManifest): KubernetesManifest {
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, labels: { ...metadata?.labels, 'karpenter.sh/nodepool': 'gpu' } } };
}

function inZone(object: KubernetesManifest): KubernetesManifest {
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, labels: { ...metadata?.labels, 'topology.kubernetes.io/zone': ZONE } } };
}

const OPEN = { ...REPAIR, maxUnhealthy: '100%', freeze: 'Off', zoneOutage: 'Off' };
const CLUSTER_LIMIT = { repairLimits: { maxConcurrentRepairsPerCluster: 1 } };
const ZONE_LIMIT = { repairLimits: { maxConcurrentRepairsPerZone: 1 } };

/** Node n1 of NodePool `default` and g1 of `gpu`. */
const twoPools = (first = SICK, second = SICK): readonly KubernetesManifest[] => {
  const [gate] = cluster(undefined, SICK, SICK);
  return [
    ...(gate === undefined ? [] : [gate]),
    nodePool({ repair: OPEN }),
    { ...nodePool({ repair: OPEN }), metadata: { name: 'gpu', uid: 'uid-gpu' } },
    inZone(node('n1', { conditions: [first] })),
    nodeClaim('n1'),
    inZone(inGpu(node('g1', { conditions: [second] }))),
    inGpu(nodeClaim('g1')),
  ];
};

const GPU_EVENT = clusterEvent('repair', {
  kind: 'Node',
  apiVersion: 'v1',
  name: 'g1',
  uid: 'uid-g1',
  changed: ['conditions'],
  hints: { nodePool: 'gpu', nodeName: 'g1' },
});
const GPU_SEEN: readonly Earlier[] = [{ kind: 'message', message: GPU_EVENT }];
const POLICY_EVENT = clusterEvent('repair', {
  kind: 'NodeLifecyclePolicy',
  apiVersion: 'curfew.dev/v1alpha1',
  name: 'all',
  uid: 'uid-all',
  changed: ['spec'],
});
const wakeUpOf = (kind: string, name: string, apiVersion: string): Message => ({
  name: `wake-up of ${kind} ${name}`,
  to: 'repair',
  body: now =>
    JSON.stringify(toWakeUpEnvelope({ owner: 'repair', subject: { apiVersion, kind, name }, wakeTime: now })),
});
const LIMITS_WAKE_UP = wakeUpOf('Round', 'concurrent-repairs', 'curfew.dev/v1alpha1');
const GPU_WAKE_UP = wakeUpOf('NodePool', 'gpu', 'karpenter.sh/v1');

/** n1 was due a minute before g1, and has the slot. */
const N1_FIRST: readonly Earlier[] = [...seen('n1'), ...GPU_SEEN, wait(TOLERATION + 2)];
const g1Later = ready('False', addDuration(START, minutes(1)));
const limited = { ...BASE, objects: [...twoPools(SICK, g1Later), policy(CLUSTER_LIMIT)] };

export const REPAIR_LIMITS_SITUATIONS: readonly Situation[] = [
  {
    ...BASE,
    name: 'nodes of two pools are due at once, and the cluster has one slot',
    objects: [...twoPools(), policy(CLUSTER_LIMIT)],
    earlier: [...seen('n1'), ...GPU_SEEN, unattended(TOLERATION)],
    messages: { A: wakeUp('n1'), B: wakeUp('g1') },
  },
  {
    ...BASE,
    name: 'nodes of two pools are due at once, and their zone has one slot',
    isLong: true,
    objects: [...twoPools(), policy(ZONE_LIMIT)],
    earlier: [...seen('n1'), ...GPU_SEEN, unattended(TOLERATION)],
    messages: { A: wakeUp('n1'), B: wakeUp('g1') },
  },
  {
    ...BASE,
    name: 'nodes of two pools are due at once when a limit is set',
    isLong: true,
    objects: [...twoPools(), policy({})],
    earlier: [...seen('n1'), ...GPU_SEEN, unattended(TOLERATION)],
    messages: { A: wakeUp('n1'), B: wakeUp('g1') },
    changes: [patched('the limit is set', policyRef('all'), { spec: CLUSTER_LIMIT }, POLICY_EVENT)],
  },
  {
    ...limited,
    name: 'a slot comes free when the pool that waits for it looks',
    earlier: N1_FIRST,
    messages: { A: nodeEvent('n1', 'Deleted'), B: GPU_WAKE_UP },
    changes: [removed('node n1 deleted', nodeRef('n1'), 'A')],
  },
  {
    ...limited,
    name: 'a slot comes free when those who wait are woken',
    earlier: N1_FIRST,
    messages: { A: nodeEvent('n1', 'Deleted'), B: LIMITS_WAKE_UP },
    changes: [removed('node n1 deleted', nodeRef('n1'), 'A')],
  },
  {
    ...limited,
    name: 'the node that waits for a slot recovers when one comes free',
    earlier: N1_FIRST,
    messages: { A: nodeEvent('n1', 'Deleted'), B: GPU_EVENT },
    changes: [
      removed('node n1 deleted', nodeRef('n1'), 'A'),
      patched('node g1 is ready', nodeRef('g1'), { status: { conditions: [WELL] } }, 'B'),
    ],
  },
  {
    ...limited,
    name: 'a run was ended in the middle of a repair that has the only slot',
    earlier: [
      ...seen('n1'),
      ...GPU_SEEN,
      wait(TOLERATION - 2),
      { kind: 'dieBefore', description: /^delete nodeclaims/ },
      wait(2),
      unattended(2),
    ],
    messages: { A: POOL_WAKE_UP, B: GPU_WAKE_UP },
  },
];
