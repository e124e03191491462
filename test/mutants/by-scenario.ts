/** Finds a mistake by an example scenario: the invariants notice it, or an expectation of the file that holds without the mistake. */
import { scenariosIn } from '../examples/files.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import { runScenario, type RunResult } from '../../simulator/run.ts';
import type { Scenario } from '../../simulator/scenario/scenario.ts';
import { withFault } from './fault.ts';
import type { Mutant } from './mutant.ts';

/** Of the examples, none has as many: what goes round in circles is found within a second. */
const ACTIONS_AT_ONCE = 1_000;

/** What noticed the mistake, in words; undefined when nothing did, or when no scenario is known for it. */
export async function findByScenario(mutant: Mutant): Promise<string | undefined> {
  const { breaks } = mutant;
  if (mutant.scenario === undefined) return undefined;
  const scenario = read(mutant.scenario);
  const excused = await failingWithoutIt(scenario, mutant);
  const { violations, verdicts } = await run(scenario, mutant);
  const [violation] = violations;
  if (violation !== undefined) {
    const { invariant: broken, message } = violation;
    return breaks.includes(broken) ? `${broken}: ${message}` : undefined;
  }
  const failed = verdicts.find(({ holds, title }) => !holds && !excused.includes(title));
  return failed === undefined ? undefined : `expected: ${failed.title}`;
}

/** Titles of what does not hold because of the fault or the time of calls alone: what must happen at once happens later then. */
async function failingWithoutIt(scenario: Scenario, mutant: Mutant): Promise<readonly string[]> {
  if (mutant.fault === undefined && mutant.callDuration === undefined) return [];
  const { violations, verdicts } = await run(scenario, { ...mutant, mutation: {} });
  invariant(violations.length === 0, `${scenario.name}: nothing is broken without the mistake`);
  return verdicts.filter(({ holds }) => !holds).map(({ title }) => title);
}

function run(scenario: Scenario, { fault, callDuration, mutation }: Mutant): Promise<RunResult> {
  const options = {
    stopAtViolation: true,
    maxActionsPerInstant: ACTIONS_AT_ONCE,
    ...(callDuration !== undefined && { callDuration }),
  };
  return runScenario(scenario, { ...options, ...(fault === undefined ? mutation : withFault(mutation, fault())) });
}

function read(reference: string): Scenario {
  const [file = '', name] = reference.split('#');
  const found = scenariosIn(file).find(scenario => scenario.name === name);
  invariant(found !== undefined, `${file} has a scenario ${name ?? ''}`);
  return found;
}
