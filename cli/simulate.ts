/** `curfew simulate FILE...`: runs scenario files on virtual time and says whether what they expect came true. */
import { toIsoText } from '../shared/domain/time.ts';
import type { FaultMixName } from '../simulator/faults/mix.ts';
import { formatFailures, formatNotes, formatRun, formatSummary, isGood, toReport } from '../simulator/report.ts';
import { runScenario, type RunResult } from '../simulator/run.ts';
import { parseScenarios } from '../simulator/scenario/parse.ts';
import type { Scenario, ScenarioFault } from '../simulator/scenario/scenario.ts';
import { traceOf } from '../simulator/checked-trace.ts';
import { formatLine } from '../simulator/trace.ts';
import { linesOf } from '../simulator/trace-lines.ts';
import { outcomeOf } from '../simulator/outcome.ts';
import { clusterCatalog, UnusableObject } from '../simulator/world.ts';
import { faultsFor } from '../simulator/swarm/trial-file.ts';
import { toFaultMix } from '../simulator/swarm/faults.ts';
import type { CommandOutput } from './command-output.ts';
import { reportingFailure } from './failure.ts';
import { scenarioRefusal } from './findings/refuse.ts';
import { UsageError } from './usage-error.ts';
import { createLateProgress, stoppedAfter, type Terminal } from './progress.ts';
import { readScenarioFile } from './scenario-file.ts';
import { parseOnly, textOptions } from './simulation-text.ts';
import { parseFaults, parseSeeds, type SeedOptions } from './simulation-options.ts';
import { checkWritable } from './writable.ts';

export interface SimulateOptions extends SeedOptions {
  readonly faults?: string;
  readonly output?: string;
  /** `node=web-1`: what the text is about. */
  readonly only?: string;
  /** Whether the text has writes; default: yes. */
  readonly writes?: boolean;
  /** File to which the page of the run is written. */
  readonly html?: string;
  /** Ctrl-C: the run that is under way ends, what those before it came to is said. */
  readonly interrupted?: AbortSignal;
}

/** Takes two seconds and more to parse. */
const LONG_FILE_CHARS = 2_000_000;
/** Actions of a run between two looks at the clock. */
const ACTIONS_PER_LOOK = 200;

/** Exit code 0: all ran and every expectation holds. 1: one does not. 2: a file or an option is not valid. 130: interrupted. */
export function simulateCommand(
  files: readonly string[],
  options: SimulateOptions,
  output: CommandOutput,
): Promise<number> {
  return reportingFailure(output, async () => {
    const seeds = parseSeeds(options);
    const faults = parseFaults(options.faults);
    if (faults === undefined) throw new UsageError('--faults takes none, light or heavy');
    const scenarios = await readAll(files, process.stderr);
    const runs = scenarios.flatMap(scenario => seeds.map(seed => ({ scenario, seed })));
    const { html } = options;
    if (html !== undefined && runs.length !== 1)
      throw new UsageError(`--html shows one run, and these are ${runs.length}: name one scenario and one seed`);
    if (html !== undefined) checkWritable(html, '--html');
    const isOnly = runs.length === 1;
    const only = parseOnly(options.only);
    // The text of several runs is a line each, from the writes alone.
    const recordsObjects = options.output === 'jsonl' || options.output === 'json' || html !== undefined || isOnly;
    const { interrupted } = options;
    let [done, failed] = [0, 0];
    for (const run of runs) {
      const result = await runOne(run, { faults, recordsObjects, interrupted }, process.stderr);
      if (result === 'interrupted') {
        output.error(`${stoppedAfter(done, runs.length, 'run', failed)}\n`);
        return 130;
      }
      done += 1;
      if (!isGood(result)) failed += 1;
      // First, since a reader of the text that has seen enough ends the process.
      if (html !== undefined) {
        const { writePage } = await import('./page/write.ts');
        await writePage(html, run.scenario.name, { lines: traceOf(result), notices: [] });
      }
      print(result, { form: options.output, isOnly, only, hasWrites: options.writes !== false, output });
      if (html !== undefined) output.error(`the page is ${html}\n`);
    }
    return failed === 0 ? 0 : 1;
  });
}

interface ScenarioRun {
  readonly scenario: Scenario;
  readonly seed: number;
}

interface RunOptions {
  readonly faults: FaultMixName;
  readonly recordsObjects: boolean;
  readonly interrupted: AbortSignal | undefined;
}

/** Throws `UsageError` for an object that only the running cluster refuses. */
async function runOne(
  { scenario, seed }: ScenarioRun,
  { faults, recordsObjects, interrupted }: RunOptions,
  terminal: Terminal,
): Promise<RunResult | 'interrupted'> {
  const progress = createLateProgress(terminal);
  try {
    return await runScenario(scenario, {
      seed,
      faults: toFaultMix(faultsFor(scenario, faults)),
      recordsObjects,
      onProgress: every(ACTIONS_PER_LOOK, (now, end) => {
        interrupted?.throwIfAborted();
        const part = { done: now - scenario.start, of: end - scenario.start };
        progress.say(`${scenario.name}, seed ${seed}: ${toIsoText(now)},`, part);
      }),
    });
  } catch (error) {
    if (interrupted?.aborted === true) return 'interrupted';
    throw error instanceof UnusableObject ? scenarioRefusal([error.fault]) : error;
  } finally {
    progress.clear();
  }
}

interface Printing {
  readonly form: string | undefined;
  /** One run is printed whole, several a line each. */
  readonly isOnly: boolean;
  /** Nodes that the text is about; empty: all. */
  readonly only: readonly string[];
  readonly hasWrites: boolean;
  readonly output: CommandOutput;
}

function print(result: RunResult, { form, isOnly, only, hasWrites, output }: Printing): void {
  const remarks = [...formatFailures(result), ...formatNotes(result)];
  if (form === 'jsonl') {
    output.out(
      linesOf(result)
        .map(line => `${formatLine({ line })}\n`)
        .join(''),
    );
    if (!isOnly) output.error(`${formatSummary(result)}\n`);
    for (const line of remarks) output.error(`${line}\n`);
  } else if (form === 'json') {
    output.out(`${JSON.stringify({ ...toReport(result), outcome: outcomeOf(result.trace) })}\n`);
  } else if (isOnly) {
    output.out(`${formatRun(result, textOptions(result, only, hasWrites))}\n`);
  } else {
    output.out(`${formatSummary(result)}\n`);
    for (const line of remarks) output.out(`    ${line}\n`);
  }
}

/** Calls `look` at every n-th call. */
function every<Args extends readonly unknown[]>(count: number, look: (...args: Args) => void): (...args: Args) => void {
  let calls = 0;
  return (...args) => {
    calls += 1;
    if (calls % count === 0) look(...args);
  };
}

/** Throws `UsageError` with what is wrong in all of the files. */
async function readAll(files: readonly string[], terminal: Terminal): Promise<readonly Scenario[]> {
  const catalog = clusterCatalog();
  const scenarios: Scenario[] = [];
  const faults: ScenarioFault[] = [];
  const texts = new Map<string, string>();
  for (const file of files) {
    const text = await readScenarioFile(file);
    // Parsing does not pause, so this is said before.
    if (text.length > LONG_FILE_CHARS) terminal.write(`reading ${file}, ${(text.length / 1e6).toFixed(1)} MB\n`);
    texts.set(file, text);
    const parsed = parseScenarios(text, file, catalog);
    if (parsed.ok) scenarios.push(...parsed.scenarios);
    else faults.push(...parsed.faults);
  }
  if (faults.length === 0) return scenarios;
  throw scenarioRefusal(faults, texts);
}
