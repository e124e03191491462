/** What blocks a due repair although the node itself may be repaired. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LAST_REBOOT_ANNOTATION } from '../../../../functions/repair/node/rule/reboot-marks.ts';
import { newNode } from '../../../../functions/repair/node/rule/attempt.ts';
import { verdictOf } from '../../../../functions/repair/node/rule/finding.ts';
import { NEW_POOL } from '../../../../functions/repair/pool-record.ts';
import { mayBeOutage } from '../../../../functions/repair/rule/guards.ts';
import type { JsonObject } from '../../../../shared/domain/kubernetes-object.ts';
import type { NodeClaimView } from '../../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import { repairConditionsOf } from '../../../../shared/domain/repair-policy.ts';
import { addDuration, type EpochMs, minutes, toDurationMs, toIsoText } from '../../../../shared/domain/time.ts';
import {
  aCondition,
  aDecision,
  aPoolNode,
  aPoolOf,
  claimOf,
  type PoolWorld,
  SICK,
  someRepairInForce,
  someSettings,
  T,
  verdictsOf,
} from '../../../builders/repair.ts';

const NOW = addDuration(T, minutes(30));
const ZONE = 'topology.kubernetes.io/zone';
const POOL = 'karpenter.sh/nodepool';
const before = (now: EpochMs, ago: number): EpochMs => addDuration(now, toDurationMs(-ago * 60_000));
const repaired = (nodes: readonly NodeView[], given: Partial<PoolWorld> = {}): readonly string[] =>
  aDecision(nodes, given).granted.map(({ finding }) => finding.node.name);
const unhealthyNode = (name: string, overrides: Partial<NodeView> = {}): NodeView =>
  aPoolNode(name, aCondition('Ready', 'False', T), overrides);
/** Well for so many minutes. */
const well = (name: string, ago = 600, overrides: Partial<NodeView> = {}): NodeView =>
  aPoolNode(name, aCondition('Ready', 'True', before(NOW, ago)), { creationTime: before(NOW, 900), ...overrides });

describe('unhealthy threshold of 20 %, rounded up', () => {
  // Karpenter's table: pool size → most unhealthy nodes that still repair.
  it.each([
    [1, 1],
    [2, 1],
    [5, 1],
    [6, 2],
    [10, 2],
    [11, 3],
    [15, 3],
    [16, 4],
    [20, 4],
    [21, 5],
    [25, 5],
    [26, 6],
    [100, 20],
    [101, 21],
  ])('in a pool of %i repairs up to %i', (size, allowed) => {
    const pool = (unhealthy: number): readonly NodeView[] =>
      Array.from({ length: size }, (_, index) => (index < unhealthy ? unhealthyNode(`n${index}`) : well(`n${index}`)));
    expect(repaired(pool(allowed))).toHaveLength(allowed);
    if (allowed === size) return;
    const { findings, wakeTime } = aDecision(pool(allowed + 1));
    const message = `${allowed + 1} of ${size} nodes of NodePool default are unhealthy, repair stops above ${allowed} (maxUnhealthy)`;
    expect(findings.filter(({ verdict }) => verdict?.kind === 'blockedByPool')).toHaveLength(allowed + 1);
    expect(findings[0]?.verdict).toMatchObject({
      kind: 'blockedByPool',
      blocker: { reason: 'UnhealthyThreshold' },
      message,
    });
    expect(wakeTime).toBe(addDuration(NOW, minutes(5)));
  });

  it('counts a node inside its toleration', () => {
    const fresh = aPoolNode('n2', aCondition('Ready', 'Unknown', addDuration(T, minutes(29))));
    expect(verdictsOf(aDecision([unhealthyNode('n1'), fresh, well('n3'), well('n4')]))).toEqual([
      'blocked n1 UnhealthyThreshold',
      'tolerate n2',
    ]);
  });

  it.each([
    [0, 1, 0],
    [3, 3, 3],
    [3, 4, 0],
    ['0%', 1, 0],
    ['50%', 5, 5],
    ['50%', 6, 0],
  ])('obeys maxUnhealthy %j with %i of 10 unhealthy', (maxUnhealthy, unhealthy, expected) => {
    const nodes = Array.from({ length: 10 }, (_, index) =>
      index < unhealthy ? unhealthyNode(`n${index}`) : well(`n${index}`),
    );
    expect(
      repaired(nodes, { repair: someRepairInForce({ maxUnhealthy, zoneOutage: 'Off', freeze: 'Off' }) }),
    ).toHaveLength(expected);
  });

  const SHUTDOWN = [{ key: 'node.cloudprovider.kubernetes.io/shutdown', value: '' }];
  it.each<[string, NodeView, boolean]>([
    ['a node that a person vetoes', unhealthyNode('n2', { annotations: { 'curfew.dev/do-not-repair': 'true' } }), true],
    ['a node that is stopped', unhealthyNode('n2', { taints: SHUTDOWN }), true],
    ['a node that is being deleted', unhealthyNode('n2', { deletionTime: T }), true],
    ['a node that is left over', unhealthyNode('n2'), false],
    ['a node that is well and whose NodeClaim is gone', well('n2', 600, { ownerClaim: 'claim-n2' }), false],
  ])('counts neither above nor below the line: %s', (_, node, hasClaim) => {
    const rest = ['n3', 'n4', 'n5', 'n6'].map(name => well(name));
    const nodes = [unhealthyNode('n1'), node, ...rest];
    const claims = nodes.filter(each => hasClaim || each !== node).map(each => claimOf(each));
    const decision = aDecision(nodes, { claims });
    expect(decision.granted.map(({ finding }) => finding.node.name)).toContain('n1');
    // Five are left, and one of them may be unhealthy.
    const both = [unhealthyNode('n1'), node, unhealthyNode('n3'), ...rest.slice(1)];
    const blocked = aDecision(both, {
      claims: both.filter(each => hasClaim || each !== node).map(each => claimOf(each)),
    });
    const [first] = blocked.findings;
    expect(first && verdictOf(first)?.message).toContain('2 of 5 nodes of NodePool default are unhealthy');
  });

  it.each<[string, Partial<NodeView>, Partial<NodeClaimView>[]]>([
    ['whose instance another Node states, too', { providerID: well('n3').providerID }, []],
    ['of two NodeClaims', {}, [{}, { name: 'other', uid: 'other' }]],
    ['whose NodeClaim names another Node', {}, [{ nodeName: 'other' }]],
  ])('counts an unhealthy node %s: its NodeClaim is not gone', (_, overrides, own) => {
    const node = unhealthyNode('n2', overrides);
    const others = [unhealthyNode('n1'), ...['n3', 'n4', 'n5'].map(name => well(name))];
    const claims = [...others.map(each => claimOf(each)), ...own.map(each => claimOf(node, each))];
    const [first] = aDecision([...others, node], { claims }).findings;
    expect(first && verdictOf(first)?.message).toContain('2 of 5 nodes of NodePool default are unhealthy');
  });
});

describe('outages', () => {
  const all = { maxUnhealthy: '100%' };
  const inZone = (zone: string, nodes: readonly NodeView[]): readonly NodeView[] =>
    nodes.map(node => ({ ...node, labels: { ...node.labels, [ZONE]: zone } }));
  const many = (size: number, unhealthy: number): readonly NodeView[] =>
    Array.from({ length: size }, (_, index) =>
      index < unhealthy ? unhealthyNode(`n${index + 1}`) : well(`n${index + 1}`),
    );

  it.each([
    [3, 5, true],
    [2, 2, false],
    [3, 6, false],
    [11, 20, true],
    [10, 20, false],
  ])('%i of %i nodes of a zone: %s', (unhealthy, size, isOutage) => {
    const decision = aDecision(inZone('a', many(size, unhealthy)), { repair: someRepairInForce(all) });
    expect(decision.granted).toHaveLength(isOutage ? 0 : unhealthy);
    if (isOutage) expect(verdictsOf(decision)[0]).toBe('blocked n1 ZoneOutage');
  });

  it('the zone is that of the whole cluster, and other zones go on', () => {
    const others = many(4, 4).map(node => ({
      ...node,
      uid: `o-${node.uid}`,
      labels: { [POOL]: 'other', [ZONE]: 'a' },
    }));
    const own = [...inZone('a', [unhealthyNode('ours')]), ...inZone('b', [unhealthyNode('there')])];
    const decision = aDecision(own, { repair: someRepairInForce(all), cluster: [...others, ...own] });
    expect(verdictsOf(decision)).toEqual(['blocked ours ZoneOutage', 'repair there']);
  });

  it('most of the cluster Unknown at once is the cluster’s trouble', () => {
    const unknown = ['n1', 'n2', 'n3'].map(name => aPoolNode(name, aCondition('Ready', 'Unknown')));
    expect(verdictsOf(aDecision(unknown, { repair: someRepairInForce(all) }))[0]).toBe('blocked n1 ClusterFreeze');
    expect(repaired(unknown, { repair: someRepairInForce({ ...all, freeze: 'Off' }) })).toHaveLength(3);
    expect(repaired([...unknown, well('n4'), well('n5'), well('n6')], { repair: someRepairInForce(all) })).toHaveLength(
      3,
    );
  });

  it('what is tolerated for ever makes no node dark, and nobody waits for its end to last', () => {
    const repair = someRepairInForce({ ...all, policies: [{ conditionType: 'Ready', toleration: 'Never' }] });
    const due = aPoolNode('n1', aCondition('KernelReady', 'False', T));
    const dark = ['n2', 'n3', 'n4'].map(name => aPoolNode(name, aCondition('Ready', 'Unknown')));
    expect(repaired([due, ...dark], { repair })).toEqual(['n1']);
    const back = ['n2', 'n3', 'n4'].map(name => well(name, 1));
    expect(repaired(inZone('a', [due, ...back]), { repair })).toEqual(['n1']);
    expect(verdictsOf(aDecision([due, ...back], { repair: someRepairInForce(all) }))).toEqual(['blocked n1 Settling']);
  });

  it.each<[string, Partial<NodeView>, boolean]>([
    ['counts a node that a person vetoes', { annotations: { 'curfew.dev/do-not-repair': 'true' } }, true],
    ['counts a node that has been going for less than an hour', { deletionTime: before(NOW, 59) }, true],
    ['does not count one that has been going for longer', { deletionTime: before(NOW, 60) }, false],
    [
      'does not count a node that is stopped',
      { taints: [{ key: 'node.cloudprovider.kubernetes.io/shutdown', value: '' }] },
      false,
    ],
  ])('freeze and zone: %s', (_, third, counts) => {
    const repair = someRepairInForce({ ...all, freeze: 'Off' });
    const nodes = inZone('a', [
      unhealthyNode('n1'),
      unhealthyNode('n2'),
      unhealthyNode('n3', third),
      well('n4'),
      well('n5'),
    ]);
    expect(aDecision(nodes, { repair }).poolRecord.blockingGuards).toEqual(counts ? ['zone/a'] : []);
    const dark = nodes.map(node =>
      node.conditions[0]?.status === 'False' ? { ...node, conditions: [aCondition('Ready', 'Unknown')] } : node,
    );
    const frozen = someRepairInForce({ ...all, zoneOutage: 'Off' });
    expect(aDecision(dark, { repair: frozen }).poolRecord.blockingGuards).toEqual(counts ? ['cluster'] : []);
  });
});

describe('an outage may hold', () => {
  const dark = (count: number): readonly NodeView[] =>
    Array.from({ length: count }, (_, at) => unhealthyNode(`u${at}`));
  const mayHold = (nodes: readonly NodeView[], block: JsonObject = {}): boolean => {
    const settings = someSettings(block);
    return mayBeOutage(settings, nodes, { now: NOW, repairConditionsOf: () => repairConditionsOf(settings) });
  };

  it.each<[boolean, string, readonly NodeView[], JsonObject]>([
    [true, 'from as many unhealthy nodes on as make one', [...dark(3), well('w')], {}],
    [false, 'below that', [...dark(2), well('w')], {}],
    [true, 'with one that came back five minutes ago', [...dark(2), well('w', 4.9)], {}],
    [false, 'no longer than five minutes', [...dark(2), well('w', 5)], {}],
    [true, 'by the least number of freeze', dark(2), { freeze: { minNodes: 2 }, zoneOutage: 'Off' }],
    [true, 'by the least number of zone', dark(2), { freeze: 'Off', zoneOutage: { minNodes: 2 } }],
    [false, 'where both are off', dark(9), { freeze: 'Off', zoneOutage: 'Off' }],
  ])('%s: %s', (expected, _, nodes, block) => {
    expect(mayHold(nodes, block)).toBe(expected);
  });
});

describe('settling', () => {
  const repair = someRepairInForce({ defaultTolerationDuration: '30m', zoneOutage: 'Off', freeze: 'Off' });
  const four = ['n3', 'n4', 'n5'].map(name => well(name));
  /** n1 is due; n2 came back so many minutes ago. */
  const after = (back: NodeView, given: Partial<PoolWorld> = {}): readonly string[] =>
    verdictsOf(aDecision([unhealthyNode('n1'), back, ...four], { repair, ...given }));

  it.each<[string, NodeView, string]>([
    ['blocks while another one has been back for less than five minutes', well('n2', 4.9), 'blocked n1 Settling'],
    ['ends after five minutes', well('n2', 5), 'repair n1'],
    ['does not wait for a node that is new', well('n2', 1, { creationTime: before(NOW, 10.9) }), 'repair n1'],
    [
      'waits for one that was ten minutes old when it came back',
      well('n2', 1, { creationTime: before(NOW, 11) }),
      'blocked n1 Settling',
    ],
    [
      'does not wait for one that a repair of ours brought back',
      well('n2', 1, {
        annotations: { [LAST_REBOOT_ANNOTATION]: JSON.stringify({ time: toIsoText(before(NOW, 3)), count: 1 }) },
      }),
      'repair n1',
    ],
    [
      'does so, too, where somebody has formatted the annotation',
      well('n2', 1, { annotations: { [LAST_REBOOT_ANNOTATION]: `{ "time": "${toIsoText(before(NOW, 3))}" }` } }),
      'repair n1',
    ],
    [
      'waits where the time is not one that Kubernetes writes',
      well('n2', 1, { annotations: { [LAST_REBOOT_ANNOTATION]: '{"time":"01 Nov 2024 15:27 GMT"}' } }),
      'blocked n1 Settling',
    ],
    [
      'does not wait for a condition that no repair condition counts',
      { ...well('n2'), conditions: [aCondition('Ready', 'True', before(NOW, 60)), aCondition('Other', 'True', NOW)] },
      'repair n1',
    ],
  ])('%s', (_, back, expected) => {
    expect(after(back)).toEqual([expected]);
  });

  it('does not wait for one that is in flight', () => {
    const state = { ...NEW_POOL, inFlight: { 'uid-n2': before(NOW, 3) } };
    expect(after(well('n2', 1), { poolRecord: state })).toEqual(['repair n1']);
  });

  it('waits no longer than the toleration of the entry that decides', () => {
    const short = someRepairInForce({ defaultTolerationDuration: '2m', zoneOutage: 'Off', freeze: 'Off' });
    expect(after(well('n2', 1.9), { repair: short })).toEqual(['blocked n1 Settling']);
    expect(after(well('n2', 2), { repair: short })).toEqual(['repair n1']);
    const none = someRepairInForce({ defaultTolerationDuration: '0s', zoneOutage: 'Off', freeze: 'Off' });
    expect(after(well('n2', 0), { repair: none })).toEqual(['repair n1']);
  });

  it('looks again when the first of them counts no more', () => {
    const decision = aDecision([unhealthyNode('n1'), well('n2', 3), ...four], { repair });
    expect(decision.wakeTime).toBe(addDuration(NOW, minutes(2)));
  });

  it('blocks a zone and the cluster, too, and says so with their numbers', () => {
    const zone = (name: string, ago: number): NodeView =>
      well(name, ago, { labels: { [POOL]: 'default', [ZONE]: 'a' } });
    const nodes = [
      unhealthyNode('n1', { labels: { [POOL]: 'default', [ZONE]: 'a' } }),
      zone('n2', 1),
      zone('n3', 1),
      zone('n4', 600),
    ];
    const open = { maxUnhealthy: '100%' };
    expect(aDecision(nodes, { repair: someRepairInForce(open) }).findings[0]?.verdict).toMatchObject({
      blocker: { reason: 'Settling' },
      message: expect.stringContaining('3 of 4 nodes of zone a are unhealthy'),
    });
    const dark = [aPoolNode('n1', aCondition('Ready', 'Unknown')), ...nodes.slice(1)];
    expect(
      aDecision(dark, { repair: someRepairInForce({ ...open, zoneOutage: 'Off' }) }).findings[0]?.verdict,
    ).toMatchObject({
      blocker: { reason: 'Settling' },
      message: expect.stringContaining('3 of 4 nodes of the cluster are Ready=Unknown'),
    });
  });

  it('blocks one node for fifteen minutes at most in one incident, all times together', () => {
    const settling = (totalMs: number, since?: EpochMs) => ({
      'uid-n1': {
        ...newNode('n1', 'default'),
        onsets: { 'Ready=False': { start: T, stated: T } },
        incident: { type: 'Ready', taken: [], recovering: { totalMs, ...(since !== undefined && { since }) } },
      },
    });
    const verdict = (totalMs: number, since?: EpochMs): readonly string[] =>
      after(well('n2', 1), { records: settling(totalMs, since) });
    expect(verdict(minutes(14))).toEqual(['blocked n1 Settling']);
    expect(verdict(minutes(15))).toEqual(['repair n1']);
    expect(verdict(minutes(10), before(NOW, 4))).toEqual(['blocked n1 Settling']);
    expect(verdict(minutes(10), before(NOW, 5))).toEqual(['repair n1']);
    const decision = aDecision([unhealthyNode('n1'), well('n2', 1), ...four], {
      repair,
      records: settling(minutes(14)),
    });
    expect(decision.wakeTime).toBe(addDuration(NOW, minutes(1)));
  });

  const states = fc.constantFrom('unhealthy', 'back', 'well');
  it('property: blocks nothing while nobody has come back, and begins nothing that would be above the line with those that have', () => {
    fc.assert(
      fc.property(
        fc.array(states, { minLength: 1, maxLength: 15 }),
        fc.integer({ min: 0, max: 100 }),
        (drawn, percent) => {
          const nodes = drawn.map((state, index) =>
            state === 'unhealthy' ? unhealthyNode(`n${index}`) : well(`n${index}`, state === 'back' ? 1 : 600),
          );
          const block = { maxUnhealthy: `${percent}%`, zoneOutage: 'Off', freeze: 'Off' };
          const decision = aDecision(nodes, { repair: someRepairInForce(block) });
          const count = (...of: readonly string[]): number => drawn.filter(state => of.includes(state)).length;
          const allowed = Math.ceil((percent * nodes.length) / 100 - 1e-9);
          const expected =
            count('unhealthy') > allowed
              ? 'UnhealthyThreshold'
              : count('unhealthy', 'back') > allowed
                ? 'Settling'
                : undefined;
          const reasons = decision.findings.flatMap(({ verdict }) =>
            verdict?.kind === 'blockedByPool' ? verdict.blocker.reason : [],
          );
          expect(new Set(reasons)).toEqual(
            new Set(expected === undefined || count('unhealthy') === 0 ? [] : [expected]),
          );
          expect(decision.granted).toHaveLength(expected === undefined ? count('unhealthy') : 0);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('after a guard has ended', () => {
  it.each([
    ['of the threshold', { blockingGuards: ['threshold'] }],
    ['of a zone', { blockingGuards: ['zone/a'] }],
    ['of the cluster', { blockingGuards: ['cluster'] }],
  ])('%s repairs begin again one by one', (_, state) => {
    const repair = someRepairInForce({ maxUnhealthy: '100%', zoneOutage: 'Off', freeze: 'Off' });
    const decision = aDecision(aPoolOf(3, 3), { repair, poolRecord: { ...NEW_POOL, ...state } });
    expect(verdictsOf(decision)).toEqual(['blocked n2 RampUp', 'blocked n3 RampUp', 'repair n1']);
  });

  it('the ramp is remembered while the gate is closed, the block cannot be read or mode is Observe', () => {
    const ramp = { step: 0, stepTime: NOW, granted: 0 };
    const state = { ...NEW_POOL, blockingGuards: ['threshold'], ramp };
    const nodes = [unhealthyNode('n1'), aPoolNode('n2', SICK), well('n3')];
    const closed = aDecision(nodes, { repair: someRepairInForce({}, { gateOpen: false }), poolRecord: state });
    const typo = aDecision(nodes, {
      repair: someRepairInForce({}, { settings: { invalid: 'a typo' } }),
      poolRecord: state,
    });
    for (const { poolRecord: after } of [closed, typo])
      expect(after).toMatchObject({ blockingGuards: ['threshold'], ramp });
    const open = { maxUnhealthy: '100%', zoneOutage: 'Off', freeze: 'Off' };
    const observed = aDecision(nodes, { repair: someRepairInForce(open, { mode: 'Observe' }), poolRecord: state });
    expect(observed.poolRecord).toMatchObject({ blockingGuards: [], ramp: { step: 0, granted: 0 } });
  });
});
