/** Scenarios for tests, from their text. */
import { parseScenarios } from '../../simulator/scenario/parse.ts';
import type { Scenario } from '../../simulator/scenario/scenario.ts';
import { clusterCatalog } from '../../simulator/world.ts';

/** What a file begins with, up to the duration, in 6 lines; the rest of `spec` follows, indented by two. */
export const SCENARIO_HEAD = `apiVersion: curfew.dev/v1alpha1
kind: Scenario
metadata: { name: s }
spec:
  start: "2024-11-01T15:00:00Z"
  duration: 2h
`;

const catalog = clusterCatalog();

/** The scenario of a file that has one. Throws for a file that is not valid. */
export function scenarioOf(text: string): Scenario {
  const parsed = parseScenarios(text, 'test.yaml', catalog);
  if (!parsed.ok)
    throw new Error(parsed.faults.map(({ place, message }) => `${place.line}: ${place.path}: ${message}`).join('\n'));
  const [scenario] = parsed.scenarios;
  if (scenario === undefined) throw new Error('no scenario');
  return scenario;
}
