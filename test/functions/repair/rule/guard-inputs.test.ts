/** What the guards of a pool count, whose pool a node is in, and which nodes EC2 is asked about. */
import { describe, expect, it } from 'vitest';
import { someFacts } from '../../../builders/pool-facts.ts';
import { aNodePool, NOW } from '../../../builders/pool.ts';
import {
  aCondition,
  anAttempt,
  aPoolNode,
  claimOf,
  READY,
  SICK,
  someRepairInForce,
  someSettings,
} from '../../../builders/repair.ts';
import { judgeNode } from '../../../../functions/repair/node/decide.ts';
import { newNode } from '../../../../functions/repair/node/rule/attempt.ts';
import { findingOf, type PresentNode, withState } from '../../../../functions/repair/node/rule/finding.ts';
import { NEW_POOL } from '../../../../functions/repair/pool-record.ts';
import { nodesToConfirm } from '../../../../functions/repair/rule/confirmation.ts';
import { type GuardInputs, guardInputsOf } from '../../../../functions/repair/rule/guard-inputs.ts';
import { judgePool } from '../../../../functions/repair/rule/judged-pool.ts';
import type { ClusterNodes, PoolFacts } from '../../../../functions/repair/rule/pool-facts.ts';
import { poolOf } from '../../../../functions/repair/rule/pool-members.ts';
import type { JsonObject, KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import { indexOwners } from '../../../../shared/domain/node-owner.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import { repairConditionsOf } from '../../../../shared/domain/repair-policy.ts';
import { addDuration, minutes, toIsoText } from '../../../../shared/domain/time.ts';

const NODE = aPoolNode('n1');
const TWIN = { ...aPoolNode('n2'), providerID: NODE.providerID };
const LONE = aPoolNode('n3');
const OTHER = aPoolNode('o1');
const OTHERS = repairConditionsOf(someSettings({ conditions: [{ type: 'Disk', status: 'True', toleration: '1m' }] }));
const CLUSTER: ClusterNodes = {
  nodes: [NODE, LONE, OTHER],
  owners: indexOwners([NODE, LONE, OTHER], [claimOf(NODE), claimOf(OTHER)]),
  repairConditionsOf: () => OTHERS,
  pools: ['default'],
  vetoOfPool: () => undefined,
  instanceEnds: new Map(),
};

interface Counted extends Pick<PoolFacts, 'pool' | 'nodes' | 'poolRecord'> {
  readonly block: JsonObject;
  readonly cluster: ClusterNodes;
  readonly nodePool: KubernetesObject | undefined;
  readonly presentNodes: readonly PresentNode[];
}
const guardInputs = (given: Partial<Counted> = {}): GuardInputs => {
  const { block = {}, cluster, nodePool, presentNodes = [], nodes = [NODE, LONE], ...more } = given;
  const poolSettings = { repair: someRepairInForce(block), nodePool };
  const dueFacts = cluster && { cluster, externalRequests: new Map() };
  const counted = guardInputsOf(someFacts(nodes, { poolSettings, dueFacts, ...more }, [LONE, TWIN]), { presentNodes });
  if (counted === undefined) throw new Error('nothing is counted');
  return counted;
};

describe('a guard counts', () => {
  it('the nodes of the pool; without a NodePool those of the cluster, and of the pool where nobody read them', () => {
    expect(guardInputs({ cluster: CLUSTER })).toMatchObject({
      area: 'NodePool default',
      place: 'in NodePool default',
      poolNodes: [NODE, LONE],
      thresholdNodes: [NODE, LONE],
      nodes: CLUSTER.nodes,
    });
    const nodes = [{ ...LONE, labels: {} }];
    expect(guardInputs({ pool: undefined, nodes, cluster: CLUSTER })).toMatchObject({
      area: 'the cluster',
      place: 'among the nodes without a NodePool',
      poolNodes: nodes,
      thresholdNodes: CLUSTER.nodes,
    });
    expect(guardInputs({ pool: undefined, nodes })).toMatchObject({ thresholdNodes: nodes, nodes: undefined });
  });

  it('no node that a NodeClaim of another pool owns, once that has been read', () => {
    const claim = claimOf(LONE, { labels: {} });
    const cluster = { ...CLUSTER, owners: indexOwners([NODE, LONE], [claimOf(NODE), claim]) };
    expect(guardInputs({ cluster })).toMatchObject({ poolNodes: [NODE], thresholdNodes: [NODE] });
    expect(guardInputs()).toMatchObject({ poolNodes: [NODE, LONE], thresholdNodes: [NODE, LONE] });
  });

  it('a node with its NodeClaim, if that is certain', () => {
    const { knownOf } = guardInputs();
    expect(knownOf(NODE)).toMatchObject({ claim: claimOf(NODE), isLeftOver: false });
    expect(knownOf(LONE)).toMatchObject({ claim: undefined, isLeftOver: true });
    expect(guardInputs({ nodes: [NODE, TWIN] }).knownOf(NODE)).toMatchObject({ claim: undefined, isLeftOver: false });
  });

  it('without a NodePool a node of a NodePool by its NodeClaim, and by the veto of its NodePool', () => {
    const value = 'true';
    const vetoOfPool = (name?: string) => ({ kind: 'NodePool' as const, name: name ?? '', uid: 'uid-p', value });
    const { knownOf } = guardInputs({ pool: undefined, nodes: [], cluster: { ...CLUSTER, vetoOfPool } });
    expect(knownOf(OTHER)).toMatchObject({ claim: claimOf(OTHER), isLeftOver: false, poolVeto: { name: 'default' } });
    const lone = (more: Partial<NodeView>): boolean => knownOf({ ...LONE, ...more }).isLeftOver;
    expect(lone({ labels: {} })).toBe(false);
    expect(lone({ conditions: [READY] })).toBe(false);
    expect(lone({ conditions: [READY], ownerClaim: 'gone' })).toBe(true);
    expect(lone({ labels: {}, ownerClaim: 'gone' })).toBe(true);
  });

  it('a node as going whose instance a repair has ended, in its own pool and in that without a NodePool', () => {
    const finding = {
      ...withState(findingOf(undefined, undefined)),
      kind: 'present',
      node: LONE,
      record: { ...newNode('n3', undefined), attempt: anAttempt('n3', { claim: undefined, time: NOW }) },
    } as const;
    expect(guardInputs({ presentNodes: [finding] }).knownOf(LONE).instanceEndTime).toBe(NOW);
    const cluster = { ...CLUSTER, instanceEnds: new Map([[OTHER.uid, NOW]]) };
    expect(guardInputs({ cluster }).knownOf(OTHER).instanceEndTime).toBe(NOW);
    expect(guardInputs({ cluster }).knownOf(NODE).instanceEndTime).toBeUndefined();
  });

  it('a node by the repair conditions of its own pool', () => {
    const own = repairConditionsOf(someSettings());
    const { repairConditionsOf: of } = guardInputs({ cluster: CLUSTER });
    expect(of(NODE)).toEqual(own);
    expect(of(OTHER)).toEqual(OTHERS);
    expect(guardInputs().repairConditionsOf(OTHER)).toEqual(own);
  });

  it('a node as acted upon while its repair is in flight, and for an hour after its reboot', () => {
    const reboot = (ago: number): NodeView => ({
      ...OTHER,
      annotations: { 'curfew.dev/last-reboot': JSON.stringify({ time: toIsoText(addDuration(NOW, minutes(-ago))) }) },
    });
    const { isActedUpon } = guardInputs({ poolRecord: { ...NEW_POOL, inFlight: { 'uid-n1': NOW } } });
    expect([NODE, LONE, reboot(59), reboot(60)].map(isActedUpon)).toEqual([true, false, true, false]);
  });
});

it('a node that an action has mended a moment ago counts as acted upon; one that came back by itself does not', () => {
  const mendedBy = (...taken: string[]) => {
    const incident = { type: 'Ready', taken, healthySince: NOW };
    const finding = {
      ...withState(findingOf(undefined, undefined)),
      kind: 'present',
      node: LONE,
      record: { ...newNode('n3', 'default'), incident },
    } as const;
    return guardInputs({ presentNodes: [finding] }).isActedUpon(LONE);
  };
  expect([mendedBy('CustomResource|fix.yaml|1'), mendedBy()]).toEqual([true, false]);
});

it('a node that somebody else has mended came back by itself, though it took a slot', () => {
  const poolRecord = { ...NEW_POOL, inFlight: { [LONE.uid]: NOW } };
  const isActedUpon = (otherWorkTime?: typeof NOW) => {
    const finding = {
      ...withState(findingOf(undefined, undefined)),
      kind: 'present',
      node: LONE,
      record: undefined,
      otherWorkTime,
    } as const;
    return guardInputs({ poolRecord, presentNodes: [finding] }).isActedUpon(LONE);
  };
  expect([isActedUpon(), isActedUpon(NOW)]).toEqual([true, false]);
});

describe('the disruption budgets of the NodePool', () => {
  const STATED = aNodePool({ disruption: { budgets: [{ nodes: '0', reasons: ['Unhealthy'] }] } });
  const PLAIN = aNodePool({ disruption: { budgets: [{ nodes: '0' }] } });

  it.each<[string, string | undefined, KubernetesObject | undefined, boolean]>([
    ['hold where they name the reason', 'Explicit', STATED, true],
    ['hold by default where they name the reason', undefined, STATED, true],
    ['do not hold where they name none', 'Explicit', PLAIN, false],
    ['hold where they name none and all count', 'All', PLAIN, true],
    ['hold where the NodePool states none and all count: Karpenter has one', 'All', aNodePool({}), true],
    ['do not hold where the NodePool states none', 'Explicit', aNodePool({}), false],
    ['do not hold where the NodePool has no spec', 'Explicit', aNodePool(), false],
    ['do not hold where they are to be ignored', 'Ignore', STATED, false],
    ['do not hold without a NodePool', 'All', undefined, false],
  ])('%s', (_, disruptionBudgets, pool, expected) => {
    const block: JsonObject = disruptionBudgets === undefined ? {} : { disruptionBudgets };
    expect(guardInputs({ block, nodePool: pool }).budget !== undefined).toBe(expected);
  });
});

it('the pool of a node is that of its NodeClaim, whatever the node says of itself', () => {
  const claim = claimOf(NODE, { labels: { 'karpenter.sh/nodepool': 'of-claim' } });
  expect(poolOf(NODE, { kind: 'claim', claim })).toBe('of-claim');
  expect(poolOf(NODE, { kind: 'none', message: '' })).toBe('default');
  expect(poolOf({ ...NODE, labels: {} }, { kind: 'none', message: '' })).toBeUndefined();
  expect(poolOf(NODE, { kind: 'claim', claim: { ...claim, labels: {} } })).toBeUndefined();
});

describe('of a pass', () => {
  const SILENT = aCondition('Ready', 'Unknown');
  const CONFIRMS: JsonObject = {
    maxUnhealthy: '100%',
    freeze: 'Off',
    zoneOutage: 'Off',
    policies: [{ conditionType: 'Ready', toleration: '10m', confirm: 'InstanceStatus' }],
  };
  const silent = (name: string): NodeView => aPoolNode(name, SILENT);
  const facts = (
    nodes: readonly NodeView[],
    repair = someRepairInForce(CONFIRMS),
    more: Partial<PoolFacts> = {},
  ): PoolFacts =>
    someFacts(nodes, {
      poolSettings: { repair, nodePool: undefined },
      dueFacts: {
        cluster: {
          ...CLUSTER,
          nodes,
          owners: indexOwners(
            nodes,
            nodes.map(node => claimOf(node)),
          ),
        },
        externalRequests: new Map(),
      },
      ...more,
    });
  const asked = (known: PoolFacts) => {
    const judged = judgePool(known, judgeNode);
    return nodesToConfirm(judged, guardInputsOf(known, judged));
  };

  it('the guards count what was read', () => {
    const known = facts([silent('a'), aPoolNode('b', READY)]);
    const counted = guardInputsOf(known, judgePool(known, judgeNode));
    expect(counted).toMatchObject({
      now: NOW,
      area: 'NodePool default',
      thresholdNodes: known.nodes,
      nodes: known.nodes,
    });
    expect(counted?.knownOf(silent('a')).claim?.name).toBe('claim-a');
    const early = facts([silent('a')], someRepairInForce(CONFIRMS), { dueFacts: undefined });
    expect(guardInputsOf(early, judgePool(early, judgeNode))).toMatchObject({ nodes: undefined });
  });

  it('nothing is counted where no block can be read', () => {
    for (const settings of [undefined, { invalid: 'a typo' }]) {
      const known = facts([silent('a')], someRepairInForce({}, { settings }));
      expect(guardInputsOf(known, judgePool(known, judgeNode))).toBeUndefined();
      expect(asked(known)).toEqual([]);
    }
  });

  it('EC2 is asked about the nodes that are due and whose entry asks it', () => {
    const tolerated = aPoolNode('c', aCondition('Ready', 'Unknown', NOW));
    const known = facts([silent('a'), aPoolNode('b', SICK), tolerated, aPoolNode('d', READY), silent('e')]);
    expect(asked(known)).toEqual([
      { node: silent('a'), check: 'InstanceStatus' },
      { node: silent('e'), check: 'InstanceStatus' },
    ]);
  });

  it('EC2 is not asked about nodes that a guard blocks: an outage asks nothing', () => {
    expect(asked(facts([silent('a'), silent('b')], someRepairInForce({ ...CONFIRMS, maxUnhealthy: '0%' })))).toEqual(
      [],
    );
  });

  it('EC2 is not asked where nothing is counted', () => {
    const judged = judgePool(facts([silent('a')]), judgeNode);
    expect(nodesToConfirm(judged, undefined)).toEqual([]);
  });
});
