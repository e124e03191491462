/** Grace periods: what two runs on one node may get in each other's way with. */
import { minutes } from '../../../shared/domain/time.ts';
import { clusterEvent, wakeUpOfNode } from '../messages.ts';
import type { Earlier, Message, Situation } from '../situation.ts';
import {
  created,
  node,
  nodePool,
  nodeRef,
  patched,
  pod,
  podRef,
  policy,
  policyRef,
  PROD,
  removed,
  replaced,
  START,
} from './changes.ts';

const DO_NOT_DISRUPT = 'karpenter.sh/do-not-disrupt';
const MARK = 'curfew.dev/protected-until';

const podEvent = (name: string, change: 'Added' | 'Modified' | 'Deleted'): Message =>
  clusterEvent('grace-period', {
    kind: 'Pod',
    apiVersion: 'v1',
    namespace: 'prod',
    name,
    uid: `uid-${name}`,
    change,
    hints: { nodeName: 'n1' },
  });

const nodeEvent = (change: 'Added' | 'Modified' | 'Deleted', uid = 'uid-n1'): Message =>
  clusterEvent('grace-period', {
    kind: 'Node',
    apiVersion: 'v1',
    name: 'n1',
    uid,
    change,
    changed: ['annotations'],
    hints: { nodePool: 'default', nodeName: 'n1' },
  });

const WAKE_UP = wakeUpOfNode('grace-period', 'n1');

/** An annotation that a run put back and died before it could count it. */
const UNCOUNTED = ['effort'];
const BASE = { concern: 'grace-period', start: START, uncounted: UNCOUNTED } as const;
/** The node is held for pod p1. */
const HELD: readonly Earlier[] = [{ kind: 'message', message: podEvent('p1', 'Added') }];
const wait = (duration: number): Earlier => ({ kind: 'wait', duration: minutes(duration) });
const unattended = (duration: number): Earlier => ({ kind: 'wait', duration: minutes(duration), unattended: true });
const P1_DELETED = removed('pod p1 deleted', podRef('p1'), 'A');

const annotation = (value: string | null): { metadata: { annotations: Record<string, string | null> } } => ({
  metadata: { annotations: { [DO_NOT_DISRUPT]: value } },
});

export const GRACE_PERIOD_SITUATIONS: readonly Situation[] = [
  {
    ...BASE,
    name: 'the last protected pod goes, another one comes',
    objects: [PROD, nodePool(), node('n1'), pod('p1', '10m')],
    earlier: HELD,
    messages: { A: podEvent('p1', 'Deleted'), B: podEvent('p2', 'Added') },
    changes: [P1_DELETED, created('pod p2 created', pod('p2', '12m'), 'B')],
    aftermath: minutes(20),
  },
  {
    ...BASE,
    name: 'the last annotated pod goes, a protected one comes',
    objects: [PROD, nodePool(), node('n1'), pod('p1', '10m')],
    earlier: [...HELD, wait(15)],
    messages: { A: podEvent('p1', 'Deleted'), B: podEvent('p2', 'Added') },
    changes: [P1_DELETED, created('pod p2 created', pod('p2', '48h'), 'B')],
  },
  {
    ...BASE,
    name: 'a pod that Karpenter protects by itself goes, a protected one comes',
    objects: [PROD, nodePool(), node('n1'), pod('p1', 'true')],
    earlier: HELD,
    messages: { A: podEvent('p1', 'Deleted'), B: podEvent('p2', 'Added') },
    changes: [P1_DELETED, created('pod p2 created', pod('p2', '48h'), 'B')],
  },
  {
    ...BASE,
    name: 'two protected pods come',
    objects: [PROD, nodePool(), node('n1')],
    messages: { A: podEvent('p1', 'Added'), B: podEvent('p2', 'Added') },
    changes: [created('pod p1 created', pod('p1', '6m'), 'A'), created('pod p2 created', pod('p2', '4m'), 'B')],
  },
  {
    ...BASE,
    name: 'two pods with annotations that are not valid come',
    objects: [PROD, nodePool(), node('n1')],
    messages: { A: podEvent('p1', 'Added'), B: podEvent('p2', 'Added') },
    changes: [created('pod p1 created', pod('p1', '4d'), 'A'), created('pod p2 created', pod('p2', 'tomorrow'), 'B')],
  },
  {
    ...BASE,
    name: 'the last protection ends, a protected pod comes',
    objects: [PROD, nodePool(), node('n1'), pod('p1', '10m')],
    earlier: [...HELD, unattended(10)],
    messages: { A: WAKE_UP, B: podEvent('p2', 'Added') },
    changes: [created('pod p2 created', pod('p2', '14m'), 'B')],
  },
  {
    ...BASE,
    name: 'a person renews a protection at its end',
    objects: [PROD, nodePool(), node('n1'), pod('p1', '10m')],
    earlier: [...HELD, unattended(10)],
    messages: { A: WAKE_UP, B: podEvent('p1', 'Modified') },
    changes: [patched('pod p1 annotated 20m', podRef('p1'), annotation('20m'), 'B')],
    aftermath: minutes(20),
  },
  {
    ...BASE,
    name: 'a person takes the annotation off the pod and puts it on again',
    objects: [PROD, nodePool(), node('n1'), pod('p1', '10m')],
    earlier: HELD,
    messages: { A: podEvent('p1', 'Modified'), B: podEvent('p1', 'Modified') },
    changes: [
      patched('annotation of pod p1 removed', podRef('p1'), annotation(null), 'A'),
      patched('pod p1 annotated 10m', podRef('p1'), annotation('10m'), 'B'),
    ],
  },
  {
    ...BASE,
    name: 'a person edits the annotation of the node, and the last pod goes',
    objects: [PROD, nodePool(), node('n1'), pod('p1', '10m')],
    earlier: HELD,
    messages: { A: podEvent('p1', 'Deleted'), B: nodeEvent('Modified') },
    changes: [P1_DELETED, patched('node n1 annotated false', nodeRef('n1'), annotation('false'), 'B')],
  },
  {
    ...BASE,
    name: 'a person takes the annotation off the node while a pod is protected',
    objects: [PROD, nodePool(), node('n1'), pod('p1', '10m')],
    earlier: HELD,
    messages: { A: WAKE_UP, B: nodeEvent('Modified') },
    changes: [patched('annotation of node n1 removed', nodeRef('n1'), annotation(null), 'B')],
  },
  {
    ...BASE,
    name: 'a person takes both annotations off the node while the last pod goes',
    objects: [PROD, nodePool(), node('n1'), pod('p1', '10m')],
    earlier: HELD,
    messages: { A: podEvent('p1', 'Deleted'), B: nodeEvent('Modified') },
    changes: [
      P1_DELETED,
      patched(
        'annotation and mark of node n1 removed',
        nodeRef('n1'),
        { metadata: { annotations: { [DO_NOT_DISRUPT]: null, [MARK]: null } } },
        'B',
      ),
    ],
  },
  {
    ...BASE,
    name: 'the node is replaced under its name',
    objects: [PROD, nodePool(), node('n1'), pod('p1', '10m')],
    earlier: HELD,
    messages: { A: nodeEvent('Deleted'), B: nodeEvent('Added', 'uid-new') },
    changes: [
      removed('pod p1 deleted', podRef('p1'), podEvent('p1', 'Deleted')),
      removed('node n1 deleted', nodeRef('n1'), 'A'),
      created('node n1 created with another UID', node('n1', { uid: 'uid-new' }), 'B'),
    ],
  },
  {
    ...BASE,
    name: 'the node is replaced under its name while a pod of the new one comes',
    objects: [PROD, nodePool(), node('n1'), pod('p1', '10m')],
    earlier: HELD,
    messages: { A: WAKE_UP, B: podEvent('p2', 'Added') },
    changes: [
      removed('pod p1 deleted', podRef('p1'), podEvent('p1', 'Deleted')),
      replaced(
        'node n1 replaced by one with another UID',
        nodeRef('n1'),
        node('n1', { uid: 'uid-new' }),
        nodeEvent('Deleted'),
      ),
      created('pod p2 created', pod('p2', '12m'), 'B'),
    ],
  },
  {
    ...BASE,
    name: 'the cap of the policy shrinks, then goes',
    objects: [PROD, nodePool(), node('n1'), pod('p1', '48h'), policy({ protection: { maxDuration: '24h' } })],
    earlier: HELD,
    messages: { A: WAKE_UP, B: WAKE_UP },
    changes: [
      patched('maxDuration is 5m', policyRef('all'), { spec: { protection: { maxDuration: '5m' } } }, 'A'),
      patched('maxDuration is 12h', policyRef('all'), { spec: { protection: { maxDuration: '12h' } } }, 'B'),
    ],
  },
  {
    ...BASE,
    name: 'the policy turns to Observe while a protected pod comes',
    objects: [PROD, nodePool(), node('n1'), policy({ mode: 'Enforce', protection: {} })],
    messages: { A: podEvent('p1', 'Added'), B: WAKE_UP },
    changes: [
      created('pod p1 created', pod('p1', '5m'), 'A'),
      patched('mode is Observe', policyRef('all'), { spec: { mode: 'Observe' } }, 'B'),
    ],
  },
  {
    ...BASE,
    name: 'a run was ended before it could let the node go',
    objects: [PROD, nodePool(), node('n1'), pod('p1', '10m')],
    earlier: [
      ...HELD,
      { kind: 'change', change: removed('pod p1 deleted', podRef('p1')) },
      { kind: 'dieBefore', description: /^delete record/ },
      { kind: 'message', message: podEvent('p1', 'Deleted') },
      unattended(1),
    ],
    messages: { A: WAKE_UP, B: podEvent('p2', 'Added') },
    changes: [created('pod p2 created', pod('p2', '12m'), 'B')],
    aftermath: minutes(20),
  },
  {
    ...BASE,
    name: 'one wake-up comes twice when the last protection ends',
    objects: [PROD, nodePool(), node('n1'), pod('p1', '10m')],
    earlier: [...HELD, unattended(10)],
    messages: { A: WAKE_UP, B: WAKE_UP },
  },
];
