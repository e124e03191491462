/** `curfew swarm`: random clusters, policies, stories and faults, and every invariant watched over them. */
import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createProgress, stoppedAfter, type Terminal } from './progress.ts';
import type { FaultMixName } from '../simulator/faults/mix.ts';
import { ALL_CI_SEEDS, readRegressions } from '../simulator/swarm/ci.ts';
import { formatFailing, formatTotals, whole } from '../simulator/swarm/report.ts';
import { runTrial, trialOf, type SeedReport } from '../simulator/swarm/seed.ts';
import { runTasks } from '../simulator/swarm/tasks.ts';
import { sumUp } from '../simulator/swarm/totals.ts';
import { clusterCatalog } from '../simulator/world.ts';
import type { CommandOutput } from './command-output.ts';
import { jobsFrom, parseFaults, parseSeeds } from './simulation-options.ts';
import { writeFailure } from './swarm-failure.ts';

export interface SwarmOptions {
  readonly seeds?: string;
  readonly faults?: string;
  readonly ci?: boolean;
  readonly jobs?: string;
  /** Folder for what failed; default: a folder in the system's for temporary files. */
  readonly failures?: string;
  /** Ctrl-C: no further seed is begun. */
  readonly interrupted?: AbortSignal;
}

const DEFAULT_SEEDS = '1..200';
const REGRESSIONS = fileURLToPath(new URL('../examples/regressions', import.meta.url));

/** Exit code 0: every invariant held. 1: one did not. 2: an option is not valid. 130: interrupted; what held so far is said. Throws `UsageError`. */
export async function swarmCommand(options: SwarmOptions, output: CommandOutput): Promise<number> {
  if (options.ci === true && options.seeds !== undefined) {
    output.error('give either --seeds or --ci, which has its own\n');
    return 2;
  }
  const seeds = options.ci === true ? ALL_CI_SEEDS : parseSeeds({ seeds: options.seeds ?? DEFAULT_SEEDS });
  const mix = options.faults === undefined ? 'drawn' : parseFaults(options.faults);
  if (mix === undefined) {
    output.error('--faults takes none, light or heavy\n');
    return 2;
  }
  const jobs = jobsFrom(options.jobs);
  const folder = options.failures ?? join(tmpdir(), 'curfew-swarm');
  // Before the seeds run: that takes minutes, and what failed would be lost.
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) {
    output.error(`--failures takes a folder, ${folder} is a file\n`);
    return 2;
  }
  const regressionsHold = options.ci !== true || (await runRegressions(output));
  const { interrupted } = options;
  const swarmHolds = await runSeeds(
    { seeds, jobs, folder, interrupted, ...(mix !== 'drawn' && { mix }) },
    output,
    process.stderr,
  );
  if (interrupted?.aborted === true) return 130;
  return regressionsHold && swarmHolds ? 0 : 1;
}

interface Plan {
  readonly seeds: readonly number[];
  readonly mix?: FaultMixName;
  readonly jobs: number;
  readonly folder: string;
  readonly interrupted: AbortSignal | undefined;
}

async function runSeeds(
  { seeds, mix, jobs, folder, interrupted }: Plan,
  output: CommandOutput,
  terminal: Terminal,
): Promise<boolean> {
  const progress = createProgress(terminal);
  const start = performance.now();
  const reports: SeedReport[] = [];
  let failed = 0;
  const tasks = seeds.map(seed => ({ seed, ...(mix !== undefined && { mix }) }));
  const run = runTasks(tasks, jobs, report => {
    // What ends while it is interrupted is not said any more.
    if (interrupted?.aborted === true) return 'stop';
    reports.push(report);
    if (report.failure !== undefined) failed += 1;
    const place = { done: reports.length, of: seeds.length };
    progress.say(`${whole(reports.length)} of ${whole(seeds.length)} seeds, ${failed} failed`, place);
    return 'continue';
  });
  await Promise.race([run, aborted(interrupted)]);
  progress.clear();
  const totals = sumUp(reports);
  if (reports.length > 0) output.out(`${formatTotals(totals, (performance.now() - start) / 1000)}\n`);
  if (interrupted?.aborted === true) {
    output.error(`${stoppedAfter(reports.length, seeds.length, 'seed', failed)}\n`);
    return failed === 0;
  }
  const [first] = totals.failing;
  if (first === undefined) return true;
  await writeFailure(
    { name: `seed-${first.seed}`, trial: trialOf(first.seed, mix), failure: first.failure },
    { folder, output, terminal },
  );
  return false;
}

/** Resolves when it is; without a signal, never. */
const aborted = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise(resolve => {
    if (signal?.aborted === true) resolve();
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });

async function runRegressions(output: CommandOutput): Promise<boolean> {
  const trials = await readRegressions(REGRESSIONS, clusterCatalog());
  const failing: string[] = [];
  for (const trial of trials) {
    const report = await runTrial(trial);
    if (report.failure !== undefined) failing.push(`${trial.scenario.file}:${formatFailing(report)}`);
  }
  for (const line of failing) output.out(`${line}\n`);
  output.out(`${trials.length - failing.length} of ${trials.length} regressions hold\n`);
  return failing.length === 0;
}
