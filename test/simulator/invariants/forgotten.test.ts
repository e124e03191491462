/** I12 notices each fact that a record loses while something still refers to it. */
import { describe, expect, it } from 'vitest';
import { checkForgotten } from '../../../simulator/invariants/forgotten.ts';
import { OK, toldRepair, UNHEALTHY, type NodeTold } from '../../builders/told-repair.ts';

const DAY = 24 * 60;
const DRAINS = 'drain/node/node-n1';

type Told = ReturnType<typeof toldRepair>;

/** One node `n1`, and the first minute. */
function told(node: Partial<NodeTold> = {}): Told {
  const one = toldRepair(checkForgotten);
  one.at(1);
  one.node({ name: 'n1', conditions: OK, ...node });
  one.at(3);
  return one;
}

const end = (id: string, more: object = {}) => ({
  id,
  status: 'Succeeded',
  endTime: Date.parse('2024-11-01T15:03:00Z'),
  recovered: true,
  fault: { agent: 'monitor', componentClass: 'GPU', checkName: 'xid' },
  ...more,
});

describe('the answer to a request', () => {
  const asked = { annotations: { 'curfew.dev/drain-requested': ' r1 ' } };
  const isGone = { finished: [] };

  it.each<readonly [string, Partial<NodeTold>, object | undefined, string]>([
    ['may not go while the Node asks for it', asked, isGone, 'the Node still asks for it'],
    ['may not go with the record', asked, undefined, 'the Node still asks for it'],
    [
      'may not go while the Node is cordoned for it',
      { annotations: { 'curfew.dev/cordoned-by-drain': 'r1' } },
      isGone,
      'the Node is still cordoned for it',
    ],
    [
      'may not go while the Node is quarantined for it',
      { annotations: { quarantineHealthEvent: '[{"id":"r0"},{"id":"r1"}]' } },
      isGone,
      'the Node is still quarantined for it',
    ],
    [
      'may not become another one',
      asked,
      { finished: [end('r1', { status: 'Failed' })] },
      'the Node still asks for it',
    ],
    [
      'may not be begun again',
      asked,
      { active: { requests: [end('r1')] }, finished: [end('r1')] },
      'the Node still asks for it',
    ],
    ['may not wait again', asked, { requests: [end('r1')], finished: [end('r1')] }, 'the Node still asks for it'],
  ])('%s, for years', (_, node, after, why) => {
    const one = told(node);
    one.store(DRAINS, { finished: [end('r1')] });
    one.at(1000 * DAY);
    one.store(DRAINS, after);
    expect(one.found).toEqual([`I12: the record ${DRAINS} forgets the answer Succeeded to r1, although ${why}`]);
  });

  it('may not go while its message may come once more', () => {
    const one = told();
    one.store(DRAINS, { finished: [end('r1')] });
    one.at(13 * DAY);
    one.store(DRAINS, { finished: [end('r2')] });
    expect(one.found).toEqual([
      `I12: the record ${DRAINS} forgets the answer Succeeded to r1, although its message may come once more`,
    ]);
  });

  it.each<readonly [string, (one: Told) => void]>([
    ['may be stored short', one => one.store(DRAINS, { answered: [['r1', 'Succeeded', 0]] })],
    ['may go after weeks', one => (one.at(15 * DAY), one.store(DRAINS, undefined))],
    ['may go with its Node', one => (one.remove('nodes', 'node-n1'), one.store(DRAINS, undefined))],
    ['may go with its table', one => (one.loseTable(), one.store(DRAINS, undefined))],
    ['is not missed in another record', one => one.store('repair/node/node-n1', {})],
  ])('%s', (_, happens) => {
    const one = told();
    one.store(DRAINS, { finished: [end('r1')] });
    happens(one);
    expect(one.found).toEqual([]);
  });
});

describe('the end of a drain whose fault is not over', () => {
  const mark = { 'curfew.dev/cordoned-by-drain': 'r9' };
  const cordoned = { isCordoned: true, annotations: mark };
  const short = { answered: [['r1', 'Succeeded', 0]], finished: [end('r9')] };
  const other = { agent: 'monitor', componentClass: 'NIC', checkName: 'link' };

  it.each<readonly [string, Partial<NodeTold>, object, number]>([
    ['may not be stored short', cordoned, { ...short, finished: [end('r9', { fault: other })] }, 1],
    ['may be so once the node is opened', { annotations: mark }, { ...short, finished: [] }, 0],
    ['may be so if another end of the check stands for it', cordoned, short, 0],
    ['may be over', cordoned, { finished: [end('r1')] }, 0],
  ])('%s', (_, node, after, count) => {
    const one = told(node);
    one.store(DRAINS, { finished: [end('r1', { recovered: false })] });
    one.at(40 * DAY);
    one.store(DRAINS, after);
    expect(one.found).toHaveLength(count);
  });
});

/** An instant of the run in milliseconds, by its minute. */
const minute = (count: number): number => Date.parse('2024-11-01T15:00:00Z') + count * 60_000;

describe('an act of repair', () => {
  const REPAIRS = 'repair/node/node-n1';
  const act = { action: 'Reboot', key: 'k1', time: minute(3) };
  const words = `I12: the record ${REPAIRS} forgets`;

  it.each<readonly [string, number, object | undefined, object | undefined, string[]]>([
    [
      'may not go in its day',
      DAY - 1,
      {},
      { acts: [] },
      [`${words} the Reboot of the node, although its day is not over`],
    ],
    [
      'may not go with the record',
      10,
      {},
      undefined,
      [`${words} the Reboot of the node, although its day is not over`],
    ],
    ['may go after it', DAY + 5, {}, undefined, []],
    ['may be called off with its attempt', 10, { attempt: { key: 'k1', time: act.time } }, { acts: [] }, []],
  ])('%s', (_, later, more, after, found) => {
    const one = told();
    one.store(REPAIRS, { acts: [act], ...more });
    one.at(later);
    one.store(REPAIRS, after);
    expect(one.found).toEqual(found);
  });

  it.each<readonly [string, Partial<NodeTold>, (one: Told) => void, object, number]>([
    ['may not count as not taken while the node is unhealthy', {}, () => {}, { illness: { taken: [] } }, 1],
    ['may so once the node was well', {}, one => one.node({ name: 'n1', conditions: OK }), {}, 0],
    [
      'may so once it was well for a moment',
      {},
      one => (one.node({ name: 'n1', conditions: OK }), one.at(9), one.node({ name: 'n1', conditions: UNHEALTHY })),
      {},
      0,
    ],
    ['may so once the settings were edited', {}, one => one.setPool({ maxUnhealthy: 1 }), {}, 0],
    ['may so with its Node', {}, one => one.remove('nodes', 'node-n1'), {}, 0],
  ])('%s', (_, node, happens, after, count) => {
    const one = told({ conditions: UNHEALTHY, ...node });
    one.store(REPAIRS, { illness: { taken: ['k1'] } });
    one.at(8);
    happens(one);
    one.at(2 * DAY);
    one.store(REPAIRS, after);
    expect(one.found).toHaveLength(count);
  });
});

describe('the memory of a guard', () => {
  const POOL = 'repair/pool/web';
  const words = `I12: the record ${POOL} forgets`;
  const termination = { condition: 'Ready=False', node: 'n9', time: minute(3) };
  const ramp = { step: 1, stepTime: minute(3), granted: 0 };
  const launchPause = { failures: 1, until: minute(60) };

  it.each<readonly [string, object, number, object | undefined, string[]]>([
    [
      'keeps a termination for a day',
      { terminations: [termination] },
      DAY - 1,
      { terminations: [] },
      [`${words} the termination of n9, although its day is not over`],
    ],
    ['forgets it afterwards', { terminations: [termination] }, DAY + 5, undefined, []],
    [
      'keeps that it held until the ramp begins',
      { held: ['cluster'] },
      10,
      { held: [] },
      [`${words} that cluster held repairs, although a ramp follows its end`],
    ],
    ['goes over into a ramp', { held: ['cluster', 'zone/a'] }, 10, { held: ['zone/a'], ramp }, []],
    ['keeps a ramp that nobody used', { ramp }, DAY - 1, {}, [`${words} its ramp, although its step is not over`]],
    [
      'keeps the minute of a ramp',
      { ramp: { ...ramp, granted: 2 } },
      3,
      {},
      [`${words} its ramp, although its step is not over`],
    ],
    ['forgets a ramp that is over', { ramp: { ...ramp, granted: 2 } }, 5, {}, []],
    [
      'keeps the pause after a launch that failed',
      { launchPause },
      58,
      undefined,
      [`${words} the pause after a launch that failed, although it is not over`],
    ],
    [
      'forgets it when a replacement was ready',
      { launchPause },
      10,
      { terminations: [{ ...termination, isReplaced: true }] },
      [],
    ],
    ['forgets it afterwards', { launchPause }, 61, undefined, []],
  ])('%s', (_, before, later, after, found) => {
    const one = told();
    one.store(POOL, before);
    one.at(later);
    one.store(POOL, after);
    expect(one.found).toEqual(found);
  });
});

describe('what a deleted object had promised', () => {
  const KNOWN = 'finalizer/known-pool/web';
  const said = { schemaVersion: 1, labels: {}, customFinalizerName: 'example.com/f' };
  const complaint = `I12: the record ${KNOWN} forgets what NodePool web had said, although it is gone, and some of its nodes are left`;
  const edited = { schemaVersion: 1, labels: {}, customFinalizerName: 'example.com/g' };
  const gone = (one: Told): void => one.remove('nodepools', 'pool');
  const editedAndGone = (one: Told): void => {
    one.setPool({}, { customFinalizerName: 'example.com/g' });
    gone(one);
  };
  const emptied = (one: Told): void => (one.remove('nodes', 'node-n1'), one.remove('nodeclaims', 'claim-n1'));

  it.each<readonly [string, (one: Told) => void, object | undefined, string[]]>([
    ['stays while nodes of the NodePool are left', gone, undefined, [complaint]],
    ['stays as it was', gone, { labels: {} }, [complaint]],
    ['may be written by another version', gone, { ...said, schemaVersion: 2 }, []],
    ['may be edited while the NodePool is there', () => {}, { labels: {} }, []],
    ['may become the last edit once the NodePool is gone', editedAndGone, edited, []],
    [
      'becomes no other version once the NodePool is gone',
      editedAndGone,
      { ...edited, customFinalizerName: 'x/y' },
      [complaint],
    ],
    ['may go with the last node', one => (gone(one), emptied(one)), undefined, []],
  ])('%s', (_, happens, after, found) => {
    const one = told();
    one.setPool({}, { customFinalizerName: 'example.com/f' });
    one.store(KNOWN, said);
    happens(one);
    one.store(KNOWN, after);
    expect(one.found).toEqual(found);
  });

  it.each<readonly [string, readonly string[], object | undefined, string[]]>([
    [
      'stays while the object carries the finalizer of the rule',
      ['example.com/db'],
      undefined,
      [
        'I12: the record finalizer/object/fix-o1 forgets the clean-up by db, although NodeFix o1 still carries its finalizer',
      ],
    ],
    [
      'stays beside another one',
      ['example.com/db'],
      { rule: 'x', others: { db: { rule: 'db', finalizerName: 'example.com/db' } } },
      [],
    ],
    ['may go once it is off', ['example.com/x'], undefined, []],
  ])('%s', (_, finalizers, after, found) => {
    const one = told();
    one.fix('o1', finalizers);
    const subject = { apiVersion: 'ops.example.com/v1', kind: 'NodeFix', name: 'o1', uid: 'fix-o1' };
    one.store('finalizer/object/fix-o1', { rule: 'db', finalizerName: 'example.com/db' }, subject);
    one.store('finalizer/object/fix-o1', after, subject);
    expect(one.found).toEqual(found);
  });
});
