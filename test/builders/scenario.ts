/** Scenarios for tests, from their text. */
import { formatFailures } from '../../simulator/report.ts';
import { runScenario } from '../../simulator/run.ts';
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

/** A history of one cluster: of each list, entries as a file has them. */
interface History {
  readonly duration: string;
  /** Other fields of `spec`, indented by two. */
  readonly rest?: string;
  readonly objects: readonly string[];
  readonly steps: readonly string[];
  readonly expect?: readonly string[];
}

/** Drains of all namespaces in this mode, and of parts; pods end as a kubelet ends them. Fields of `spec`. */
export const drainsOf = (mode: string): string => `  actors: [kubelet]
  config: |
    partialDrainEnabled = true
    [[userNamespaces]]
    name = "*"
    mode = "${mode}"
`;

/** The file of a history that begins at 15:00. */
export function historyText({ duration, rest = '', objects, steps, expect = [] }: History): string {
  const list = (name: string, entries: readonly string[]): string =>
    `  ${name}:${entries.length === 0 ? ' []' : ''}\n${entries.map(each => `    - ${each}\n`).join('')}`;
  const head = SCENARIO_HEAD.replace('duration: 2h', `duration: ${duration}`);
  return `${head}${rest}${list('objects', objects)}${list('steps', steps)}${list('expect', expect)}`;
}

/** What does not hold in a history: its expectations, and the invariants. */
export async function failuresOf(history: History): Promise<readonly string[]> {
  return formatFailures(await runScenario(scenarioOf(historyText(history)), {}));
}
