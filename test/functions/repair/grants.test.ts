/** Which due nodes of a pool get their repair now, what blocks the others, and what is written of each. */
import { describe, expect, it } from 'vitest';
import type { Attempt } from '../../../functions/repair/node/attempt-record.ts';
import { NEW_POOL } from '../../../functions/repair/pool-record.ts';
import type { NodeRecord } from '../../../functions/repair/node/record.ts';
import { type ConcurrencyLimits, createConcurrencyLimits } from '../../../functions/repair/rule/concurrency-limits.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';
import { aNodePool, at, FIX, NOW, open, REBOOT, remembered, REPLACE, TERMINATE } from '../../builders/pool.ts';
import {
  aCondition,
  aDecision,
  anAttempt,
  aPoolNode,
  aPoolOf,
  claimOf,
  type PoolWorld,
  READY,
  someRepairInForce,
  verdictsOf,
} from '../../builders/repair.ts';

const OBSERVE = { mode: 'Observe' } as const;
const N1 = aPoolNode('n1');
const N2 = aPoolNode('n2');
/** A reboot of n1 whose time is over. */
const OVER = anAttempt('n1', { action: 'Reboot', key: 'Reboot||600000', time: at(-10), until: NOW });
const IN_PLACE = {
  poolRecord: { ...NEW_POOL, inFlight: { 'uid-n1': at(-10) } },
  records: { 'uid-n1': remembered({ attempt: OVER, number: 1 }) },
};
const FULL: ConcurrencyLimits = {
  blockerOf: () => ({ kind: 'reservations', reason: 'ClusterConcurrencyBudget', message: 'full', until: at(1) }),
  take: () => undefined,
};
const nodePool = (nodes: string) => aNodePool({ disruption: { budgets: [{ nodes, reasons: ['Unhealthy'] }] } });
const initialized = (nodes: readonly NodeView[]) =>
  nodes.map(node => claimOf(node, { conditions: [aCondition('Initialized', 'True')] }));
const ASKED = { policies: [{ conditionType: 'Ready', toleration: '10m', confirm: 'InstanceStatus' }] };
const SILENT = aPoolNode('n1', aCondition('Ready', 'Unknown'));
const BORN = { creationTime: at(-31) };
const FUTILE = { futility: { repairs: 1, window: '6h' } };
const ENDED = { ...NEW_POOL, terminations: [{ condition: 'Ready=False', time: at(-40) }] };
const RAMP = { ...NEW_POOL, ramp: { step: 1, stepTime: NOW, granted: 0 } };
const ONE_LEFT = { ...NEW_POOL, ramp: { step: 1, stepTime: NOW, granted: 1 } };
const TWO_AT_ONCE = {
  limits: {
    policyGenerations: 'a@1',
    binding: [{ source: 'NodeLifecyclePolicy a', maxConcurrentRepairsPerCluster: { count: 2 } }],
  },
  nodes: [],
};
const USED_UP = { ...NEW_POOL, ramp: { step: 1, stepTime: NOW, granted: 2 } };

describe('of the nodes that are due', () => {
  it.each<[string, readonly NodeView[], Partial<PoolWorld>, readonly string[]]>([
    ['both are repaired where nothing blocks them', [N1, N2], { repair: open() }, ['repair n1', 'repair n2']],
    ['none is while the gate is closed', [N1], { repair: open({}, { gateOpen: false }) }, ['ignore n1']],
    [
      'one goes on in its own slot of a full pool',
      [N1, N2],
      { ...IN_PLACE, repair: open({ actions: [REBOOT, TERMINATE], maxConcurrentRepairs: 1 }) },
      ['blocked n2 ConcurrencyBudget', 'repair n1'],
    ],
    [
      'a second one finds the slot that one goes on in taken once',
      [N1, N2],
      { ...IN_PLACE, repair: open({ actions: [REBOOT, TERMINATE], maxConcurrentRepairs: 2 }) },
      ['repair n1', 'repair n2'],
    ],
    [
      'one goes on where zone and cluster are full, and another one waits',
      [N1, N2],
      { ...IN_PLACE, repair: open({ actions: [REBOOT, TERMINATE] }), concurrencyLimits: () => FULL },
      ['blocked n2 ClusterConcurrencyBudget', 'repair n1'],
    ],
    [
      'one is terminated where the NodePool allows one disruption',
      [N1, N2],
      { repair: open(), nodePool: nodePool('1'), claims: initialized([N1, N2]) },
      ['blocked n2 DisruptionBudget', 'repair n1'],
    ],
    [
      'all are fixed in place whatever the NodePool allows',
      [N1, N2],
      { repair: open({ actions: [FIX] }), nodePool: nodePool('0'), claims: initialized([N1, N2]) },
      ['repair n1', 'repair n2'],
    ],
    [
      'one that is fixed in place leaves the disruption to another one',
      [N1, aPoolNode('n2', aCondition('StorageReady', 'False'))],
      {
        repair: open({ policies: [{ conditionType: 'Ready', toleration: '30m', actions: [FIX] }] }),
        nodePool: nodePool('1'),
        claims: initialized([N1, N2]),
      },
      ['repair n1', 'repair n2'],
    ],
    [
      'none is replaced as those before it, in vain',
      [aPoolNode('n1', undefined, BORN)],
      { repair: open({ ...FUTILE, actions: [REPLACE] }), poolRecord: ENDED },
      ['blocked n1 FutileRepairs'],
    ],
    [
      'none is terminated as those before it, in vain',
      [aPoolNode('n1', undefined, BORN)],
      { repair: open(FUTILE), poolRecord: ENDED },
      ['blocked n1 FutileRepairs'],
    ],
    [
      'one is rebooted although terminations were in vain',
      [aPoolNode('n1', undefined, BORN)],
      { repair: open({ ...FUTILE, actions: [REBOOT] }), poolRecord: ENDED },
      ['repair n1'],
    ],
    ['none is repaired that EC2 was not asked about', [SILENT], { repair: open(ASKED) }, ['blocked n1 NotConfirmed']],
    [
      'one is repaired that EC2 calls impaired',
      [SILENT],
      { repair: open(ASKED), answers: new Map([['uid-n1', 'impaired']]) },
      ['repair n1'],
    ],
    [
      'as many begin as a ramp allows',
      aPoolOf(3, 3),
      { repair: open(), poolRecord: RAMP },
      ['blocked n3 RampUp', 'repair n1', 'repair n2'],
    ],
    [
      'one that a ramp blocks takes no slot in the cluster',
      aPoolOf(3, 3),
      { repair: open(), poolRecord: ONE_LEFT, concurrencyLimits: () => createConcurrencyLimits(TWO_AT_ONCE, [], NOW) },
      ['blocked n2 RampUp', 'blocked n3 RampUp', 'repair n1'],
    ],
    [
      'a ramp slows nothing down that is only observed',
      aPoolOf(3, 3),
      { repair: open({}, OBSERVE), poolRecord: USED_UP },
      ['wouldRepair n1', 'wouldRepair n2', 'wouldRepair n3'],
    ],
    [
      'those that are only observed share the slots of the pool',
      [N1, N2],
      { repair: open({ maxConcurrentRepairs: 1 }, OBSERVE) },
      ['blocked n2 ConcurrencyBudget', 'wouldRepair n1'],
    ],
  ])('%s', (_, nodes, given, expected) => {
    expect(verdictsOf(aDecision(nodes, given))).toEqual(expected);
  });

  it('more than a hundred are shown where they are only observed', () => {
    const { findings } = aDecision(aPoolOf(101, 101), { now: at(300), repair: open({}, OBSERVE) });
    expect(findings.filter(({ verdict }) => verdict?.kind === 'wouldRepair')).toHaveLength(101);
  });

  it('a repair that is only observed takes no slot, and is looked at again', () => {
    const { findings, granted, poolRecord } = aDecision([N1], {
      repair: open({ actions: [REBOOT, TERMINATE] }, OBSERVE),
    });
    expect(granted).toEqual([]);
    expect(poolRecord.inFlight).toEqual({});
    const verdict = {
      attempt: { action: 'Reboot', number: 1 },
      laterActions: [{ type: 'Terminate' }],
      message: expect.stringContaining('Ready'),
    };
    expect(findings).toMatchObject([{ state: 'idle', nextLookTime: at(5), verdict }]);
  });

  it('each has its place in the line, among how many, and for how long it has waited in half hours', () => {
    const repair = open({ maxConcurrentRepairs: 1 });
    const now = at(20);
    const decision = aDecision(aPoolOf(3, 3), { repair, now });
    const rank = (order: number, score: number) => ({ order, of: 3, score });
    expect(decision.granted).toMatchObject([{ rank: rank(1, 2.67) }]);
    expect(decision.findings.slice(1)).toMatchObject([
      { verdict: { rank: rank(2, 2.63) } },
      { verdict: { rank: rank(3, 2.6) } },
    ]);
  });

  it('one that gets its repair takes a slot, with what follows', () => {
    const { findings, granted, poolRecord, wakeTime } = aDecision([N1], {
      repair: open({ actions: [REBOOT, TERMINATE] }),
    });
    expect(findings).toMatchObject([
      { state: 'inFlight', record: { number: 1, attempt: { action: 'Reboot', phase: 'intended' } } },
    ]);
    expect(findings[0]?.record).not.toHaveProperty('launched');
    const verdict = { laterActions: [{ type: 'Terminate' }] };
    expect(granted).toMatchObject([{ action: { type: 'Reboot' }, finding: { verdict } }]);
    expect(poolRecord).toMatchObject({ inFlight: { 'uid-n1': NOW }, followed: [] });
    expect(wakeTime).toBe(at(5));
  });

  it('one that goes on keeps the time of its slot', () => {
    const decision = aDecision([N1], { ...IN_PLACE, repair: open({ actions: [REBOOT, TERMINATE] }) });
    expect(decision.poolRecord.inFlight).toEqual({ 'uid-n1': at(-10) });
  });

  it('one whose drain is over is terminated, and the drain is still known as ours', () => {
    const drain = anAttempt('n1', { action: 'Drain', key: 'Drain||1200000', requestId: 'r1', until: NOW });
    const records = {
      'uid-n1': remembered({ attempt: drain, number: 1, incident: { type: 'Ready', taken: [drain.key] } }),
    };
    const repair = open({ actions: [{ type: 'DrainThenTerminate', timeout: '20m' }] });
    const { findings } = aDecision([N1], { repair, records });
    expect(findings).toMatchObject([
      { record: { leftovers: { drain: 'r1' }, attempt: { action: 'Terminate', number: 2 } } },
    ]);
  });
});

describe('replacements that were asked for', () => {
  const replacement = (phase: Attempt['phase']) =>
    anAttempt('n1', { phase, action: 'Replace', key: 'Replace||900000', replacement: { name: 'r1' }, time: at(-10) });
  it.each<[string, JsonObject, Partial<NodeRecord> | undefined, number | undefined]>([
    ['are counted from the first', REPLACE, undefined, 1],
    ['are counted on', REPLACE, { launched: 1 }, 2],
    [
      'are not counted again where a run died before it',
      REPLACE,
      { launched: 1, number: 1, attempt: replacement('intended') },
      1,
    ],
    ['stay counted while the node is rebooted', REBOOT, { launched: 3 }, 3],
    ['are none where the node is rebooted', REBOOT, undefined, undefined],
  ])('%s', (_, action, more, expected) => {
    const records: Readonly<Record<string, NodeRecord>> = more ? { 'uid-n1': remembered(more) } : {};
    const { findings, granted } = aDecision([N1], { repair: open({ actions: [action] }), records });
    expect(granted).toHaveLength(1);
    expect(findings[0]?.record?.launched).toBe(expected);
  });
});

describe('the slot of a repair whose action has no time left', () => {
  const inFlightOf = (world: Partial<PoolWorld>): readonly string[] =>
    Object.keys(aDecision([N1, N2], world).poolRecord.inFlight);
  const open1 = { actions: [REBOOT, TERMINATE], maxConcurrentRepairs: 1 };

  it.each<[string, Partial<PoolWorld>]>([
    ['a guard', { ...IN_PLACE, repair: open({ ...open1, maxUnhealthy: 0 }) }],
    ['mode Observe', { ...IN_PLACE, repair: open(open1, OBSERVE) }],
    ['a closed gate', { ...IN_PLACE, repair: open(open1, { gateOpen: false }) }],
  ])('is given up while %s blocks what follows', (_, world) => {
    expect(inFlightOf(world)).toEqual([]);
  });

  it('goes on with the next action', () => {
    expect(inFlightOf({ ...IN_PLACE, repair: open(open1) })).toEqual(['uid-n1']);
  });

  it('goes by rank to whoever is due once it was given up', () => {
    const given = { ...IN_PLACE, poolRecord: { ...NEW_POOL, inFlight: { 'uid-n2': at(-5) } } };
    const attempt = anAttempt('n2', { action: 'Reboot', key: 'Reboot||600000', time: at(-5), until: at(5) });
    const records = { ...given.records, 'uid-n2': remembered({ attempt, number: 1 }) };
    expect(verdictsOf(aDecision([N1, N2], { ...given, records, repair: open(open1) }))).toContain(
      'blocked n1 ConcurrencyBudget',
    );
  });
});

describe('a node that is blocked', () => {
  const closed = open({ maxConcurrentRepairs: 0 });
  const annotation = { set: '2024-11-01T15:32:48Z', claim: { name: 'claim-n1', uid: 'uid-claim-n1' } };
  const blocked = (more: Partial<NodeRecord>, repair = closed) =>
    aDecision([N1], { repair, records: { 'uid-n1': remembered(more) } }).findings[0];

  it('has its annotation of before taken back, also beside an attempt, and nothing where there is none', () => {
    expect(blocked({ leftovers: { annotation } })).toMatchObject({ needsCleanUp: true, state: 'idle' });
    const after = open({ actions: [REBOOT, TERMINATE], maxUnhealthy: 0 });
    expect(blocked({ leftovers: { annotation }, attempt: OVER, number: 1 }, after)).toMatchObject({
      needsCleanUp: true,
      record: { attempt: OVER },
    });
    expect(blocked({})).toMatchObject({ needsCleanUp: false, nextLookTime: at(5) });
  });

  it('is opened again meanwhile where it was drained for its reboot', () => {
    const key = 'Drain before Reboot||600000';
    const drain = anAttempt('n1', {
      action: 'Drain',
      key,
      requestId: 'r1',
      answer: { kind: 'succeeded', message: '' },
      until: at(5),
    });
    const repair = open({ actions: [REBOOT], terminationGracePeriod: '10m', maxUnhealthy: 0 });
    const finding = blocked({ attempt: drain, number: 1, incident: { type: 'Ready', taken: [key] } }, repair);
    expect(finding).toMatchObject({
      needsCleanUp: true,
      state: 'followed',
      verdict: { kind: 'blockedByPool' },
      record: { leftovers: { drain: 'r1' }, incident: { taken: [] } },
    });
    expect(finding?.record?.attempt).toBeUndefined();
  });

  it('keeps its attempt where that was no drain, and blocks nobody', () => {
    const repair = open({ actions: [REBOOT, TERMINATE], maxUnhealthy: 0 });
    expect(blocked({ attempt: OVER, number: 1 }, repair)).toMatchObject({
      verdict: { kind: 'blockedByPool' },
      state: 'followed',
      needsCleanUp: false,
      record: { attempt: OVER },
    });
  });

  it('has the cordon of its reboot taken back as before', () => {
    const repair = open({ actions: [REBOOT, TERMINATE], maxUnhealthy: 0 });
    expect(blocked({ attempt: OVER, number: 1, leftovers: { maintenance: true } }, repair)).toMatchObject({
      needsCleanUp: true,
    });
  });
});

describe('the time for which others that came back block a node', () => {
  const back = aPoolNode('n2', aCondition('Ready', 'True', at(-1)));
  const well = ['n3', 'n4', 'n5'].map(name => aPoolNode(name, READY));
  const WAITED = (totalMs: number, since?: EpochMs) => ({ totalMs, ...(since !== undefined && { since }) });
  type Recovering = ReturnType<typeof WAITED> | undefined;
  it.each<[string, NodeView, Recovering, Recovering]>([
    ['begins', back, undefined, WAITED(0, NOW)],
    ['goes on from its beginning', back, WAITED(60_000, at(-2)), WAITED(60_000, at(-2))],
    ['begins again', back, WAITED(60_000), WAITED(60_000, NOW)],
    ['ends, and is remembered', aPoolNode('n2', READY), WAITED(60_000, at(-2)), WAITED(180_000)],
    ['is none where nobody came back', aPoolNode('n2', READY), undefined, undefined],
  ])('%s', (_, other, recovering, expected) => {
    const incident = { type: 'Ready', taken: [], ...(recovering && { recovering }) };
    const repair = someRepairInForce({ defaultTolerationDuration: '30m', zoneOutage: 'Off', freeze: 'Off' });
    const aged = [other, ...well].map(node => ({
      ...node,
      conditions: node.conditions.map(each => (each === READY ? { ...each, lastTransitionTime: at(-150) } : each)),
    }));
    const { findings } = aDecision([N1, ...aged], { repair, records: { 'uid-n1': remembered({ incident }) } });
    expect(findings[0]?.record?.incident).toEqual({
      type: 'Ready',
      taken: [],
      ...(expected && { recovering: expected }),
    });
  });
});
