/** The text of `curfew explain` for a node of a scenario. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explain } from '../../cli/explain.ts';
import { onScenario } from '../../cli/explain/on-scenario.ts';

/** @param time since the start of the scenario: `17m`. @returns its lines */
export async function explainedNode(scenario: string, name: string, time: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'curfew-explain-'));
  const file = join(folder, 'a.yaml');
  writeFileSync(file, scenario);
  const text = await onScenario(file, time, cluster => explain(cluster, { kind: 'node', name }, false));
  rmSync(folder, { recursive: true });
  return (text ?? '').split('\n');
}
