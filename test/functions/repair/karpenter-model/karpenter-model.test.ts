/**
 * A naive model of Karpenter 1.15's rules and Curfew answer the same random clusters. What differs on purpose stands in
 * docs/node-repair.md, and here row by row.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../../../functions/repair/decide.ts';
import { repairConditionsOfProvider } from '../../../../shared/domain/provider-policies.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import { toDurationMs } from '../../../../shared/domain/time.ts';
import { aCondition, T } from '../../../builders/repair.ts';
import { type Cluster, type Command, DIFFERENCES, karpenter } from './model.ts';
import { AWS_POLICIES, policySets, repairConditionsFor } from './policies.ts';
import { ago, cluster, HEALTHY, NODE_POOL, UNHEALTHY } from './told.ts';
import { clustersOf, curfew, type CurfewOptions } from './worlds.ts';

const ALL = new Set(DIFFERENCES);
const PROFILE = repairConditionsOfProvider('aws-1.15');
const byPool = (commands: readonly Command[]) => Object.groupBy(commands, ({ pool = 'none' }) => pool);

function compare(sets: typeof policySets, options: CurfewOptions = {}, numRuns = 400): number {
  let repaired = 0;
  fc.assert(
    fc.property(clustersOf(sets), each => {
      const expected = karpenter(each, ALL);
      repaired += expected.length;
      expect(byPool(curfew(each, options))).toEqual(byPool(expected));
    }),
    { numRuns },
  );
  return repaired;
}

describe("a naive model of Karpenter 1.15's rules", () => {
  it('repairs the same nodes, in the same order, by the same action, with the same deadline for pods', () => {
    expect(compare(policySets)).toBeGreaterThan(20);
  });

  it('does the same with the policies of the AWS provider as the profile of Curfew has them', () => {
    expect(compare(fc.constant(AWS_POLICIES), { provided: PROFILE })).toBeGreaterThan(20);
  });

  it.each<[string, CurfewOptions]>([
    [
      'comes in the opposite order',
      { decide: seen => ({ ...decide(seen), granted: decide(seen).granted.toReversed() }) },
    ],
    ['does not count disruption budgets', { block: { disruptionBudgets: 'Ignore' } }],
    ['counts a larger threshold', { block: { maxUnhealthy: '25%' } }],
    ['takes the older table of the provider', { provided: repairConditionsOfProvider(undefined) }],
    [
      'takes one minute more of toleration',
      { provided: PROFILE.map(each => ({ ...each, toleration: toDurationMs(each.toleration + 60_000) })) },
    ],
    ['forgets the drain bounds', { provided: PROFILE.map(each => ({ ...each, drainBound: undefined })) }],
    ['never reboots', { provided: PROFILE.map(each => ({ ...each, actions: undefined })) }],
  ])('would notice a Curfew that %s', (_, options) => {
    const provided = repairConditionsFor(AWS_POLICIES);
    expect(() => compare(fc.constant(AWS_POLICIES), { provided, ...options }, 2_000)).toThrow(/Property failed/);
  });
});

describe('what differs', () => {
  const claimed = (commands: readonly Command[]) => commands.map(({ claim, action }) => `${action} ${claim}`);
  const gpu = (reason: string, since: number) => ({
    ...aCondition('AcceleratedHardwareReady', 'False', ago(since)),
    reason,
  });
  const ranked = [
    { ...AWS_POLICIES[0], type: 'Low', status: 'False', toleration: 0, action: 'Replace', priority: 0 },
    { ...AWS_POLICIES[0], type: 'High', status: 'False', toleration: 0, action: 'Replace', priority: 80 },
    { type: 'Ready', status: 'False', toleration: 30, bound: 10, action: 'Replace', priority: 40 },
  ] as const;
  const low = (since: number) => aCondition('Low', 'False', ago(since));
  const high = (since: number) => aCondition('High', 'False', ago(since));

  const ROWS: Readonly<Record<(typeof DIFFERENCES)[number], readonly [Cluster, readonly string[], readonly string[]]>> =
    {
      'transition time': [cluster([[{ ...UNHEALTHY, lastTransitionTime: undefined }]]), ['Replace claim-n1'], []],
      'conditions of one type': [cluster([[HEALTHY, UNHEALTHY]]), ['Replace claim-n1'], []],
      'several policies': [cluster([[gpu('XID48', 50), UNHEALTHY]]), ['Replace claim-n1'], ['Reboot claim-n1']],
      // The one rank of priority 40, which nothing is due for, is worth half an hour.
      rank: [
        cluster([[low(45)], [high(1)]], { policies: ranked }),
        ['Replace claim-n2', 'Replace claim-n1'],
        ['Replace claim-n1', 'Replace claim-n2'],
      ],
      ties: [
        cluster([[UNHEALTHY], [UNHEALTHY, { ...UNHEALTHY, type: 'StorageReady' }]], { costs: { n1: 1, n2: 2 } }),
        ['Replace claim-n1', 'Replace claim-n2'],
        ['Replace claim-n2', 'Replace claim-n1'],
      ],
      'pool of a node': [
        cluster(
          [[UNHEALTHY]],
          { change: node => ({ ...node, labels: { ...node.labels, [NODE_POOL]: 'lone' } }) },
          { change: claim => ({ ...claim, labels: { [NODE_POOL]: 'default' } }) },
        ),
        ['Replace claim-n1'],
        ['Replace claim-n1'],
      ],
      'no NodePool': [cluster([[UNHEALTHY]], { change: node => ({ ...node, labels: {} }) }), [], ['Replace claim-n1']],
      'NodeClaim of a node': [
        cluster([[UNHEALTHY]], {}, { change: claim => ({ ...claim, nodeName: 'n2' }) }),
        ['Replace claim-n1'],
        [],
      ],
      'being deleted': [
        cluster([[UNHEALTHY]], {}, { change: claim => ({ ...claim, deletionTime: T }) }),
        [],
        ['Replace claim-n1'],
      ],
      'counted by the breaker': [
        cluster(
          [[UNHEALTHY], [UNHEALTHY], [UNHEALTHY], [UNHEALTHY]],
          {},
          {
            change: claim =>
              claim.name === 'claim-n1'
                ? claim
                : {
                    ...claim,
                    deletionTime: T,
                    annotations: { 'karpenter.sh/nodeclaim-termination-timestamp': '2024-11-01T15:00:00Z' },
                  },
          },
        ),
        [],
        ['Replace claim-n1'],
      ],
      veto: [
        cluster(
          [[UNHEALTHY]],
          {},
          { change: claim => ({ ...claim, annotations: { 'karpenter.sh/do-not-repair': 'true' } }) },
        ),
        ['Replace claim-n1'],
        [],
      ],
      'stopped instance': [
        cluster([[UNHEALTHY]], {
          change: node => ({ ...node, taints: [{ key: 'node.cloudprovider.kubernetes.io/shutdown', value: '' }] }),
        }),
        ['Replace claim-n1'],
        [],
      ],
      maintenance: [
        cluster([[UNHEALTHY, aCondition('MaintenanceInProgress', 'True', ago(1))]]),
        ['Replace claim-n1'],
        [],
      ],
    };

  it.each(DIFFERENCES.filter(each => each !== 'pool of a node'))('%s', difference => {
    const [told, theirs, ours] = ROWS[difference];
    expect(claimed(karpenter(told))).toEqual(theirs);
    expect(claimed(curfew(told))).toEqual(ours);
    expect(claimed(karpenter(told, new Set([difference])))).toEqual(ours);
    expect(theirs).not.toEqual(ours);
  });

  it('pool of a node: its budget is that of the NodeClaim', () => {
    const [told] = ROWS['pool of a node'];
    const closed = { ...told, budgets: { default: [{ nodes: '0' }] } };
    expect(claimed(karpenter(closed))).toEqual(['Replace claim-n1']);
    expect(karpenter(closed, new Set(['pool of a node']))).toEqual([]);
    expect(curfew(closed)).toEqual([]);
  });

  it('NetworkUnavailable=True counts, as in the design', () => {
    const told = cluster([[aCondition('NetworkUnavailable', 'True', ago(40))]]);
    expect(karpenter(told)).toEqual([]);
    expect(claimed(curfew(told, { provided: PROFILE }))).toEqual(['Replace claim-n1']);
  });

  it('outages of zones and of the cluster block repairs, unless they are switched off', () => {
    const change = (node: NodeView): NodeView => ({
      ...node,
      labels: { ...node.labels, 'topology.kubernetes.io/zone': node.conditions[0] === UNHEALTHY ? 'a' : 'b' },
    });
    const told = cluster([[UNHEALTHY], [UNHEALTHY], [UNHEALTHY]], { change });
    const all = { maxUnhealthy: '100%' };
    expect(curfew(told, { block: all })).toHaveLength(3);
    expect(curfew(told, { block: { ...all, zoneOutage: { minNodes: 3 } } })).toEqual([]);
  });

  it('the toleration of a reason counts from its first sight', () => {
    const told = cluster([[gpu('XID48', 50)]]);
    expect(claimed(karpenter(told))).toEqual(['Reboot claim-n1']);
    expect(curfew(told, { hasSeen: false })).toEqual([]);
  });

  it('budgets without a reason count under disruptionBudgets: All', () => {
    const told = { ...cluster([[UNHEALTHY]]), budgets: { default: [{ nodes: '0' }] } };
    expect(karpenter(told)).toEqual([]);
    expect(curfew(told)).toEqual([]);
    expect(claimed(curfew(told, { block: { disruptionBudgets: 'Explicit' } }))).toEqual(['Replace claim-n1']);
  });

  it('of budgets that cannot be read those count that apply to repair', () => {
    const unreadable = { nodes: '1', schedule: 'whenever', minutes: 60 };
    const of = (reason: string) =>
      claimed(curfew({ ...cluster([[UNHEALTHY]]), budgets: { default: [{ ...unreadable, reasons: [reason] }] } }));
    expect(of('Drifted')).toEqual(['Replace claim-n1']);
    expect(of('Unhealthy')).toEqual([]);
  });

  it('has a row for each in the documentation, and for what is told above or needs pods or time', () => {
    const text = readFileSync(join(import.meta.dirname, '../../../../docs/node-repair.md'), 'utf8');
    const section = text.split('### Differences from Karpenter 1.15')[1]?.split('\n## ')[0] ?? '';
    const subjects = [...section.matchAll(/^\| ([^|]+) \|/gm)].map(([, subject]) => subject).slice(1);
    const beside = [
      '`NetworkUnavailable=True`',
      'outages',
      'reason',
      'budgets without a reason',
      'budgets that cannot be read',
      'next action',
      'pods',
    ];
    expect(subjects).toEqual([...DIFFERENCES, ...beside]);
  });
});
