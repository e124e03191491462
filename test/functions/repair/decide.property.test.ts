/** What holds of every pass, whatever the pool looks like. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { newNode } from '../../../functions/repair/node/rule/attempt.ts';
import { verdictOf } from '../../../functions/repair/node/rule/finding.ts';
import { NEW_POOL, type PoolRecord } from '../../../functions/repair/pool-record.ts';
import type { NodeRecord } from '../../../functions/repair/node/record.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import { addDuration, minutes, toDurationMs } from '../../../shared/domain/time.ts';
import {
  aCondition,
  aDecision,
  anAttempt,
  aPoolNode,
  claimOf,
  someRepairInForce,
  T,
  verdictsOf,
} from '../../builders/repair.ts';

const NOW = addDuration(T, minutes(30));
const ago = (minute: number) => addDuration(NOW, toDurationMs(-minute * 60_000));
const pools = fc.record({
  unhealthy: fc.array(
    fc.record({ minutes: fc.integer({ min: 0, max: 90 }), status: fc.constantFrom('False', 'Unknown') }),
    { maxLength: 12 },
  ),
  healthy: fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 12 }),
  percent: fc.integer({ min: 0, max: 100 }),
  budget: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
  inFlight: fc.integer({ min: 0, max: 4 }),
  zones: fc.integer({ min: 0, max: 3 }),
  isAfterHold: fc.boolean(),
});
type Pool = typeof pools extends fc.Arbitrary<infer Value> ? Value : never;

function nodesOf({ unhealthy, healthy, zones }: Pool): readonly NodeView[] {
  const conditions = [
    ...unhealthy.map(each => aCondition('Ready', each.status, ago(each.minutes))),
    ...healthy.map(minute => aCondition('Ready', 'True', ago(minute))),
  ];
  return conditions.map((condition, index) => {
    const zone: Readonly<Record<string, string>> =
      zones === 0 ? {} : { 'topology.kubernetes.io/zone': `z${index % zones}` };
    return aPoolNode(`n${index}`, condition, { labels: { 'karpenter.sh/nodepool': 'default', ...zone } });
  });
}

/** The first ones are being terminated. */
function decisionOf(pool: Pool, mode: 'Enforce' | 'Observe' = 'Enforce') {
  const { percent, budget, inFlight, unhealthy, isAfterHold } = pool;
  const nodes = nodesOf(pool);
  const block = { maxUnhealthy: `${percent}%`, ...(budget !== undefined && { maxConcurrentRepairs: budget }) };
  const going = nodes.slice(0, Math.min(inFlight, unhealthy.length));
  const records = Object.fromEntries(
    going.map(({ name, uid }): [string, NodeRecord] => [
      uid,
      { ...newNode(name, 'default'), attempt: anAttempt(name, { time: ago(5) }), onsets: {} },
    ]),
  );
  const claims = nodes.map(node => claimOf(node, going.includes(node) ? { deletionTime: ago(5) } : {}));
  const poolRecord: PoolRecord = {
    ...NEW_POOL,
    inFlight: Object.fromEntries(going.map(({ uid }) => [uid, ago(5)])),
    blockingGuards: isAfterHold ? ['threshold'] : [],
  };
  return {
    decision: aDecision(nodes, { repair: someRepairInForce(block, { mode }), claims, records, poolRecord }),
    nodes,
    going,
  };
}

it('I3 never above budget and threshold, and nobody before its time', () => {
  fc.assert(
    fc.property(pools, pool => {
      const { decision, going } = decisionOf(pool);
      const { granted, poolRecord } = decision;
      if (granted.length === 0) return;
      const counted = pool.unhealthy.length + pool.healthy.length - going.length;
      expect(pool.unhealthy.length - going.length).toBeLessThanOrEqual(
        Math.ceil((pool.percent * counted) / 100 - 1e-9),
      );
      for (const { attempt } of granted) expect(attempt.dueCondition.dueTime).toBeLessThanOrEqual(NOW);
      if (pool.budget !== undefined)
        expect(Object.keys(poolRecord.inFlight).length).toBeLessThanOrEqual(Math.max(pool.budget, going.length));
    }),
    { numRuns: 500 },
  );
});

it('I5 leaves no due node without a verdict, and no wait without an end', () => {
  fc.assert(
    fc.property(pools, pool => {
      const { decision, nodes, going } = decisionOf(pool);
      const { findings, wakeTime, poolRecord } = decision;
      expect(findings).toHaveLength(nodes.length);
      const due = nodes.filter((node, index) => (pool.unhealthy[index]?.minutes ?? -1) >= 30 && !going.includes(node));
      const said = new Set(findings.flatMap(look => verdictOf(look)?.node.name ?? []));
      for (const { name } of due) expect(said).toContain(name);
      const isAnyHeld = findings.some(({ verdict }) => verdict?.kind === 'blockedByPool');
      if (!isAnyHeld && Object.keys(poolRecord.inFlight).length === 0) return;
      expect(wakeTime).toBeGreaterThan(NOW);
      expect(wakeTime).toBeLessThanOrEqual(NOW + minutes(5));
    }),
    { numRuns: 500 },
  );
});

it('mode Observe shows exactly what Enforce would do', () => {
  fc.assert(
    fc.property(pools, pool => {
      // The ramp is slowed down by acts alone.
      const fresh = { ...pool, inFlight: 0, isAfterHold: false };
      const would = verdictsOf(decisionOf(fresh, 'Observe').decision).map(text =>
        text.replace('wouldRepair', 'repair'),
      );
      expect(would.toSorted()).toEqual(verdictsOf(decisionOf(fresh).decision));
      expect(decisionOf(pool, 'Observe').decision.granted).toEqual([]);
    }),
    { numRuns: 500 },
  );
});
