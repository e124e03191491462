/** A trial that failed, made small and written as a scenario file. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runTrial, type Failure, type Trial } from '../simulator/swarm/seed.ts';
import { shrink } from '../simulator/swarm/shrink.ts';
import { printTrial, replayCommand } from '../simulator/swarm/trial-file.ts';
import type { CommandOutput } from './command-output.ts';
import { createProgress, type Terminal } from './progress.ts';

/** Trials that making a failure small may take: about two minutes. */
const SHRINK_RUNS = 800;

export interface FailedTrial {
  /** Begins the name of the file. */
  readonly name: string;
  readonly trial: Trial;
  /** undefined: it did not fail, and nothing is written. */
  readonly failure: Failure | undefined;
}

/** Says which file it is and how to replay it. */
export async function writeFailure(
  { name, trial: failed, failure }: FailedTrial,
  {
    folder,
    output,
    terminal,
  }: { readonly folder: string; readonly output: CommandOutput; readonly terminal: Terminal },
): Promise<void> {
  if (failure === undefined) return;
  const progress = createProgress(terminal);
  let runs = 0;
  const shrunk = await shrink(
    failed,
    failure,
    async trial => {
      progress.say(`shrinking ${name}: ${(runs += 1)} runs`);
      return (await runTrial(trial)).failure;
    },
    SHRINK_RUNS,
  );
  progress.clear();
  const { trial } = shrunk;
  const { objects, steps } = trial.scenario;
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${name}-${failure.invariant}.yaml`);
  await writeFile(file, printTrial(trial, shrunk.failure, file));
  output.out(`${name} with ${objects.length} objects and ${steps.length} steps left: ${file}\n`);
  output.out(`replay: ${replayCommand(file, trial.seed, trial.faults.mix)}\n`);
}
