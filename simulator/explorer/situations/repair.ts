/** Repair: what two runs on one node, or on two nodes of one pool, may get in each other's way with. */
import type { JsonObject, KubernetesManifest } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes } from '../../../shared/domain/time.ts';
import { clusterEvent, wakeUpOfNode } from '../messages.ts';
import type { Change, Earlier, Message, Situation } from '../situation.ts';
import {
  created,
  node,
  nodeClaim,
  nodeClaimRef,
  nodePool,
  nodePoolRef,
  nodeRef,
  patched,
  policy,
  policyRef,
  ready,
  removed,
  replaced,
  START,
} from './changes.ts';

/** Longer than a message can wait: the record alone brings the timer. */
const TOLERATION = 30;
const REPAIR = { defaultTolerationDuration: `${TOLERATION}m` };
const GATE: KubernetesManifest = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'curfew', name: 'curfew-config' },
  data: { 'config.toml': '[featureGates]\nnodeRepair = true\n' },
};
const SICK = ready('False');
const WELL = ready('True');

const cluster = (repair: JsonObject | undefined, n1: JsonObject, n2: JsonObject): readonly KubernetesManifest[] => [
  GATE,
  nodePool(repair === undefined ? {} : { repair }),
  node('n1', { conditions: [n1] }),
  nodeClaim('n1'),
  node('n2', { conditions: [n2] }),
  nodeClaim('n2'),
];
/** Node n1 is not ready, n2 is. */
const ONE_SICK = cluster(REPAIR, SICK, WELL);
const BOTH_SICK = cluster(REPAIR, SICK, SICK);

const nodeEvent = (name: string, change: 'Added' | 'Modified' | 'Deleted' = 'Modified', uid = `uid-${name}`): Message =>
  clusterEvent('repair', {
    kind: 'Node',
    apiVersion: 'v1',
    name,
    uid,
    change,
    changed: ['conditions'],
    hints: { nodePool: 'default', nodeName: name },
  });
const claimEvent = (nodeName: string, change: 'Added' | 'Modified' | 'Deleted'): Message =>
  clusterEvent('repair', {
    kind: 'NodeClaim',
    apiVersion: 'karpenter.sh/v1',
    name: `claim-${nodeName}`,
    uid: `uid-claim-${nodeName}`,
    change,
    hints: { nodePool: 'default', nodeName },
  });
const POOL_EVENT = clusterEvent('repair', {
  kind: 'NodePool',
  apiVersion: 'karpenter.sh/v1',
  name: 'default',
  uid: 'uid-default',
  changed: ['repair'],
});
const wakeUp = (name: string): Message => wakeUpOfNode('repair', name);

const conditions = (name: string, condition: JsonObject, tells?: Change['tells']): Change =>
  patched(
    `node ${name} is ${condition['status'] === 'True' ? 'ready' : 'not ready'}`,
    nodeRef(name),
    { status: { conditions: [condition] } },
    tells,
  );

/** How often a repair was tried, and what was said already: what came of it is in the cluster. */
const VOLATILE = ['number', 'said'];
const BASE = { concern: 'repair', start: START, volatile: VOLATILE } as const;
const seen = (...names: readonly string[]): readonly Earlier[] =>
  names.map(name => ({ kind: 'message', message: nodeEvent(name) }));
const wait = (duration: number): Earlier => ({ kind: 'wait', duration: minutes(duration) });
const unattended = (duration: number): Earlier => ({ kind: 'wait', duration: minutes(duration), unattended: true });
/** A repair is in the record, and the run that began it has ended before it could delete the NodeClaim. */
const BEGUN: readonly Earlier[] = [
  ...seen('n1'),
  wait(TOLERATION - 2),
  { kind: 'dieBefore', description: /^delete nodeclaims/ },
  wait(2),
];
const LONG = minutes(TOLERATION + 15);

export const REPAIR_SITUATIONS: readonly Situation[] = [
  {
    ...BASE,
    name: 'the repair block is removed and restored',
    objects: ONE_SICK,
    earlier: seen('n1'),
    messages: { A: wakeUp('n1'), B: wakeUp('n1') },
    changes: [
      patched('repair block removed', nodePoolRef('default'), { spec: { repair: null } }, 'A'),
      patched('repair block restored', nodePoolRef('default'), { spec: { repair: REPAIR } }, 'B'),
    ],
    aftermath: LONG,
  },
  {
    ...BASE,
    name: 'a node recovers and falls ill again',
    objects: ONE_SICK,
    earlier: [...seen('n1'), wait(5)],
    messages: { A: nodeEvent('n1'), B: nodeEvent('n1') },
    changes: [
      conditions('n1', ready('True', addDuration(START, minutes(5))), 'A'),
      conditions('n1', ready('False', addDuration(START, minutes(5))), 'B'),
    ],
    aftermath: LONG,
  },
  {
    ...BASE,
    name: 'a node falls ill and recovers',
    objects: cluster(REPAIR, WELL, WELL),
    messages: { A: nodeEvent('n1'), B: nodeEvent('n1') },
    changes: [conditions('n1', SICK, 'A'), conditions('n1', ready('True'), 'B')],
    aftermath: LONG,
  },
  {
    ...BASE,
    name: 'one wake-up comes twice when a repair is due',
    objects: ONE_SICK,
    earlier: [...seen('n1'), unattended(TOLERATION)],
    messages: { A: wakeUp('n1'), B: wakeUp('n1') },
  },
  {
    ...BASE,
    name: 'a node recovers when its repair is due',
    objects: ONE_SICK,
    earlier: [...seen('n1'), unattended(TOLERATION)],
    messages: { A: wakeUp('n1'), B: nodeEvent('n1') },
    changes: [conditions('n1', WELL, 'B')],
  },
  {
    ...BASE,
    name: 'a node recovers after a run was ended in the middle of its repair',
    objects: ONE_SICK,
    earlier: BEGUN,
    messages: { A: wakeUp('n1'), B: nodeEvent('n1') },
    changes: [conditions('n1', WELL, 'B')],
  },
  {
    ...BASE,
    name: 'a node recovers and falls ill again after a run was ended in the middle of its repair',
    objects: ONE_SICK,
    earlier: BEGUN,
    messages: { A: nodeEvent('n1'), B: nodeEvent('n1') },
    changes: [
      conditions('n1', ready('True', addDuration(START, minutes(TOLERATION))), 'A'),
      conditions('n1', ready('False', addDuration(START, minutes(TOLERATION))), 'B'),
    ],
    aftermath: LONG,
  },
  {
    ...BASE,
    name: 'two wake-ups after a run was ended in the middle of a repair',
    objects: ONE_SICK,
    earlier: [...BEGUN, unattended(2)],
    messages: { A: wakeUp('n1'), B: wakeUp('n1') },
  },
  {
    ...BASE,
    name: 'the NodeClaim goes when the repair is due',
    objects: ONE_SICK,
    earlier: [...seen('n1'), unattended(TOLERATION)],
    messages: { A: wakeUp('n1'), B: claimEvent('n1', 'Deleted') },
    changes: [
      removed('NodeClaim claim-n1 deleted', nodeClaimRef('claim-n1'), 'B'),
      removed('node n1 deleted', nodeRef('n1'), nodeEvent('n1', 'Deleted')),
    ],
  },
  {
    ...BASE,
    name: 'node and NodeClaim are replaced under their names when the repair is due',
    objects: ONE_SICK,
    earlier: [...seen('n1'), unattended(TOLERATION)],
    messages: { A: wakeUp('n1'), B: nodeEvent('n1', 'Added', 'uid-new') },
    changes: [
      replaced('NodeClaim claim-n1 replaced', nodeClaimRef('claim-n1'), nodeClaim('n1', 'uid-claim-new')),
      removed('node n1 deleted', nodeRef('n1'), nodeEvent('n1', 'Deleted')),
      created('node n1 created with another UID', node('n1', { uid: 'uid-new', conditions: [WELL] }), 'B'),
    ],
  },
  {
    ...BASE,
    name: 'the node is registered anew under its name after a run was ended in the middle of its repair',
    objects: ONE_SICK,
    earlier: BEGUN,
    messages: { A: nodeEvent('n1', 'Deleted'), B: nodeEvent('n1', 'Added', 'uid-new') },
    changes: [
      removed('node n1 deleted', nodeRef('n1'), 'A'),
      created('node n1 created with another UID', node('n1', { uid: 'uid-new', conditions: [WELL] }), 'B'),
    ],
  },
  {
    ...BASE,
    name: 'another node falls ill and closes the threshold when a repair is due',
    objects: ONE_SICK,
    earlier: [...seen('n1'), unattended(TOLERATION)],
    messages: { A: wakeUp('n1'), B: nodeEvent('n2') },
    changes: [conditions('n2', ready('False', addDuration(START, minutes(TOLERATION))), 'B')],
  },
  {
    ...BASE,
    name: 'the other node of a blocked pool recovers',
    objects: BOTH_SICK,
    earlier: [...seen('n1', 'n2'), wait(TOLERATION + 1)],
    messages: { A: wakeUp('n1'), B: nodeEvent('n2') },
    changes: [conditions('n2', ready('True', addDuration(START, minutes(TOLERATION))), 'B')],
  },
  {
    ...BASE,
    name: 'two nodes of one pool are due at once, and the threshold opens',
    objects: BOTH_SICK,
    earlier: [...seen('n1', 'n2'), wait(TOLERATION + 1)],
    messages: { A: wakeUp('n1'), B: wakeUp('n2') },
    changes: [
      patched(
        'maxUnhealthy is 100 %',
        nodePoolRef('default'),
        { spec: { repair: { ...REPAIR, maxUnhealthy: '100%' } } },
        POOL_EVENT,
      ),
    ],
  },
  {
    ...BASE,
    name: 'the policy turns to Observe when a repair is due',
    objects: [...cluster(undefined, SICK, WELL), policy({ mode: 'Enforce', repair: REPAIR })],
    earlier: [...seen('n1'), unattended(TOLERATION)],
    messages: { A: wakeUp('n1'), B: wakeUp('n1') },
    changes: [patched('mode is Observe', policyRef('all'), { spec: { mode: 'Observe' } }, 'B')],
  },
  {
    ...BASE,
    name: 'the policy turns to Observe and back after a run was ended in the middle of a repair',
    objects: [...cluster(undefined, SICK, WELL), policy({ mode: 'Enforce', repair: REPAIR })],
    earlier: [...BEGUN, unattended(2)],
    messages: { A: wakeUp('n1'), B: wakeUp('n1') },
    changes: [
      patched('mode is Observe', policyRef('all'), { spec: { mode: 'Observe' } }, 'A'),
      patched('mode is Enforce', policyRef('all'), { spec: { mode: 'Enforce' } }, 'B'),
    ],
  },
];
