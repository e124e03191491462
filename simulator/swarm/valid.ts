/** Whether a scenario, written as a file, is one that `curfew validate` has nothing against. */
import { parseScenarios } from '../scenario/parse.ts';
import { printScenario } from '../scenario/print.ts';
import type { ResourceCatalog } from '../scenario/resource-names.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { clusterCatalog } from '../world.ts';

let catalog: ResourceCatalog | undefined;

/** Doubts count against it, too. */
export function isValid(scenario: Scenario): boolean {
  catalog ??= clusterCatalog();
  const parsed = parseScenarios(printScenario(scenario), scenario.file, catalog);
  return parsed.ok && parsed.scenarios.every(({ doubts }) => doubts.length === 0);
}
