/** Why a node is not repaired: a veto of a person or of Karpenter, or others who are at work on it. */
import { describe, expect, it } from 'vitest';
import { createGuards } from '../../../../../functions/repair/rule/guards.ts';
import { isStopped, otherWorkOn } from '../../../../../functions/repair/node/rule/other-work.ts';
import { type VetoSource, vetoOf } from '../../../../../functions/repair/node/rule/vetoes.ts';
import type { NodeClaimView } from '../../../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../../../shared/domain/node.ts';
import { repairConditionsOf } from '../../../../../shared/domain/repair-policy.ts';
import { addDuration, hours, minutes, seconds, type EpochMs } from '../../../../../shared/domain/time.ts';
import { aCondition, aPoolNode, claimOf, someRepairInForce, T } from '../../../../builders/repair.ts';

const NOW = addDuration(T, minutes(30));
const OURS = 'curfew.dev/do-not-repair';
const KARPENTER = 'karpenter.sh/do-not-repair';
const node = (given: Partial<NodeView> = {}): NodeView => aPoolNode('n1', aCondition('Ready', 'False', T), given);
const claim = (given: Partial<NodeClaimView> = {}): NodeClaimView => claimOf(node(), given);
const taint = (key: string, value = ''): NodeView =>
  node({
    taints: [
      { key: 'other', value: '' },
      { key, value },
    ],
  });

describe('a veto', () => {
  const on = (value: string): NodeView => node({ annotations: { [OURS]: value } });
  const by = (value: string | undefined): VetoSource => ({ kind: 'Node', name: 'n1', uid: node().uid, value });
  const where = 'curfew.dev/do-not-repair on Node n1';

  it('holds as long as its value says, and without end where nobody can read that (I6)', () => {
    const of = (value: string, now = NOW): unknown => vetoOf(on(value), undefined, undefined, now);
    const forever = { until: undefined, invalid: false };
    expect(of('true')).toEqual({ ...forever, message: `${where} holds until it is removed`, by: by('true') });
    const instant = '2024-01-01T23:00:00Z';
    const end = Date.parse(instant) as EpochMs;
    expect(of(instant, addDuration(end, seconds(-1)))).toEqual({
      until: end,
      message: `${where} holds until ${instant}`,
      invalid: false,
      by: by(instant),
    });
    expect(of(instant, end)).toBeUndefined();
    expect(of('soon')).toEqual({
      until: undefined,
      message: `${where} holds until it is removed: its value must be "true" or an RFC 3339 instant, got "soon"`,
      invalid: true,
      by: by('soon'),
    });
    expect(vetoOf(node(), claim(), undefined, NOW)).toBeUndefined();
  });

  it('of Karpenter holds with the exact value alone', () => {
    const of = (value: string): unknown =>
      vetoOf(node({ annotations: { [KARPENTER]: value } }), undefined, undefined, NOW);
    expect(of('true')).toEqual({
      until: undefined,
      message: 'karpenter.sh/do-not-repair on Node n1 holds until it is removed',
      invalid: false,
      by: by(undefined),
    });
    expect(of('True')).toBeUndefined();
  });

  it('may stand on the NodeClaim or on the pool, and the one that holds longest counts', () => {
    const claimed = claim({ annotations: { [OURS]: 'true' } });
    expect(vetoOf(node(), claimed, undefined, NOW)?.by).toMatchObject({ kind: 'NodeClaim', name: claimed.name });
    const pool = (value: string): VetoSource => ({ kind: 'NodePool', name: 'default', uid: 'p', value });
    expect(vetoOf(node(), claim(), pool('true'), NOW)?.by.kind).toBe('NodePool');
    const [soon, late] = [toText(addDuration(NOW, hours(1))), toText(addDuration(NOW, hours(2)))];
    expect(vetoOf(on(soon), undefined, pool(late), NOW)?.by.kind).toBe('NodePool');
    expect(vetoOf(on(late), undefined, pool(soon), NOW)?.by.kind).toBe('Node');
    expect(vetoOf(on('true'), undefined, pool(late), NOW)?.by.kind).toBe('Node');
    expect(vetoOf(on(late), undefined, pool('true'), NOW)?.by.kind).toBe('NodePool');
  });
});

const toText = (instant: EpochMs): string => new Date(instant).toISOString();

describe('somebody else at work', () => {
  const reboot = 'karpenter.sh/rebooting';
  const disrupted = 'karpenter.sh/disrupted';
  const removal = 'ToBeDeletedByClusterAutoscaler';
  const ago = (count: number): string => `${addDuration(NOW, minutes(-count)) / 1000}`;
  const states = (type: string, status = 'True'): Partial<NodeClaimView> => ({
    conditions: [aCondition('Ready', 'True', T), aCondition(type, status, T)],
  });
  const of = (
    given: NodeView,
    claimed: NodeClaimView | undefined = claim(),
    asked?: string,
  ): readonly [string, number] | undefined => {
    const found = otherWorkOn(given, claimed, asked, NOW);
    return found && [found.what, found.inFlightFor / minutes(1)];
  };

  it.each<[string, NodeView, NodeClaimView | undefined, readonly [string, number] | undefined]>([
    ['nobody', node(), claim(), undefined],
    ['Karpenter, which reboots it', taint(reboot), undefined, [`taint ${reboot}`, 40]],
    ['Karpenter, by its NodeClaim', node(), claim(states('Rebooting')), ['condition Rebooting of the NodeClaim', 40]],
    ['nobody: the reboot is over', node(), claim(states('Rebooting', 'False')), undefined],
    ['Karpenter, which is going to disrupt it', taint(disrupted), claim(), [`taint ${disrupted}`, 60]],
    [
      'the same, by its NodeClaim',
      node(),
      claim(states('DisruptionReason')),
      ['condition DisruptionReason of the NodeClaim', 60],
    ],
    ['nobody: it is being terminated', { ...taint(disrupted), deletionTime: T }, claim(), undefined],
    ['nobody: its NodeClaim is being deleted', taint(disrupted), claim({ deletionTime: T }), undefined],
    ['the cluster-autoscaler', taint(removal, ago(14)), claim(), [`taint ${removal}`, 60]],
    ['nobody: the cluster-autoscaler has had its time', taint(removal, ago(15)), claim(), undefined],
    ['nobody: nobody knows since when', taint(removal, 'soon'), claim(), undefined],
    [
      'somebody who maintains it',
      node({ conditions: [aCondition('MaintenanceInProgress', 'True', T)] }),
      claim(),
      ['condition MaintenanceInProgress', 60],
    ],
    [
      'nobody: that is over',
      node({ conditions: [aCondition('MaintenanceInProgress', 'False', T)] }),
      claim(),
      undefined,
    ],
  ])('is %s', (_, given, claimed, found) => {
    expect(of(given, claimed)).toEqual(found);
  });

  it('is named by who was asked where the node shows nothing', () => {
    expect(of(node(), claim(), 'a request')).toEqual(['a request', 60]);
    expect(of(taint(reboot), claim(), 'a request')).toEqual([`taint ${reboot}`, 40]);
  });
});

it('knows a stopped instance by its taint, among others', () => {
  expect(isStopped(taint('node.cloudprovider.kubernetes.io/shutdown'))).toBe(true);
  expect([isStopped(taint('x')), isStopped(node({ taints: [] })), isStopped({})]).toEqual([false, false, false]);
});

describe('a guard', () => {
  const rules = someRepairInForce({ maxUnhealthy: 0 });
  const ZONE = 'topology.kubernetes.io/zone';
  const { settings } = rules;
  if (settings === undefined || 'invalid' in settings) throw new Error('no settings');
  const blockerOf = (nodes: readonly NodeView[], poolNodes = nodes.slice(0, 1)): unknown => {
    const [first] = nodes;
    if (first === undefined) throw new Error('no node');
    const guards = createGuards({
      now: NOW,
      settings,
      area: 'NodePool default',
      place: 'in NodePool default',
      poolNodes,
      thresholdNodes: poolNodes,
      knownOf: each => ({
        claim: claimOf(each),
        isLeftOver: false,
        instanceEndTime: undefined,
        poolVeto: undefined,
      }),
      nodes,
      repairConditionsOf: () => repairConditionsOf(settings),
      isActedUpon: () => false,
    });
    return guards.blockerOf(first);
  };
  const some = (count: number, status: string, of = 'n', zone = 'a'): readonly NodeView[] =>
    Array.from({ length: count }, (_, index) =>
      aPoolNode(`${of}${index}`, aCondition('Ready', status, T), { labels: { [ZONE]: zone } }),
    );

  it('says in numbers what it holds', () => {
    expect(blockerOf(some(1, 'False'))).toEqual({
      kind: 'guard',
      reason: 'UnhealthyThreshold',
      message: '1 of 1 nodes of NodePool default are unhealthy, repair stops above 0 (maxUnhealthy)',
      setting: { field: 'spec.repair.maxUnhealthy', numbers: { unhealthy: 1, of: 1, allowed: 0 } },
      until: addDuration(NOW, minutes(5)),
      guard: 'threshold',
    });
  });

  it('of a zone comes before that of the pool, and that of the cluster before both', () => {
    const { zoneOutage, freeze } = settings;
    if (zoneOutage === undefined || freeze === undefined) throw new Error('no guards');
    const zone = [...some(zoneOutage.minNodes, 'False'), ...some(100, 'True', 'w', 'b')];
    expect(blockerOf(zone)).toMatchObject({
      kind: 'guard',
      reason: 'ZoneOutage',
      setting: {
        field: 'spec.repair.zoneOutage',
        numbers: { zone: 'a', unhealthy: zoneOutage.minNodes, of: zoneOutage.minNodes, ...zoneOutage },
      },
      until: addDuration(NOW, minutes(1)),
      guard: 'zone/a',
    });
    expect(blockerOf(some(freeze.minNodes, 'Unknown'))).toMatchObject({
      kind: 'guard',
      reason: 'ClusterFreeze',
      setting: {
        field: 'spec.repair.freeze',
        numbers: { unknown: freeze.minNodes, of: freeze.minNodes, ...freeze },
      },
      until: addDuration(NOW, minutes(1)),
      guard: 'cluster',
    });
  });
});
