import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RepairRules } from '../../../../functions/repair/decide.ts';
import { decidePass } from '../../../../functions/repair/pass/decide.ts';
import type { PassDecision } from '../../../../functions/repair/pass/decision.ts';
import type { PoolState } from '../../../../functions/repair/pass/pool.ts';
import { NEW_POOL } from '../../../../functions/repair/record.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import type { RepairAction } from '../../../../shared/domain/repair-policy.ts';
import { addDuration, minutes, seconds, toEpochMs, toTimestamp, type EpochMs } from '../../../../shared/domain/time.ts';
import {
  aCondition,
  aPass,
  aPoolNode,
  aPoolOf,
  anAttempt,
  claimOf,
  READY,
  SICK,
  someRules,
  someSettings,
  T,
  verdictsOf,
} from '../../../builders/repair.ts';

const NOW = addDuration(T, minutes(30));
const ZONE = 'topology.kubernetes.io/zone';
const ANNOTATION = 'karpenter.sh/nodeclaim-termination-timestamp';
const granted = ({ verdicts }: PassDecision): readonly string[] =>
  verdicts.flatMap(({ kind, node }) => (kind === 'repair' || kind === 'wouldRepair' ? node.name : []));
const withAttempts = (...attempts: PoolState['attempts']): PoolState => ({ ...NEW_POOL, attempts });

describe('unhealthy threshold of 20 %, rounded up', () => {
  // Karpenter's table: pool size → most unhealthy nodes that still repair.
  const table: [number, number][] = [
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 1],
    [5, 1],
    [6, 2],
    [7, 2],
    [8, 2],
    [9, 2],
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
  ];
  it.each(table)('in a pool of %i repairs up to %i', (size, allowed) => {
    expect(granted(decidePass(aPass(aPoolOf(size, allowed))))).toHaveLength(allowed);
    if (allowed === size) return;
    const { verdicts, wakeTime } = decidePass(aPass(aPoolOf(size, allowed + 1)));
    const message = `${allowed + 1} of ${size} nodes of NodePool default are unhealthy, repair stops above ${allowed} (maxUnhealthy)`;
    expect(verdicts).toHaveLength(allowed + 1);
    expect(verdicts[0]).toMatchObject({ kind: 'blocked', reason: 'UnhealthyThreshold', message });
    expect(wakeTime).toBe(addDuration(NOW, minutes(5)));
  });

  it('counts a node inside its toleration', () => {
    const fresh = aPoolNode('n2', aCondition('Ready', 'Unknown', addDuration(T, minutes(29))));
    const nodes = [aPoolNode('n1'), fresh, aPoolNode('n3', READY), aPoolNode('n4', READY)];
    expect(verdictsOf(aPass(nodes))).toEqual(['blocked n1 UnhealthyThreshold']);
  });

  it.each([
    [0, 1, 0],
    [3, 3, 3],
    [3, 4, 0],
    ['0%', 1, 0],
    ['50%', 5, 5],
    ['50%', 6, 0],
  ])('obeys maxUnhealthy %j with %i of 10 unhealthy', (maxUnhealthy, unhealthy, expected) => {
    const rules = someRules({ maxUnhealthy });
    expect(granted(decidePass(aPass(aPoolOf(10, unhealthy), { rules })))).toHaveLength(expected);
  });
});

describe('whose pool a node is in', () => {
  it('is said by its NodeClaim; the label is a hint', () => {
    const ours = aPoolNode('ours', SICK, { labels: { 'karpenter.sh/nodepool': 'other' } });
    const theirs = aPoolNode('theirs');
    const claims = [
      claimOf(ours, { labels: { 'karpenter.sh/nodepool': 'default' } }),
      claimOf(theirs, { labels: { 'karpenter.sh/nodepool': 'other' } }),
    ];
    expect(verdictsOf(aPass([ours, theirs], { claims }))).toEqual(['repair ours']);
  });

  it('two Nodes or NodeClaims of one instance are nobody’s to repair', () => {
    const old = aPoolNode('old', aCondition('Ready', 'Unknown'));
    const well = aPoolNode('well', READY, { providerID: old.providerID });
    expect(verdictsOf(aPass([old, well], { claims: [claimOf(well)] }))).toEqual(['blocked old AmbiguousNodeClaim']);
    const claims = [claimOf(old), claimOf(old, { name: 'second', uid: 'uid-second' })];
    expect(verdictsOf(aPass([old], { claims }))).toEqual(['blocked old AmbiguousNodeClaim']);
  });

  it('a NodeClaim that names another Node is not its own', () => {
    const forged = aPoolNode('forged');
    const claims = [claimOf(forged, { nodeName: 'real' })];
    expect(verdictsOf(aPass([forged], { claims }))).toEqual(['blocked forged AmbiguousNodeClaim']);
    expect(verdictsOf(aPass([forged], { claims: [claimOf(forged, { nodeName: undefined })] }))).toEqual([
      'repair forged',
    ]);
    expect(verdictsOf(aPass([forged], { claims: [] }))).toEqual(['unclaimed forged']);
  });
});

describe('the budget', () => {
  const rules = someRules({ maxUnhealthy: '100%', maxConcurrentRepairs: 2 });

  it('goes to those that are longest past due', () => {
    const pass = aPass(aPoolOf(4, 4).toReversed(), { rules });
    expect(granted(decidePass(pass))).toEqual(['n1', 'n2']);
    expect(verdictsOf(pass)).toContain('blocked n3 ConcurrencyBudget');
  });

  it('goes to them whatever their names are, and however many conditions others have', () => {
    const late = aPoolNode('a', SICK, { conditions: [SICK, aCondition('StorageReady', 'False')] });
    const later = aPoolNode('b');
    const first = aPoolNode('z', aCondition('Ready', 'False', addDuration(T, minutes(-1))));
    const one = someRules({ maxUnhealthy: '100%', maxConcurrentRepairs: 1 });
    expect(granted(decidePass(aPass([late, later, first], { rules: one })))).toEqual(['z']);
  });

  it('then to those that fare worse, then by name', () => {
    const worse = aPoolNode('z', SICK, { conditions: [SICK, aCondition('StorageReady', 'False')] });
    expect(granted(decidePass(aPass([aPoolNode('b'), aPoolNode('a'), worse], { rules })))).toEqual(['z', 'a']);
  });

  it('is taken from the deletion until the Node is gone', () => {
    const nodes = aPoolOf(4, 4);
    const state = withAttempts(anAttempt('n1'), anAttempt('n2'));
    const claims = nodes.slice(2).map(node => claimOf(node));
    expect(granted(decidePass(aPass(nodes, { rules, state, claims })))).toEqual([]);
    expect(granted(decidePass(aPass(nodes.slice(1), { rules, state, claims })))).toEqual(['n3']);
  });

  it.each([
    ['1%', 1],
    ['25%', 1],
    ['26%', 2],
    ['100%', 4],
    [0, 0],
  ])('%j of four nodes are %i', (maxConcurrentRepairs, expected) => {
    const limited = someRules({ maxUnhealthy: '100%', maxConcurrentRepairs });
    expect(granted(decidePass(aPass(aPoolOf(4, 4), { rules: limited })))).toHaveLength(expected);
  });

  it('without a limit one pass begins no more than two hundred, and the next one follows a second later', () => {
    const now = addDuration(T, minutes(300));
    const { wakeTime, ...decision } = decidePass(
      aPass(aPoolOf(210, 210), { now, rules: someRules({ maxUnhealthy: '100%' }) }),
    );
    expect(granted({ wakeTime, ...decision })).toHaveLength(200);
    expect(wakeTime).toBe(addDuration(now, seconds(1)));
  });
});

describe('outages', () => {
  const all = { maxUnhealthy: '100%' };
  const inZone = (zone: string, nodes: readonly NodeView[]): readonly NodeView[] =>
    nodes.map(node => ({ ...node, labels: { ...node.labels, [ZONE]: zone } }));

  it.each([
    [3, 5, true],
    [2, 2, false],
    [3, 6, false],
    [11, 20, true],
    [10, 20, false],
  ])('%i of %i nodes of a zone: %s', (unhealthy, size, isOutage) => {
    const pass = aPass(inZone('a', aPoolOf(size, unhealthy)), { rules: someRules(all) });
    expect(granted(decidePass(pass))).toHaveLength(isOutage ? 0 : unhealthy);
    if (isOutage) expect(verdictsOf(pass)[0]).toBe('blocked n1 ZoneOutage');
  });

  it('the zone is that of the whole cluster, and other zones go on', () => {
    const others = aPoolOf(4, 4).map(node => ({ ...node, labels: { 'karpenter.sh/nodepool': 'other', [ZONE]: 'a' } }));
    const own = [aPoolNode('ours', SICK, { labels: { 'karpenter.sh/nodepool': 'default', [ZONE]: 'a' } })];
    const there = [aPoolNode('there', SICK, { labels: { 'karpenter.sh/nodepool': 'default', [ZONE]: 'b' } })];
    const pass = aPass([...others, ...own, ...there], { rules: someRules(all) });
    expect(verdictsOf(pass)).toEqual(['blocked ours ZoneOutage', 'repair there']);
  });

  it('most of the cluster Unknown at once is the cluster’s trouble', () => {
    const unknown = ['n1', 'n2', 'n3'].map(name => aPoolNode(name, aCondition('Ready', 'Unknown')));
    expect(verdictsOf(aPass(unknown, { rules: someRules(all) }))[0]).toBe('blocked n1 ClusterFreeze');
    const off = someRules({ ...all, freeze: 'Off' });
    expect(granted(decidePass(aPass(unknown, { rules: off })))).toHaveLength(3);
    const mostAreWell = [...unknown, ...aPoolOf(6, 0).slice(3)];
    expect(granted(decidePass(aPass(mostAreWell, { rules: someRules(all) })))).toHaveLength(3);
  });

  it('an outage that ends is followed by 1, 2, 4 … repairs a minute', () => {
    const rules = someRules(all);
    const unknown = aPoolOf(7, 0).map(({ name }) => aPoolNode(name, aCondition('Ready', 'Unknown')));
    let { state } = decidePass(aPass(unknown, { rules }));
    expect(state.outages).toEqual(['cluster']);
    let nodes = unknown.map(node => ({ ...node, conditions: [SICK] }));
    const begun: number[] = [];
    for (let now: EpochMs = NOW; now < NOW + minutes(3); now = addDuration(now, seconds(20))) {
      const decision = decidePass(aPass(nodes, { rules, state, now }));
      const names = granted(decision);
      begun.push(names.length);
      nodes = nodes.filter(({ name }) => !names.includes(name));
      ({ state } = decision);
    }
    expect(begun).toEqual([1, 0, 0, 2, 0, 0, 4, 0, 0]);
  });

  it('a threshold that opens acts at once', () => {
    const { state } = decidePass(aPass(aPoolOf(10, 4)));
    expect(granted(decidePass(aPass(aPoolOf(20, 4), { state })))).toHaveLength(4);
  });
});

describe('futility', () => {
  const rules = someRules({ maxUnhealthy: '100%', futility: { repairs: 2, window: '6h' } });
  const repaired = (...times: readonly number[]): PoolState => ({
    ...NEW_POOL,
    repairs: times.map(time => ({ condition: 'Ready=False', time: addDuration(T, minutes(time)) })),
  });
  const bornAt = (time: number): readonly NodeView[] => [
    aPoolNode('n1', SICK, { creationTime: addDuration(T, minutes(time)) }),
  ];

  it('leaves a replacement alone that fails as those before it, until the window has passed', () => {
    const pass = aPass(bornAt(-10), { rules, state: repaired(-60, -30) });
    expect(verdictsOf(pass)).toEqual(['blocked n1 FutileRepairs']);
    expect(decidePass(pass).wakeTime).toBe(addDuration(T, minutes(300)));
    expect(verdictsOf({ ...pass, now: addDuration(T, minutes(300)) })).toEqual(['repair n1']);
  });

  it('does not count repairs after the node was made, nor those for another reason', () => {
    expect(verdictsOf(aPass(bornAt(-40), { rules, state: repaired(-60, -30) }))).toEqual(['repair n1']);
    const state = {
      ...repaired(-60),
      repairs: repaired(-60, -30).repairs.map(one => ({ ...one, condition: 'X=False' })),
    };
    expect(verdictsOf(aPass(bornAt(-10), { rules, state }))).toEqual(['repair n1']);
  });
});

describe('the ladder', () => {
  const withActions = (...actions: readonly RepairAction[]): RepairRules => ({
    ...someRules(),
    settings: { ...someSettings({ maxUnhealthy: '100%', maxConcurrentRepairs: 1 }), actions },
  });
  const REBOOT: RepairAction = { type: 'Reboot', timeout: minutes(10) };
  const rules = withActions(REBOOT, { type: 'Terminate', timeout: minutes(10) });
  const node = aPoolNode('n1', SICK, { bootID: 'boot-1' });
  const reboot = anAttempt('n1', { action: 'Reboot', until: addDuration(NOW, minutes(10)) });

  it('begins with the first rung', () => {
    const [verdict] = decidePass(aPass([node], { rules })).verdicts;
    expect(verdict).toMatchObject({
      kind: 'repair',
      attempt: { action: 'Reboot', rung: 0, bootID: 'boot-1', until: addDuration(NOW, minutes(10)) },
    });
  });

  it('goes on to the next one after the timeout, in the same place of the budget', () => {
    const state = withAttempts(reboot);
    const early = decidePass(aPass([node], { rules, state, now: addDuration(NOW, minutes(9)) }));
    expect(early).toMatchObject({ verdicts: [{ kind: 'finishing' }], wakeTime: addDuration(NOW, minutes(10)) });
    const late = decidePass(aPass([node], { rules, state, now: addDuration(NOW, minutes(10)) }));
    expect(late.verdicts).toMatchObject([{ kind: 'repair', attempt: { action: 'Terminate', rung: 1, number: 2 } }]);
    expect(late.state.attempts).toHaveLength(1);
  });

  it('ends when the node is well, and says so when nothing is left to try', () => {
    const state = withAttempts(reboot);
    const well = decidePass(aPass([{ ...node, conditions: [READY] }], { rules, state }));
    expect(well).toMatchObject({ verdicts: [{ kind: 'recovered' }], state: { attempts: [] }, wakeTime: undefined });
    const only = withActions(REBOOT);
    const now = addDuration(NOW, minutes(11));
    expect(verdictsOf(aPass([node], { rules: only, state, now }))).toEqual(['exhausted n1']);
  });
});

describe('attempts of other runs', () => {
  const nodes = [aPoolNode('n1')];
  const intended = anAttempt('n1', { phase: 'intended', intendedTime: NOW, previousTimestamp: '2025-01-01T00:00:00Z' });
  const state = withAttempts(intended);
  const settled = addDuration(NOW, seconds(60));

  it('I4 are left alone until a call of the other run must have had its outcome', () => {
    const decision = decidePass(aPass(nodes, { state, now: toEpochMs(settled - 1) }));
    expect(decision).toMatchObject({ verdicts: [{ kind: 'settle' }], withdrawals: [], wakeTime: settled });
    const closed = someRules({}, { gateOpen: false });
    const whileClosed = decidePass(aPass(nodes, { state, rules: closed, now: toEpochMs(settled - 1) }));
    expect(whileClosed).toMatchObject({ withdrawals: [], state: { attempts: [intended] } });
  });

  // The attempt before may have set its annotation and no more; with a timestamp of its own the new one would not know it as ours.
  it('I4 and I7 are taken over by a new one after looking, annotation and all, for the same NodeClaim alone', () => {
    const annotations = { [ANNOTATION]: intended.terminationTimestamp ?? '' };
    const claims = nodes.map(node => claimOf(node, { annotations }));
    const taken = decidePass(aPass(nodes, { state, claims, now: settled }));
    expect(taken).toMatchObject({
      withdrawals: [],
      state: {
        attempts: [
          {
            number: 2,
            intendedTime: settled,
            terminationTimestamp: intended.terminationTimestamp,
            previousTimestamp: '2025-01-01T00:00:00Z',
          },
        ],
      },
    });
    const other = withAttempts({ ...intended, claim: { name: 'claim-n1', uid: 'uid-of-another' } });
    // Gone under that UID: it was carried out.
    expect(verdictsOf(aPass(nodes, { state: other, now: settled }))).toEqual(['finishing n1']);
  });

  it('are known as carried out when the NodeClaim is on its way forcefully', () => {
    const annotations = { 'karpenter.sh/nodeclaim-termination-timestamp': toTimestamp(NOW) };
    const claims = nodes.map(node => claimOf(node, { deletionTime: NOW, annotations }));
    const decision = decidePass(aPass(nodes, { state, claims, now: settled }));
    expect(decision.state.attempts).toMatchObject([{ number: 1, phase: 'accepted' }]);
  });

  // A run that died before it wrote anything, on a NodeClaim that somebody else had deleted: its deletion stayed graceful for good.
  it('are tried again when the NodeClaim is on its way gracefully', () => {
    const claims = nodes.map(node => claimOf(node, { deletionTime: NOW }));
    const decision = decidePass(aPass(nodes, { state, claims, now: settled }));
    expect(decision.verdicts).toMatchObject([{ kind: 'repair', attempt: { number: 2 } }]);
  });

  it.each([
    ['the node is well', [aPoolNode('n1', READY)], someRules()],
    ['the node is gone', [], someRules()],
    ['the gate is closed', nodes, someRules({}, { gateOpen: false })],
    ['mode is Observe', nodes, someRules({}, { mode: 'Observe' })],
  ])('I7 are taken back when they are not wanted any more: %s', (_, now, rules) => {
    const claims = nodes.map(node => claimOf(node));
    expect(decidePass(aPass(now, { state, claims, rules, now: settled })).withdrawals).toEqual([intended]);
  });
});

describe('properties', () => {
  const pools = fc.record({
    unhealthy: fc.array(
      fc.record({ minutes: fc.integer({ min: 0, max: 90 }), status: fc.constantFrom('False', 'Unknown') }),
      {
        maxLength: 12,
      },
    ),
    healthy: fc.integer({ min: 0, max: 12 }),
    percent: fc.integer({ min: 0, max: 100 }),
    budget: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
    inFlight: fc.integer({ min: 0, max: 4 }),
    zones: fc.integer({ min: 0, max: 3 }),
  });
  type Pool = typeof pools extends fc.Arbitrary<infer Value> ? Value : never;
  const nodesOf = ({ unhealthy, healthy, zones }: Pool): readonly NodeView[] =>
    [...unhealthy, ...Array.from({ length: healthy }, () => undefined)].map((ill, index) => {
      const zone = zones === 0 ? {} : { [ZONE]: `z${index % zones}` };
      const condition =
        ill === undefined ? READY : aCondition('Ready', ill.status, addDuration(T, minutes(-ill.minutes)));
      return aPoolNode(`n${index}`, condition, { labels: { 'karpenter.sh/nodepool': 'default', ...zone } });
    });
  const passOf = (pool: Pool, mode: 'Enforce' | 'Observe' = 'Enforce') => {
    const { percent, budget, inFlight } = pool;
    const nodes = nodesOf(pool);
    const block = { maxUnhealthy: `${percent}%`, ...(budget !== undefined && { maxConcurrentRepairs: budget }) };
    const attempts = nodes.slice(0, inFlight).map(({ name }) => anAttempt(name));
    const claims = nodes.slice(inFlight).map(node => claimOf(node));
    return aPass(nodes, { rules: someRules(block, { mode }), claims, state: withAttempts(...attempts) });
  };

  it('I3 never above budget and threshold', () => {
    fc.assert(
      fc.property(pools, pool => {
        const decision = decidePass(passOf(pool));
        const begun = granted(decision).length;
        const total = pool.unhealthy.length + pool.healthy;
        if (begun === 0) return;
        expect(pool.unhealthy.length).toBeLessThanOrEqual(Math.ceil((pool.percent * total) / 100));
        if (pool.budget !== undefined)
          expect(decision.state.attempts.length).toBeLessThanOrEqual(Math.max(pool.budget, pool.inFlight));
      }),
      { numRuns: 500 },
    );
  });

  it('I5 leaves no due node without a verdict, and no wait without an end', () => {
    fc.assert(
      fc.property(pools, pool => {
        const { verdicts, wakeTime, state } = decidePass(passOf(pool));
        const due = nodesOf(pool).filter((_, index) => (pool.unhealthy[index]?.minutes ?? -1) >= 0);
        expect(new Set(verdicts.map(({ node }) => node.name)).size).toBe(verdicts.length);
        if (verdicts.some(({ kind }) => kind !== 'repair') || state.attempts.length > 0) {
          expect(wakeTime).toBeGreaterThan(NOW);
          expect(wakeTime).toBeLessThanOrEqual(NOW + minutes(5));
        }
        expect(verdicts.length).toBeLessThanOrEqual(due.length);
      }),
      { numRuns: 500 },
    );
  });

  it('mode Observe shows exactly what Enforce would do', () => {
    fc.assert(
      fc.property(pools, pool => {
        const fresh = { ...pool, inFlight: 0 };
        const would = verdictsOf(passOf(fresh, 'Observe')).map(text => text.replace('wouldRepair', 'repair'));
        expect(would).toEqual(verdictsOf(passOf(fresh)));
      }),
      { numRuns: 500 },
    );
  });
});

describe('what a run did not carry out', () => {
  const began = addDuration(T, minutes(40));
  const undone = anAttempt('n1', { phase: 'intended', intendedTime: began });
  const nodes = ['n1', 'n2', 'n3', 'n4'].map(name => aPoolNode(name));
  const rules = someRules({ maxUnhealthy: '100%' });

  it('does not let the ramp go on to more at once', () => {
    const ramp = { step: 0, stepTime: began, granted: 1 };
    const state = { ...NEW_POOL, ramp, attempts: [undone] };
    const now = addDuration(began, minutes(2));
    const decision = decidePass(aPass(nodes, { rules, state, now }));
    expect(decision.verdicts.filter(({ kind }) => kind === 'repair')).toHaveLength(1);
    expect(decision.state.ramp).toEqual({ step: 0, stepTime: now, granted: 1 });
  });

  it('is said to have taken place when its Node is gone', () => {
    const state = { ...NEW_POOL, attempts: [undone] };
    const others = nodes.slice(1);
    const soon = decidePass(aPass(others, { rules, state, now: addDuration(began, seconds(59)) }));
    expect(soon).toMatchObject({ lost: [] });
    expect(soon.state.attempts).toContainEqual(undone);
    const later = decidePass(aPass(others, { rules, state, now: addDuration(began, seconds(60)) }));
    expect(later.lost).toEqual([undone]);
    expect(later.state.attempts).not.toContainEqual(undone);
  });
});
