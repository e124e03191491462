/** How many repairs the limits of zone and cluster let begin. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { budgetBlocker, createConcurrencyLimits } from '../../../../functions/repair/rule/concurrency-limits.ts';
import type { StatedLimits } from '../../../../functions/repair/node/rule/settings-in-force.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import { addDuration, minutes, seconds } from '../../../../shared/domain/time.ts';
import { aPoolNode, T } from '../../../builders/repair.ts';

const NOW = addDuration(T, minutes(30));
const ZONE = 'topology.kubernetes.io/zone';
const nodeIn = (name: string, zone?: string): NodeView =>
  aPoolNode(name, undefined, { labels: zone === undefined ? {} : { [ZONE]: zone } });
const nodesIn = (zone: string | undefined, count: number, prefix = zone ?? 'n'): readonly NodeView[] =>
  Array.from({ length: count }, (_, index) => nodeIn(`${prefix}${index}`, zone));

interface Case {
  readonly limits?: readonly Omit<StatedLimits, 'source'>[];
  /** In flight already. */
  readonly taken?: readonly NodeView[];
  readonly nodes?: readonly NodeView[];
}

function limitsOf({ limits = [], taken = [], nodes = [] }: Case) {
  const binding = limits.map((stated, index) => ({ source: `NodeLifecyclePolicy p${index}`, ...stated }));
  const scope = { pool: 'default', limits: { policyGenerations: 'a@1', binding }, nodes, pools: [] };
  return createConcurrencyLimits(
    scope,
    taken.map(({ labels }) => ({ zone: labels[ZONE] })),
    NOW,
  );
}

/** How many of these may begin, one after the other. */
const begun = (concurrencyLimits: ReturnType<typeof limitsOf>, nodes: readonly NodeView[]): number =>
  nodes.filter(node => {
    const isFree = concurrencyLimits.blockerOf(node) === undefined;
    if (isFree) concurrencyLimits.take(node);
    return isFree;
  }).length;

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
      begun(limitsOf({ limits: [{ maxConcurrentRepairsPerZone: { percent } }], nodes: [...nodes, ...beside] }), nodes),
    );
    const ofCluster = percents.map(percent =>
      begun(limitsOf({ limits: [{ maxConcurrentRepairsPerCluster: { percent } }], nodes }), nodes),
    );
    expect({ ofZone, ofCluster }).toEqual({ ofZone: expected, ofCluster: expected });
  });

  const a = nodesIn('a', 4);
  const b = nodesIn('b', 4);
  const none = nodesIn(undefined, 4);
  const nodes = [...a, ...b, ...none];
  const two = { maxConcurrentRepairsPerZone: { count: 2 } };
  const three = { maxConcurrentRepairsPerCluster: { count: 3 } };
  it.each<[string, Case, readonly NodeView[], number]>([
    ['no limit', {}, nodes, 12],
    ['each zone by itself; nodes without a zone are in none', { limits: [two] }, nodes, 8],
    ['the cluster, nodes without a zone too', { limits: [three] }, none, 3],
    ['zone and cluster together', { limits: [two, three] }, nodes, 3],
    ['the strictest of several', { limits: [three, { maxConcurrentRepairsPerCluster: { count: 2 } }] }, nodes, 2],
    ['none', { limits: [{ maxConcurrentRepairsPerCluster: { count: 0 } }] }, nodes, 0],
    ['beside those that are in flight', { limits: [two], taken: a.slice(0, 1) }, a, 1],
    ['beside those of other zones', { limits: [two], taken: a.slice(0, 2) }, b, 2],
    ['a limit that is lowered below what is in flight', { limits: [three], taken: nodes.slice(0, 5) }, b, 0],
  ])('%s', (_, given, wanted, expected) => {
    expect(begun(limitsOf({ nodes, ...given }), wanted)).toBe(expected);
  });

  it('1,000 at most are counted', () => {
    const many = nodesIn(undefined, 1_001);
    const concurrencyLimits = limitsOf({ nodes: many });
    expect(begun(concurrencyLimits, many)).toBe(1_000);
    expect(concurrencyLimits.blockerOf(nodeIn('one more'))).toEqual({
      kind: 'reservations',
      reason: 'ClusterConcurrencyBudget',
      message: '1000 repairs are under way in the cluster, so many are counted at most',
      until: addDuration(NOW, seconds(30)),
    });
  });
});

it('says which policy blocks it, by what numbers, and that it looks again after half a minute', () => {
  const nodes = nodesIn('a', 4);
  const [first = nodeIn('a0'), second = nodeIn('a1')] = nodes;
  const limits = [{ maxConcurrentRepairsPerZone: { count: 1 } }, { maxConcurrentRepairsPerCluster: { percent: 0 } }];
  const concurrencyLimits = limitsOf({ limits, nodes, taken: [first] });
  expect(concurrencyLimits.blockerOf(second)).toEqual({
    kind: 'budget',
    reason: 'ZoneConcurrencyBudget',
    message: '1 repair is under way in zone a, maxConcurrentRepairsPerZone of NodeLifecyclePolicy p0 allows 1',
    setting: {
      source: 'NodeLifecyclePolicy p0',
      field: 'spec.repairLimits.maxConcurrentRepairsPerZone',
      numbers: { underWay: 1, allowed: 1 },
    },
    until: addDuration(NOW, seconds(30)),
  });
  expect(concurrencyLimits.blockerOf(nodeIn('n'))).toMatchObject({
    reason: 'ClusterConcurrencyBudget',
    message: '1 repair is under way in the cluster, maxConcurrentRepairsPerCluster of NodeLifecyclePolicy p1 allows 0',
    setting: {
      source: 'NodeLifecyclePolicy p1',
      field: 'spec.repairLimits.maxConcurrentRepairsPerCluster',
      numbers: { underWay: 1, allowed: 0 },
    },
  });
});

it.each([
  [1, '1 repair is under way in NodePool a, maxConcurrentRepairs allows 1'],
  [2, '2 repairs are under way in NodePool a, maxConcurrentRepairs allows 1'],
])('the limit of a pool says the same, and is looked at every five minutes: %i under way', (underWay, message) => {
  expect(budgetBlocker('in NodePool a', underWay, 1, NOW)).toEqual({
    kind: 'budget',
    reason: 'ConcurrencyBudget',
    message,
    setting: { field: 'spec.repair.maxConcurrentRepairs', numbers: { underWay, allowed: 1 } },
    until: addDuration(NOW, minutes(5)),
  });
});

it('property: never lets more through than every limit allows, and blocks nothing that all of them allow', () => {
  const zone = fc.constantFrom('a', 'b', undefined);
  const limit = fc.oneof(
    fc.record({ count: fc.integer({ min: 0, max: 6 }) }),
    fc.record({ percent: fc.integer({ min: 0, max: 100 }) }),
  );
  const stated = fc.record(
    { maxConcurrentRepairsPerZone: limit, maxConcurrentRepairsPerCluster: limit },
    { requiredKeys: [] },
  );
  const cluster = fc.array(fc.record({ zone, state: fc.constantFrom('due', 'inFlight', 'well') }), { maxLength: 15 });
  fc.assert(
    fc.property(cluster, fc.array(stated, { maxLength: 3 }), (drawn, limits) => {
      const nodes = drawn.map((each, index) => nodeIn(`n${index}`, each.zone));
      const of = (state: string): readonly NodeView[] => nodes.filter((_, index) => drawn[index]?.state === state);
      const under = [...of('inFlight')];
      const concurrencyLimits = limitsOf({ limits, nodes, taken: under });
      for (const node of of('due')) {
        const there = (list: readonly NodeView[]): number =>
          list.filter(({ labels }) => labels[ZONE] === node.labels[ZONE]).length;
        const most = (share: (typeof limits)[number]['maxConcurrentRepairsPerZone'], total: number): number =>
          share === undefined
            ? Infinity
            : 'count' in share
              ? share.count
              : Math.ceil((share.percent * total) / 100 - 1e-9);
        const isFree = limits.every(
          ({ maxConcurrentRepairsPerZone: perZone, maxConcurrentRepairsPerCluster: perCluster }) =>
            under.length < most(perCluster, nodes.length) &&
            (node.labels[ZONE] === undefined || there(under) < most(perZone, there(nodes))),
        );
        expect(concurrencyLimits.blockerOf(node) === undefined).toBe(isFree);
        if (!isFree) continue;
        under.push(node);
        concurrencyLimits.take(node);
      }
    }),
    { numRuns: 300 },
  );
});
