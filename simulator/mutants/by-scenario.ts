/** Finds a mistake by an example scenario, without faults: the invariants notice it, or an expectation of the file. */
import { readFileSync } from 'node:fs';
import { invariant } from '../../shared/errors.ts';
import { runScenario, type RunResult } from '../run.ts';
import { parseScenarios } from '../scenario/parse.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { clusterCatalog } from '../world.ts';
import type { Mutant } from './mutant.ts';

const FOLDER = new URL('../../examples/scenarios/', import.meta.url);

/** What noticed the mistake, in words; undefined when nothing did, or when no scenario is known for it. */
export async function findByScenario({ scenario, breaks, mutation }: Mutant): Promise<string | undefined> {
  if (scenario === undefined) return undefined;
  const { violations, verdicts } = await runScenario(read(scenario), { stopAtViolation: true, ...mutation });
  const [violation] = violations;
  if (violation !== undefined) {
    const { invariant: broken, message } = violation;
    return breaks.includes(broken) ? `${broken}: ${message}` : undefined;
  }
  return unmet(verdicts);
}

const unmet = (verdicts: RunResult['verdicts']): string | undefined => {
  const failed = verdicts.find(({ holds }) => !holds);
  return failed === undefined ? undefined : `expected: ${failed.title}`;
};

function read(reference: string): Scenario {
  const [file = '', name] = reference.split('#');
  const parsed = parseScenarios(readFileSync(new URL(file, FOLDER), 'utf8'), file, clusterCatalog());
  invariant(parsed.ok, `${file} is a valid file`);
  const found = parsed.scenarios.find(scenario => scenario.name === name);
  invariant(found !== undefined, `${file} has a scenario ${name ?? ''}`);
  return found;
}
