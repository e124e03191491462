/** The minute sweep beside the functions that write the records it looks for. */
import { clusterEvent, TICK_MESSAGE } from '../messages.ts';
import type { Earlier, Message, Situation } from '../situation.ts';
import { created, node, nodePool, nodeRef, pod, podRef, PROD, removed, START, unattended } from './changes.ts';

const podEvent = (name: string, change: 'Added' | 'Deleted'): Message =>
  clusterEvent('grace-period', {
    kind: 'Pod',
    apiVersion: 'v1',
    namespace: 'prod',
    name,
    uid: `uid-${name}`,
    change,
    hints: { nodeName: 'n1' },
  });
const nodeDeleted = clusterEvent('grace-period', {
  kind: 'Node',
  apiVersion: 'v1',
  name: 'n1',
  uid: 'uid-n1',
  change: 'Deleted',
  hints: { nodeName: 'n1' },
});

const BASE = { concern: 'timer', start: START } as const;
/** The record of node n1 is due, and nobody has come for it. */
const DUE: readonly Earlier[] = [{ kind: 'message', message: podEvent('p1', 'Added') }, unattended(4)];
const OBJECTS = [PROD, nodePool(), node('n1'), pod('p1', '4m')] as const;

export const TIMER_SITUATIONS: readonly Situation[] = [
  {
    ...BASE,
    name: 'two sweeps while a record is due',
    objects: OBJECTS,
    earlier: DUE,
    messages: { A: TICK_MESSAGE, B: TICK_MESSAGE },
  },
  {
    ...BASE,
    name: 'a sweep while the timer of a due record is moved',
    objects: OBJECTS,
    earlier: DUE,
    messages: { A: TICK_MESSAGE, B: podEvent('p2', 'Added') },
    changes: [created('pod p2 created', pod('p2', '7m'), 'B')],
  },
  {
    ...BASE,
    name: 'a sweep while a record with a timer comes into being',
    objects: [PROD, nodePool(), node('n1')],
    messages: { A: TICK_MESSAGE, B: podEvent('p1', 'Added') },
    changes: [created('pod p1 created', pod('p1', '4m'), 'B')],
  },
  {
    ...BASE,
    name: 'a sweep while a due record goes',
    objects: OBJECTS,
    earlier: DUE,
    messages: { A: TICK_MESSAGE, B: nodeDeleted },
    changes: [
      removed('pod p1 deleted', podRef('p1'), podEvent('p1', 'Deleted')),
      removed('node n1 deleted', nodeRef('n1'), 'B'),
    ],
  },
];
