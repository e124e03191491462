import { describe, expect, it } from 'vitest';
import { dayOf } from '../../../bench/simulate/day.ts';
import { isGood } from '../../../simulator/report.ts';
import { runScenario } from '../../../simulator/run.ts';
import type { Scenario } from '../../../simulator/scenario/scenario.ts';
import { scenarioOf } from '../../builders/scenario.ts';

const parse = (scenario: object): Scenario => scenarioOf(JSON.stringify(scenario));

const kindsOf = ({ objects }: Scenario): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { manifest } of objects) counts[manifest.kind] = (counts[manifest.kind] ?? 0) + 1;
  return counts;
};

describe('dayOf', () => {
  it('is a valid scenario with so many nodes, each with its NodeClaim', () => {
    const scenario = parse(dayOf({ nodes: 100, hours: 24 }).scenario);
    expect(kindsOf(scenario)).toEqual({ NodePool: 2, NodeLifecyclePolicy: 1, NodeClaim: 100, Node: 100, Pod: 20 });
    expect(scenario.steps.every(({ time }) => time > scenario.start && time < scenario.end)).toBe(true);
  });

  it('breaks one node in fifty a day, and fewer in a shorter stretch', () => {
    expect(dayOf({ nodes: 1000, hours: 24 }).broken).toBe(20);
    expect(dayOf({ nodes: 1000, hours: 6 }).broken).toBe(5);
  });

  it('ends as it expects: every broken node repaired and replaced, no other', async () => {
    const { scenario, broken } = dayOf({ nodes: 100, hours: 12 });
    const result = await runScenario(parse(scenario));
    expect(result.verdicts.filter(({ holds }) => !holds)).toEqual([]);
    expect(isGood(result)).toBe(true);
    expect(broken).toBe(1);
  });

  it('refuses a stretch in which nobody could be repaired and replaced', () => {
    expect(() => dayOf({ nodes: 10, hours: 0.5 })).toThrow('an hour');
  });
});
