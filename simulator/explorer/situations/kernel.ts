/** The timed record alone, kept by the smallest concern: what its rules T1 to T4 promise, in every order. */
import { minutes } from '../../../shared/domain/time.ts';
import { clusterEvent, wakeUpOfNode } from '../messages.ts';
import { createPromiseKeeper, HOST, WANTED } from '../promise-keeper.ts';
import type { Change, Earlier, Message, Situation } from '../situation.ts';
import { created, node, nodeRef, patched, removed, START, unattended } from './changes.ts';

const nodeEvent = (change: 'Added' | 'Modified' | 'Deleted', uid = 'uid-n1'): Message =>
  clusterEvent(HOST, { kind: 'Node', apiVersion: 'v1', name: 'n1', uid, change, changed: ['annotations'] });
const CHANGED = nodeEvent('Modified');
const WAKE_UP = wakeUpOfNode(HOST, 'n1');

/** `x:30,40`: a record with text `x`, timers at minutes 30 and 40. Timers far enough away that no message waits for them. */
const nodeWanting = (wanted: string | undefined, uid = 'uid-n1') =>
  node('n1', { uid, annotations: wanted === undefined ? {} : { [WANTED]: wanted } });
const wants = (wanted: string | null, tells?: Change['tells']): Change =>
  patched(
    wanted === null ? 'nothing is wanted' : `${wanted} is wanted`,
    nodeRef('n1'),
    { metadata: { annotations: { [WANTED]: wanted } } },
    tells,
  );
const SEEN: readonly Earlier[] = [{ kind: 'message', message: CHANGED }];

const BASE = {
  concern: 'kernel',
  start: START,
  reconcilers: { [HOST]: createPromiseKeeper(START) },
  messages: { A: CHANGED, B: CHANGED },
  aftermath: minutes(50),
} as const;

export const KERNEL_SITUATIONS: readonly Situation[] = [
  {
    ...BASE,
    name: 'a record is not needed and needed again',
    objects: [nodeWanting('x:30')],
    earlier: SEEN,
    changes: [wants(null, 'A'), wants('x:40', 'B')],
  },
  {
    ...BASE,
    name: 'a record is needed and not needed again',
    objects: [nodeWanting(undefined)],
    changes: [wants('x:30', 'A'), wants(null, 'B')],
  },
  {
    ...BASE,
    name: 'a timer is put off and wanted back',
    objects: [nodeWanting('x:30')],
    earlier: SEEN,
    changes: [wants('y:400', 'A'), wants('x:40', 'B')],
  },
  {
    ...BASE,
    name: 'a record is not needed, needed, and not needed again, in three runs',
    objects: [nodeWanting('x:30')],
    earlier: SEEN,
    messages: { A: CHANGED, B: CHANGED, C: CHANGED },
    changes: [wants(null, 'A'), wants('x:40', 'B'), wants(null, 'C')],
  },
  {
    ...BASE,
    name: 'a record is needed again while two runs close it',
    objects: [nodeWanting('x:30')],
    earlier: SEEN,
    messages: { A: CHANGED, B: CHANGED, C: CHANGED },
    changes: [wants(null, 'A'), wants('x:40', 'C')],
  },
  {
    ...BASE,
    name: 'a timer is put off, wanted back, and not needed, in three runs',
    objects: [nodeWanting('x:30')],
    earlier: SEEN,
    messages: { A: CHANGED, B: CHANGED, C: CHANGED },
    changes: [wants('y:400', 'A'), wants('x:40', 'B'), wants('z:45', 'C')],
  },
  {
    ...BASE,
    name: 'a timer is brought forward and put off',
    objects: [nodeWanting('x:30')],
    earlier: SEEN,
    changes: [wants('x:20', 'A'), wants('y:40', 'B')],
  },
  {
    ...BASE,
    name: 'the last timer is due, and another one is wanted',
    objects: [nodeWanting('x:30')],
    earlier: [...SEEN, unattended(30)],
    messages: { A: WAKE_UP, B: CHANGED },
    changes: [wants('x:30,60', 'B')],
  },
  {
    ...BASE,
    name: 'one wake-up comes twice',
    objects: [nodeWanting('x:30,60')],
    earlier: [...SEEN, unattended(30)],
    messages: { A: WAKE_UP, B: WAKE_UP },
  },
  {
    ...BASE,
    name: 'the node is replaced under its name',
    objects: [nodeWanting('x:30')],
    earlier: SEEN,
    messages: { A: nodeEvent('Deleted'), B: nodeEvent('Added', 'uid-new') },
    changes: [
      removed('node n1 deleted', nodeRef('n1'), 'A'),
      created('node n1 created with another UID', nodeWanting('x:40', 'uid-new'), 'B'),
    ],
  },
  {
    ...BASE,
    name: 'a record is needed again that a run was closing when it died',
    objects: [nodeWanting('x:30')],
    earlier: [
      ...SEEN,
      { kind: 'change', change: wants(null) },
      { kind: 'dieBefore', description: /^delete record/ },
      { kind: 'message', message: CHANGED },
    ],
    messages: { A: WAKE_UP, B: CHANGED },
    changes: [wants('x:40', 'B')],
  },
];
