/** The example scenarios, file by file. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseScenarios } from '../../simulator/scenario/parse.ts';
import type { Scenario } from '../../simulator/scenario/scenario.ts';
import { clusterCatalog } from '../../simulator/world.ts';

const FOLDER = new URL('../../examples/scenarios/', import.meta.url);
const catalog = clusterCatalog();

/** Their names, in the order of the folder. @param folder another one with scenarios */
export const exampleFiles = (folder = FOLDER): readonly string[] =>
  readdirSync(folder).filter(name => name.endsWith('.yaml'));

/** All scenarios of one file. Throws for a file with a mistake. */
export function scenariosIn(file: string, folder = FOLDER): readonly Scenario[] {
  const path = fileURLToPath(new URL(file, folder));
  const parsed = parseScenarios(readFileSync(path, 'utf8'), path, catalog);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.scenarios;
}
