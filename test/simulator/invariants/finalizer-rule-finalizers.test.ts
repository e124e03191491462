/** What a worker said is done must go: the check bites by itself, whatever the scenario expects. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { addDuration, minutes } from '../../../shared/domain/time.ts';
import { mutationOf } from '../../mutants/mutants.ts';
import { runScenario } from '../../../simulator/run.ts';
import { parseScenarios } from '../../../simulator/scenario/parse.ts';
import { clusterCatalog } from '../../../simulator/world.ts';

const KEY = '6b1d0001/managed-database';
const FILE = new URL('../../../examples/scenarios/finalizer-rule.yaml', import.meta.url);

/** @param key whom the worker's answer names; undefined: the one that waits for it */
async function violations(mutant?: string, key?: string): Promise<readonly string[]> {
  const text = readFileSync(FILE, 'utf8');
  const asked = key === undefined ? text : text.replaceAll(`key: ${KEY}`, `key: ${key}`);
  const parsed = parseScenarios(asked, 'finalizer-rule.yaml', clusterCatalog());
  const scenario = parsed.ok
    ? parsed.scenarios.find(({ name }) => name === 'an-event-is-answered-by-a-worker')
    : undefined;
  if (scenario === undefined) throw new Error('there is no such scenario');
  const longer = { ...scenario, end: addDuration(scenario.end, minutes(10)) };
  const result = await runScenario(longer, mutant === undefined ? {} : mutationOf(mutant));
  return result.violations.map(({ invariant, message }) => `${invariant}: ${message}`);
}

describe('an object whose clean-up a worker has done', () => {
  it('goes', async () => {
    expect(await violations()).toEqual([]);
  });

  it.each(['6b1d0001', '6b1d0001/another'])('waits on when the answer names %s', async key => {
    expect(await violations(undefined, key)).toEqual([]);
  });

  it('is found when nobody listens to the worker', async () => {
    const [first] = await violations('deaf-to-workers');
    expect(first).toMatch(/^I5: ManagedDatabase .* could be gone since .*, and its finalizer is still on$/);
  });
});
