/** `curfew simulate FILE...`: runs scenario files on virtual time and says whether what they expect came true. */
import { readFile } from 'node:fs/promises';
import { messageOf } from '../shared/errors.ts';
import type { FaultMixName } from '../local/sim/faults/mix.ts';
import { formatFailures, formatFault, formatRun, formatSummary, isGood } from '../local/sim/report.ts';
import { runScenario } from '../local/sim/run.ts';
import { parseScenarios } from '../local/sim/scenario/parse.ts';
import type { Scenario, ScenarioFault } from '../local/sim/scenario/scenario.ts';
import { formatLine } from '../local/sim/trace.ts';
import { clusterCatalog, UnusableObject } from '../local/sim/world.ts';
import { PROCESS_OUTPUT, type CommandOutput } from './command-output.ts';

export interface SimulateOptions {
  readonly seed?: string;
  readonly seeds?: string;
  readonly faults?: string;
  readonly output?: string;
}

/** Exit code 0: all ran and every expectation holds. 1: one does not. 2: a file or an option is not valid. */
export async function simulateCommand(
  files: readonly string[],
  options: SimulateOptions,
  output: CommandOutput = PROCESS_OUTPUT,
): Promise<number> {
  const seeds = parseSeeds(options);
  if (seeds === undefined) {
    output.error('--seed takes a whole number, --seeds a range A..B of whole numbers, not both\n');
    return 2;
  }
  const faults = parseFaults(options.faults);
  if (faults === undefined) {
    output.error('--faults takes none, light or heavy\n');
    return 2;
  }
  const { scenarios, faults: mistakes } = await readAll(files);
  if (mistakes.length > 0) {
    for (const fault of mistakes) output.error(`${formatFault(fault)}\n`);
    return 2;
  }
  try {
    return await runAll(scenarios, seeds, faults, options.output, output);
  } catch (error) {
    if (!(error instanceof UnusableObject)) throw error;
    output.error(`${formatFault(error.fault)}\n`);
    return 2;
  }
}

async function runAll(
  scenarios: readonly Scenario[],
  seeds: readonly number[],
  faults: FaultMixName,
  form: string | undefined,
  output: CommandOutput,
): Promise<number> {
  const runs = scenarios.flatMap(scenario => seeds.map(seed => ({ scenario, seed })));
  let good = true;
  for (const { scenario, seed } of runs) {
    const result = await runScenario(scenario, { seed, faults });
    good &&= isGood(result);
    if (form === 'jsonl') {
      output.out(result.trace.map(entry => `${formatLine(entry)}\n`).join(''));
      if (runs.length > 1) output.error(`${formatSummary(result)}\n`);
      for (const line of formatFailures(result)) output.error(`${line}\n`);
    } else if (runs.length === 1) {
      output.out(`${formatRun(result)}\n`);
    } else {
      output.out(`${formatSummary(result)}\n`);
      for (const line of formatFailures(result)) output.out(`    ${line}\n`);
    }
  }
  return good ? 0 : 1;
}

async function readAll(files: readonly string[]): Promise<{ scenarios: Scenario[]; faults: ScenarioFault[] }> {
  const catalog = clusterCatalog();
  const scenarios: Scenario[] = [];
  const faults: ScenarioFault[] = [];
  for (const file of files) {
    let text: string;
    try {
      text = await readFile(file, 'utf8');
    } catch (error) {
      faults.push({ place: { file, line: 1, path: '' }, message: messageOf(error) });
      continue;
    }
    const parsed = parseScenarios(text, file, catalog);
    if (parsed.ok) scenarios.push(...parsed.scenarios);
    else faults.push(...parsed.faults);
  }
  return { scenarios, faults };
}

/** undefined: not valid. */
function parseFaults(name = 'none'): FaultMixName | undefined {
  return name === 'none' || name === 'light' || name === 'heavy' ? name : undefined;
}

const WHOLE_NUMBER = /^\d{1,15}$/;
const DEFAULT_SEED = 1;

/** undefined: not valid. */
function parseSeeds({ seed, seeds }: SimulateOptions): number[] | undefined {
  if (seed !== undefined && seeds !== undefined) return undefined;
  if (seed !== undefined) return WHOLE_NUMBER.test(seed) ? [Number(seed)] : undefined;
  if (seeds === undefined) return [DEFAULT_SEED];
  const [from = '', to = '', ...rest] = seeds.split('..');
  if (rest.length > 0 || !WHOLE_NUMBER.test(from) || !WHOLE_NUMBER.test(to) || Number(from) > Number(to))
    return undefined;
  return Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index);
}
