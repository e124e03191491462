/** `curfew simulate FILE...`: runs scenario files on virtual time and says whether what they expect came true. */
import { toIsoText } from '../shared/domain/time.ts';
import type { FaultMixName } from '../simulator/faults/mix.ts';
import {
  formatFailures,
  formatFault,
  formatNotes,
  formatRun,
  formatSummary,
  isGood,
  toReport,
} from '../simulator/report.ts';
import { runScenario } from '../simulator/run.ts';
import { parseScenarios } from '../simulator/scenario/parse.ts';
import type { Scenario, ScenarioFault } from '../simulator/scenario/scenario.ts';
import { formatLine } from '../simulator/trace.ts';
import { outcomeOf } from '../simulator/outcome.ts';
import { clusterCatalog, UnusableObject } from '../simulator/world.ts';
import { faultsFor } from '../simulator/swarm/trial-file.ts';
import { toFaultMix } from '../simulator/swarm/faults.ts';
import { PROCESS_OUTPUT, type CommandOutput } from './command-output.ts';
import { UsageError } from './usage-error.ts';
import { createLateProgress, type Terminal } from './progress.ts';
import { readScenarioFile } from './scenario-file.ts';
import { parseFaults, parseSeeds, SEEDS_RULE, type SeedOptions } from './simulation-options.ts';

export interface SimulateOptions extends SeedOptions {
  readonly faults?: string;
  readonly output?: string;
}

/** More mistakes than these wait until the first ones are corrected. */
const SHOWN_FAULTS = 10;
/** Takes two seconds and more to parse. */
const LONG_FILE_CHARS = 2_000_000;
/** Actions of a run between two looks at the clock. */
const ACTIONS_PER_LOOK = 200;

/** Exit code 0: all ran and every expectation holds. 1: one does not. 2: a file or an option is not valid. */
export async function simulateCommand(
  files: readonly string[],
  options: SimulateOptions,
  output: CommandOutput = PROCESS_OUTPUT,
  terminal: Terminal = process.stderr,
): Promise<number> {
  const seeds = parseSeeds(options);
  if (seeds === undefined) {
    output.error(`--seed takes a whole number, --seeds a range A..B of whole numbers, ${SEEDS_RULE}, not both\n`);
    return 2;
  }
  const faults = parseFaults(options.faults);
  if (faults === undefined) {
    output.error('--faults takes none, light or heavy\n');
    return 2;
  }
  const { scenarios, faults: mistakes } = await readAll(files, terminal).catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error;
    output.error(`${error.message}\n`);
    return { scenarios: [], faults: undefined };
  });
  if (mistakes === undefined) return 2;
  if (mistakes.length > 0) {
    for (const fault of mistakes.slice(0, SHOWN_FAULTS)) output.error(`${formatFault(fault)}\n`);
    if (mistakes.length > SHOWN_FAULTS) output.error(`… and ${mistakes.length - SHOWN_FAULTS} more\n`);
    return 2;
  }
  try {
    return await runAll(scenarios, seeds, faults, options.output, output, terminal);
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
  terminal: Terminal,
): Promise<number> {
  const runs = scenarios.flatMap(scenario => seeds.map(seed => ({ scenario, seed })));
  let good = true;
  const progress = createLateProgress(terminal);
  for (const { scenario, seed } of runs) {
    const result = await runScenario(scenario, {
      seed,
      faults: toFaultMix(faultsFor(scenario, faults)),
      onProgress: every(ACTIONS_PER_LOOK, (now, end) => {
        const part = { done: now - scenario.start, of: end - scenario.start };
        progress.say(`${scenario.name}, seed ${seed}: ${toIsoText(now)},`, part);
      }),
    });
    progress.clear();
    good &&= isGood(result);
    if (form === 'jsonl') {
      output.out(result.trace.map(entry => `${formatLine(entry)}\n`).join(''));
      if (runs.length > 1) output.error(`${formatSummary(result)}\n`);
      for (const line of [...formatFailures(result), ...formatNotes(result)]) output.error(`${line}\n`);
    } else if (form === 'json') {
      output.out(`${JSON.stringify({ ...toReport(result), outcome: outcomeOf(result.trace) })}\n`);
    } else if (runs.length === 1) {
      output.out(`${formatRun(result)}\n`);
    } else {
      output.out(`${formatSummary(result)}\n`);
      for (const line of [...formatFailures(result), ...formatNotes(result)]) output.out(`    ${line}\n`);
    }
  }
  return good ? 0 : 1;
}

/** Calls `look` at every n-th call. */
function every<Args extends readonly unknown[]>(count: number, look: (...args: Args) => void): (...args: Args) => void {
  let calls = 0;
  return (...args) => {
    calls += 1;
    if (calls % count === 0) look(...args);
  };
}

async function readAll(
  files: readonly string[],
  terminal: Terminal,
): Promise<{ scenarios: Scenario[]; faults: ScenarioFault[] }> {
  const catalog = clusterCatalog();
  const scenarios: Scenario[] = [];
  const faults: ScenarioFault[] = [];
  for (const file of files) {
    const text = await readScenarioFile(file);
    // Parsing does not pause, so this is said before.
    if (text.length > LONG_FILE_CHARS) terminal.write(`reading ${file}, ${(text.length / 1e6).toFixed(1)} MB\n`);
    const parsed = parseScenarios(text, file, catalog);
    if (parsed.ok) scenarios.push(...parsed.scenarios);
    else faults.push(...parsed.faults);
  }
  return { scenarios, faults };
}
