import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  noneCounted,
  type Awaited,
  type ConcurrentRepairs,
  type Reservation,
  type StatedLimits,
  type Waiting,
} from '../../../../functions/repair/limits/concurrent.ts';
import { createGate, type Surroundings } from '../../../../functions/repair/pass/gate.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import { addDuration, minutes, seconds, toDurationMs, type EpochMs } from '../../../../shared/domain/time.ts';
import { aPoolNode, anAttempt, T } from '../../../builders/repair.ts';

const NOW = addDuration(T, minutes(30));
const ZONE = 'topology.kubernetes.io/zone';
const nodeIn = (name: string, zone?: string): NodeView =>
  aPoolNode(name, undefined, { labels: zone === undefined ? {} : { [ZONE]: zone } });
const nodesIn = (zone: string | undefined, count: number, prefix = zone ?? 'n'): readonly NodeView[] =>
  Array.from({ length: count }, (_, index) => nodeIn(`${prefix}${index}`, zone));

const ago = (ms: number): EpochMs => addDuration(NOW, toDurationMs(0 - ms));
const reserved = (node: NodeView, more: Partial<Reservation> = {}): Reservation => {
  const zone = node.labels[ZONE];
  return { uid: node.uid, ...(zone !== undefined && { zone }), pool: 'gpu', since: ago(minutes(10)), ...more };
};
const waiting = (pool: string, awaits: Awaited, more: Partial<Waiting> = {}): Waiting => ({
  pool,
  awaits,
  since: ago(minutes(1)),
  ...more,
});

interface Case extends Partial<Surroundings> {
  readonly limits?: readonly Omit<StatedLimits, 'source'>[];
  readonly reservations?: readonly Reservation[];
  readonly waiting?: readonly Waiting[];
}

function gateOf({ limits = [], reservations = [], waiting: waits = [], nodes = [], ...more }: Case) {
  const concurrent: ConcurrentRepairs = { ...noneCounted('a@1', NOW), reservations, waiting: waits };
  const binding = limits.map((stated, index) => ({ source: `NodeLifecyclePolicy p${index}`, ...stated }));
  const surroundings = { now: NOW, pool: 'default', isObserving: false, nodes, own: [], ...more };
  return createGate({ limits: { basis: 'a@1', binding }, concurrent }, surroundings);
}

/** How many of these may begin, one after the other. */
function begun(gate: ReturnType<typeof gateOf>, nodes: readonly NodeView[]): number {
  return nodes.filter(node => {
    const isHeld = gate.hold(node, T) !== undefined;
    if (!isHeld) gate.take(node);
    return !isHeld;
  }).length;
}

describe('how many may begin', () => {
  it.each([
    // Nodes, and how many repairs 10 %, 25 %, 50 % and 100 % of them are.
    [1, [1, 1, 1, 1]],
    [2, [1, 1, 1, 2]],
    [3, [1, 1, 2, 3]],
    [4, [1, 1, 2, 4]],
    [5, [1, 2, 3, 5]],
    [6, [1, 2, 3, 6]],
    [7, [1, 2, 4, 7]],
    [8, [1, 2, 4, 8]],
    [9, [1, 3, 5, 9]],
    [10, [1, 3, 5, 10]],
  ])('of %i nodes: %j', (size, expected) => {
    const nodes = nodesIn('a', size);
    const beside = nodesIn('b', 7);
    const percents = [10, 25, 50, 100];
    const ofZone = percents.map(percent =>
      begun(gateOf({ limits: [{ maxConcurrentRepairsPerZone: { percent } }], nodes: [...nodes, ...beside] }), nodes),
    );
    const ofCluster = percents.map(percent =>
      begun(gateOf({ limits: [{ maxConcurrentRepairsPerCluster: { percent } }], nodes }), nodes),
    );
    expect({ ofZone, ofCluster }).toEqual({ ofZone: expected, ofCluster: expected });
  });

  const a = nodesIn('a', 4);
  const b = nodesIn('b', 4);
  const none = nodesIn(undefined, 4);
  const nodes = [...a, ...b, ...none];
  const [a0 = nodeIn('a0'), a1 = nodeIn('a1')] = a;
  const two = { maxConcurrentRepairsPerZone: { count: 2 } };
  const three = { maxConcurrentRepairsPerCluster: { count: 3 } };
  it.each<[string, Case, readonly NodeView[], number]>([
    ['no limit', {}, nodes, 12],
    ['each zone by itself; nodes without a zone are in none', { limits: [two] }, nodes, 8],
    ['the cluster, nodes without a zone too', { limits: [three] }, none, 3],
    ['zone and cluster together', { limits: [two, three] }, nodes, 3],
    ['the strictest of several', { limits: [three, { maxConcurrentRepairsPerCluster: { count: 2 } }] }, nodes, 2],
    ['none', { limits: [{ maxConcurrentRepairsPerCluster: { count: 0 } }] }, nodes, 0],
    ['beside those of other pools', { limits: [two], reservations: [reserved(a0)] }, a, 1],
    ['beside those of other zones', { limits: [two], reservations: [reserved(a0), reserved(a1)] }, b, 2],
    ['beside the own', { limits: [two], own: [anAttempt('a0'), anAttempt('a1')] }, a, 0],
    ['its own reservations are what its record says', { limits: [two], reservations: [reserved(a0, { pool: 'default' })] }, a, 2], // prettier-ignore
    ['a Node that is gone', { limits: [two], reservations: [reserved(nodeIn('gone', 'a'))] }, a, 2],
    ['a Node that came since the look', { limits: [two], reservations: [reserved(nodeIn('new', 'a'), { since: ago(seconds(59)) })] }, a, 1], // prettier-ignore
    ['what others only observe', { limits: [two], reservations: [reserved(a0, { observed: true })] }, a, 2],
    ['the same while observing', { limits: [two], isObserving: true, reservations: [reserved(a0, { observed: true })] }, a, 1], // prettier-ignore
    ['a limit that is lowered below what is held', { limits: [three], own: nodes.slice(0, 5).map(({ name }) => anAttempt(name)) }, b, 0], // prettier-ignore
  ])('%s', (_, given, wanted, expected) => {
    expect(begun(gateOf({ nodes, ...given }), wanted)).toBe(expected);
  });

  it('1,000 at most are counted', () => {
    const many = nodesIn(undefined, 1_001);
    const gate = gateOf({ nodes: many });
    expect(begun(gate, many)).toBe(1_000);
    expect(gate.hold(a0, T)?.message).toContain('so many are counted at most');
  });
});

describe('whether limits are kept where places were taken, however they came to be', () => {
  const [a0, a1, b0] = [nodeIn('a0', 'a'), nodeIn('a1', 'a'), nodeIn('b0', 'b')];
  const nodes = [...nodesIn('a', 4), ...nodesIn('b', 4)];
  const limits = [{ maxConcurrentRepairsPerZone: { count: 1 }, maxConcurrentRepairsPerCluster: { count: 3 } }];

  it.each<[string, readonly NodeView[], readonly NodeView[], boolean]>([
    ['none', [], [a0], true],
    ['as many as there are', [a0, b0], [a0, b0], true],
    ['too many in one zone of two', [a0, a1, b0], [a0, b0], false],
    ['too many in another zone', [a0, a1], [b0], true],
    ['too many in the cluster', [a0, b0, nodeIn('c0', 'c'), nodeIn('d0', 'd')], [b0], false],
  ])('%s', (_, taken, places, isKept) => {
    const gate = gateOf({ nodes, limits });
    for (const node of taken) gate.take(node);
    expect(gate.isKept(places)).toBe(isKept);
  });
});

describe('who comes first', () => {
  const nodes = nodesIn('a', 4);
  const [node = nodeIn('a0')] = nodes;
  const one = [{ maxConcurrentRepairsPerCluster: { count: 1 } }];
  const cluster = (since: EpochMs, most = 1): Awaited => ({ cluster: { since, most } });
  const earlier = addDuration(T, minutes(-1));
  it.each<[string, Waiting, boolean]>([
    ['a pool whose node is due for longer', waiting('gpu', cluster(earlier)), true],
    ['not one whose node is due later', waiting('gpu', cluster(addDuration(T, minutes(1)))), false],
    ['of those due at once the first by name', waiting('cpu', cluster(T)), true],
    ['and not the second', waiting('gpu', cluster(T)), false],
    ['not the pool itself', waiting('default', cluster(earlier)), false],
    ['not one that waits for another zone', waiting('gpu', { 'zone/b': { since: earlier, most: 1 } }), false],
    ['not one that only observes', waiting('gpu', cluster(earlier), { observed: true }), false],
    ['not one that has not been heard of', waiting('gpu', cluster(earlier), { since: ago(minutes(11)) }), false],
  ])('%s', (_, waits, isHeld) => {
    const hold = gateOf({ limits: one, nodes, waiting: [waits] }).hold(node, T);
    expect(hold !== undefined).toBe(isHeld);
    if (isHeld) expect(hold?.message).toMatch(/^0 repairs .* allows 1; 1 other pool comes first, due for longer$/);
  });

  it('nobody who is held by a limit of its own', () => {
    const limits = [{ maxConcurrentRepairsPerCluster: { count: 2 } }];
    const waits = [waiting('gpu', cluster(earlier, 1))];
    const own = [anAttempt('a1')];
    expect(gateOf({ limits, nodes, waiting: waits, own }).hold(node, T)).toBeUndefined();
    expect(gateOf({ limits, nodes, waiting: [waiting('gpu', cluster(earlier, 2))], own }).hold(node, T)).toBeDefined();
  });
});

it('says which policy holds it, and what it waits for', () => {
  const nodes = nodesIn('a', 4);
  const [first = nodeIn('a0'), second = nodeIn('a1')] = nodes;
  const limits = [{ maxConcurrentRepairsPerZone: { count: 1 } }, { maxConcurrentRepairsPerCluster: { percent: 0 } }];
  const gate = gateOf({ limits, nodes, reservations: [reserved(first)] });
  expect(gate.hold(second, T)).toEqual({
    reason: 'ZoneConcurrencyBudget',
    message: '1 repair is under way in zone a, maxConcurrentRepairsPerZone of NodeLifecyclePolicy p0 allows 1',
    basis: {
      source: 'NodeLifecyclePolicy p0',
      field: 'spec.repairLimits.maxConcurrentRepairsPerZone',
      numbers: { underWay: 1, allowed: 1 },
    },
    until: addDuration(NOW, minutes(5)),
    awaits: { key: 'zone/a', most: 1 },
  });
  // No end of a repair opens a limit of none.
  expect(gate.hold(nodeIn('n'), T)).toEqual({
    reason: 'ClusterConcurrencyBudget',
    message: '1 repair is under way in the cluster, maxConcurrentRepairsPerCluster of NodeLifecyclePolicy p1 allows 0',
    basis: {
      source: 'NodeLifecyclePolicy p1',
      field: 'spec.repairLimits.maxConcurrentRepairsPerCluster',
      numbers: { underWay: 1, allowed: 0 },
    },
    until: addDuration(NOW, minutes(5)),
  });
});

it('property: never lets more through than every limit allows, and holds nothing that all of them allow', () => {
  const zone = fc.constantFrom('a', 'b', undefined);
  const limit = fc.oneof(
    fc.record({ count: fc.integer({ min: 0, max: 6 }) }),
    fc.record({ percent: fc.integer({ min: 0, max: 100 }) }),
  );
  const stated = fc.record(
    { maxConcurrentRepairsPerZone: limit, maxConcurrentRepairsPerCluster: limit },
    { requiredKeys: [] },
  );
  const cluster = fc.array(fc.record({ zone, state: fc.constantFrom('due', 'own', 'other', 'well') }), {
    maxLength: 15,
  });
  fc.assert(
    fc.property(cluster, fc.array(stated, { maxLength: 3 }), (drawn, limits) => {
      const nodes = drawn.map((each, index) => nodeIn(`n${index}`, each.zone));
      const of = (state: string): readonly NodeView[] => nodes.filter((_, index) => drawn[index]?.state === state);
      const gate = gateOf({
        limits,
        nodes,
        own: of('own').map(({ name }) => anAttempt(name)),
        reservations: of('other').map(node => reserved(node)),
      });
      const under = [...of('own'), ...of('other')];
      for (const node of of('due')) {
        const there = (list: readonly NodeView[]): number =>
          list.filter(({ labels }) => labels[ZONE] === node.labels[ZONE]).length;
        const most = (of: (typeof limits)[number]['maxConcurrentRepairsPerZone'], total: number): number =>
          of === undefined ? Infinity : 'count' in of ? of.count : Math.ceil((of.percent * total) / 100 - 1e-9);
        const isFree = limits.every(
          ({ maxConcurrentRepairsPerZone: perZone, maxConcurrentRepairsPerCluster: perCluster }) =>
            under.length < most(perCluster, nodes.length) &&
            (node.labels[ZONE] === undefined || there(under) < most(perZone, there(nodes))),
        );
        expect(gate.hold(node, T) === undefined).toBe(isFree);
        if (!isFree) continue;
        gate.take(node);
        under.push(node);
      }
    }),
    { numRuns: 300 },
  );
});
