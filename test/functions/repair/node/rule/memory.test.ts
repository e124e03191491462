/** Memory of a node between looks: what of its attempt is renewed, and what a dead run has left behind. */
import { describe, expect, it } from 'vitest';
import type { Attempt } from '../../../../../functions/repair/node/attempt-record.ts';
import type { NodeRecord } from '../../../../../functions/repair/node/record.ts';
import { type NodeView, REPLACES_ANNOTATION } from '../../../../../shared/domain/node.ts';
import { at, NOW, remembered } from '../../../../builders/pool.ts';
import { aFinding, anAttempt, aPoolNode, claimOf, type Look, someRepairInForce } from '../../../../builders/repair.ts';

const NODE = aPoolNode('n1');
const VETOED: NodeView = { ...NODE, annotations: { 'curfew.dev/do-not-repair': 'true' } };
const look = (node: NodeView, more: Partial<NodeRecord>, given: Look = {}) =>
  aFinding(node, { now: NOW, record: remembered(more), ...given });

describe('an attempt to replace', () => {
  const replacing = (name: string): Attempt =>
    anAttempt('n1', {
      action: 'Replace',
      key: 'Replace||900000',
      time: NOW,
      until: at(15),
      replacement: { name },
    });
  const repair = someRepairInForce({
    actions: [{ type: 'ReplaceThenTerminate', timeout: '15m' }, { type: 'Terminate' }],
  });
  const claims = [
    claimOf(NODE),
    claimOf(aPoolNode('new'), {
      name: 'r1',
      uid: 'uid-r1',
      nodeName: undefined,
      annotations: { [REPLACES_ANNOTATION]: 'uid-claim-n1' },
    }),
  ];
  const after = (attempt: Attempt): Attempt | undefined =>
    look(NODE, { attempt, leftovers: { replacement: { name: 'r1' } } }, { claims, repair, now: at(1) }).record?.attempt;

  it('learns the UID of its own replacement', () => {
    expect(after(replacing('r1'))).toMatchObject({ replacement: { name: 'r1', uid: 'uid-r1' } });
  });

  it('learns nothing of another one', () => {
    expect(after(replacing('r2'))).not.toMatchObject({ replacement: { name: 'r1' } });
  });
});

describe('the maintenance mark of a reboot', () => {
  const leftovers = { maintenance: true } as const;
  const refusals: NodeRecord['refusals'] = {
    'Reboot||600000': { cause: 'request', message: 'no', basis: '', count: 1, firstTime: NOW, lastTime: NOW },
  };
  const rebooting = (until: number): Attempt =>
    anAttempt('n1', { action: 'Reboot', key: 'Reboot||600000', time: at(-20), until: at(until) });

  it.each<[string, boolean, Partial<NodeRecord>]>([
    ['goes when no reboot is under way', true, {}],
    ['stays while a refused reboot may be tried again', false, { refusals }],
    ['stays while the node reboots', false, { attempt: rebooting(5) }],
    ['stays while the node is terminated', false, { attempt: anAttempt('n1', { time: NOW, until: at(60) }) }],
  ])('%s', (_, expected, more) => {
    const claims = [claimOf(NODE, { deletionTime: more.attempt?.action === 'Terminate' ? NOW : undefined })];
    expect(look(VETOED, { leftovers, ...more }, { claims }).needsCleanUp).toBe(expected);
  });
});

describe('the deadline of a termination', () => {
  const annotation = { claim: { name: 'claim-n1', uid: 'uid-claim-n1' }, set: '2024-11-01T15:02:48Z' };
  const leftovers = { annotation };

  it('stays while the termination is under way', () => {
    const attempt = anAttempt('n1', { time: NOW, until: at(60) });
    const claims = [claimOf(NODE, { deletionTime: NOW })];
    expect(look(NODE, { leftovers, attempt }, { claims }).needsCleanUp).toBe(false);
  });

  it.each([
    ['Enforce', false],
    ['Observe', true],
  ] as const)('of a due node in mode %s is taken back: %s', (mode, expected) => {
    const repair = someRepairInForce({}, { mode });
    expect(look(NODE, { leftovers }, { repair }).needsCleanUp).toBe(expected);
  });
});
