/** I3 counts the guards of repair again at each act: who counts, and who came back a moment ago. */
import { describe, expect, it } from 'vitest';
import { checkRepairGuards } from '../../../simulator/invariants/repair-guards.ts';
import { UNHEALTHY, OK, toldRepair, type NodeTold } from '../../builders/told-repair.ts';

const OFF = { zoneOutage: 'Off', freeze: 'Off' };
const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `n${index}`);

/** The first is terminated, a minute after all stood as they are told. */
function acts(repair: object, nodes: readonly NodeTold[]): readonly string[] {
  const told = toldRepair(checkRepairGuards, repair);
  for (const node of nodes) told.node(node);
  told.at(1);
  told.terminate(nodes[0]?.name ?? '');
  return told.found;
}

/** So many unhealthy of so many; the second one is like that. */
const pool = (unhealthy: number, total: number, second: Partial<NodeTold> = {}): readonly NodeTold[] =>
  names(total).map((name, index) => ({
    name,
    conditions: index < unhealthy ? UNHEALTHY : OK,
    ...(index === 1 && second),
  }));

/** A node with the label of the pool alone. */
const ofNone = (told: Partial<NodeTold> = {}): NodeTold => ({ name: 'other', claim: { labels: {} }, ...told });

describe('the threshold', () => {
  it.each([
    ['as many as may be', pool(2, 10), false],
    ['one too many', pool(3, 10), true],
    ['one too many, which is vetoed', pool(3, 10, { annotations: { 'curfew.dev/do-not-repair': 'true' } }), false],
    [
      'one too many, vetoed until a while ago',
      pool(3, 10, { annotations: { 'curfew.dev/do-not-repair': '2024-11-01T14:00:00Z' } }),
      true,
    ],
    [
      'one too many, which Karpenter must not repair',
      pool(3, 10, { annotations: { 'karpenter.sh/do-not-repair': 'true' } }),
      false,
    ],
    ['one too many, which is stopped', pool(3, 10, { taints: ['node.cloudprovider.kubernetes.io/shutdown'] }), false],
    ['one too many, whose NodeClaim is gone', pool(3, 10, { hasClaim: false }), false],
    ['one too many, which is being deleted', pool(3, 10, { deleted: -5 }), false],
    [
      'two of six of which one, which is well, is vetoed',
      [...pool(2, 5), { name: 'n5', annotations: { 'curfew.dev/do-not-repair': 'true' } }],
      true,
    ],
    ['two of six', pool(2, 6), false],
    ['three of ten, and one whose NodeClaim is of no pool', [...pool(3, 10), ofNone()], false],
    [
      'three of ten, and one whose NodeClaim is of no pool and names nobody yet',
      [...pool(3, 10), ofNone({ claim: { labels: {}, isNameless: true } })],
      false,
    ],
    [
      'three of ten, and an unhealthy one whose NodeClaim is of no pool: it is none of this one',
      [...pool(3, 10), ofNone({ conditions: UNHEALTHY })],
      true,
    ],
  ])('%s', (_, nodes, isViolated) => {
    expect(acts(OFF, nodes).length > 0).toBe(isViolated);
  });

  it('counts by the repair conditions of the pool', () => {
    const latched = names(4).map(name => ({ name, conditions: [['NetworkingReady', 'False', -60]] as const }));
    const nodes = [{ name: 'ill', conditions: UNHEALTHY }, ...latched];
    expect(acts(OFF, nodes)).toHaveLength(1);
    expect(acts({ ...OFF, policies: [{ conditionType: 'NetworkingReady', toleration: 'Never' }] }, nodes)).toEqual([]);
  });

  it('counts what changed since the run began in its favour', () => {
    const told = toldRepair(checkRepairGuards, OFF);
    for (const node of pool(2, 10)) told.node(node);
    told.at(1);
    told.node({ name: 'n5', conditions: [['Ready', 'False', 1]] });
    told.terminate('n0');
    expect(told.found).toEqual([]);
  });
});

describe('zone and freeze', () => {
  const rule = { maxUnhealthy: '100%' };
  it.each([
    ['three of five', pool(3, 5), true],
    [
      'three of five, of which one is vetoed',
      pool(3, 5, { annotations: { 'curfew.dev/do-not-repair': 'true' } }),
      true,
    ],
    [
      'three of five, of which one is stopped',
      pool(3, 5, { taints: ['node.cloudprovider.kubernetes.io/shutdown'] }),
      false,
    ],
    ['three of five, of which one has been going for two hours', pool(3, 5, { deleted: -120 }), false],
    ['three of five, of which one has been going for half an hour', pool(3, 5, { deleted: -30 }), true],
    ['two of five', pool(2, 5), false],
  ])('%s', (_, nodes, isViolated) => {
    expect(acts({ ...rule, freeze: 'Off' }, nodes).length > 0).toBe(isViolated);
    const dark = nodes.map(node => ({
      ...node,
      conditions: (node.conditions === UNHEALTHY ? [['Ready', 'Unknown', -60]] : OK) as never,
    }));
    expect(acts({ ...rule, zoneOutage: 'Off' }, dark).length > 0).toBe(isViolated);
  });
});

/** Of ten nodes n0 stays unhealthy; n1 and n2 were, and are well again since minute 10. The act is at the given minute. */
function settle(minute: number, { repair = OFF, created = -120 }: { repair?: object; created?: number } = {}) {
  const told = toldRepair(checkRepairGuards, repair);
  for (const name of names(10)) {
    const isBack = name === 'n1' || name === 'n2';
    told.node({ name, created: isBack ? created : -120, conditions: isBack || name === 'n0' ? UNHEALTHY : OK });
  }
  told.at(10);
  for (const name of ['n1', 'n2']) told.node({ name, created, conditions: [['Ready', 'True', 10]] });
  return {
    ...told,
    act(): readonly string[] {
      told.at(minute);
      told.terminate('n0');
      return told.found;
    },
  };
}

describe('nodes that came back a moment ago', () => {
  it('count with those that are unhealthy', () => {
    expect(settle(12).act()).toEqual([
      expect.stringMatching(/^I3: repair begins Terminate of Node n0 .* with them 3 of 10/),
    ]);
  });

  it.each([
    ['no longer than five minutes', settle(15.1)],
    ['no longer than the toleration', settle(12, { repair: { ...OFF, defaultTolerationDuration: '1m' } })],
    ['not where they are new', settle(12, { created: 5 })],
  ])('%s', (_, { act }) => {
    expect(act()).toEqual([]);
  });

  it('count not where an act of ours has brought them back', () => {
    const told = settle(12);
    told.at(9);
    told.reboot('n1');
    expect(told.act()).toEqual([]);
  });

  it('hold a node for a quarter of an hour in all', () => {
    const told = settle(12);
    told.at(-5);
    told.say('n0', 'blocked', 'Settling');
    expect(told.act()).toEqual([]);
  });
});
