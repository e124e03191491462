/** Every example scenario is valid and holds. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatFailures } from '../../simulator/report.ts';
import { runScenario } from '../../simulator/run.ts';
import { parseScenarios } from '../../simulator/scenario/parse.ts';
import { clusterCatalog } from '../../simulator/world.ts';

const FOLDER = new URL('../../examples/scenarios/', import.meta.url);
const catalog = clusterCatalog();
const files = readdirSync(FOLDER).filter(name => name.endsWith('.yaml'));

describe('examples/scenarios', () => {
  it.each(files)('%s', async file => {
    const parsed = parseScenarios(readFileSync(new URL(file, FOLDER), 'utf8'), file, catalog);
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
    for (const scenario of parsed.scenarios) {
      expect(scenario.expectations.length).toBeGreaterThan(0);
      expect(formatFailures(await runScenario(scenario))).toEqual([]);
    }
  });
});
