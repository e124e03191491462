/** Runs scenario files for a page. */
import { readFileSync } from 'node:fs';
import { runScenario, type RunResult } from '../../simulator/run.ts';
import { parseScenarios } from '../../simulator/scenario/parse.ts';
import type { Scenario } from '../../simulator/scenario/scenario.ts';
import { clusterCatalog } from '../../simulator/world.ts';

export function scenariosIn(file: string): readonly Scenario[] {
  const parsed = parseScenarios(readFileSync(file, 'utf8'), file, clusterCatalog());
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.scenarios;
}

export const runForPage = (scenario: Scenario): Promise<RunResult> => runScenario(scenario, { recordsObjects: true });
