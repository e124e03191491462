/** `curfew swarm --mutants`: one mistake at a time is put in, and an example scenario or the swarm must find it. */
import { createProgress, type Terminal } from '../progress.ts';
import { formatFailure, type SeedReport } from '../../simulator/swarm/seed.ts';
import { runTasks } from '../../simulator/swarm/tasks.ts';
import { findByScenario } from '../../simulator/mutants/by-scenario.ts';
import { MUTANTS } from '../../simulator/mutants/mutants.ts';
import type { CommandOutput } from '../command-output.ts';

const MODULE = new URL('../../simulator/mutants/mutants.ts', import.meta.url).href;
const MESSAGE_WIDTH = 110;

/** Exit code 0: each was found within the seeds. 1: one was not. */
export async function findMutants(
  { seeds, jobs }: { readonly seeds: readonly number[]; readonly jobs: number },
  output: CommandOutput,
  terminal: Terminal,
): Promise<number> {
  const progress = createProgress(terminal);
  const width = Math.max(...MUTANTS.map(({ name }) => name.length));
  let missed = 0;
  for (const [index, mutant] of MUTANTS.entries()) {
    const { name, mistake, scenario = '' } = mutant;
    const noticed = await findByScenario(mutant);
    if (noticed !== undefined) {
      output.out(`${name.padEnd(width)}  ${shorten(`${scenario}  ${noticed}`)}  (${mistake})\n`);
      continue;
    }
    let found: SeedReport | undefined;
    let tried = 0;
    const known = mutant.seed === undefined ? [] : [mutant.seed];
    const tasks = [...new Set([...known, ...seeds])].map(seed => ({ seed, mutant: { module: MODULE, name } }));
    await runTasks(tasks, jobs, report => {
      tried += 1;
      progress.say(`${index + 1} of ${MUTANTS.length}: ${name}, ${tried} seeds`);
      if (report.failure !== undefined && (found === undefined || report.seed < found.seed)) found = report;
      return found === undefined ? 'continue' : 'stop';
    });
    progress.clear();
    if (found === undefined) missed += 1;
    output.out(
      `${name.padEnd(width)}  ${found === undefined ? `NOT FOUND in ${tried} seeds` : describe(found)}  (${mistake})\n`,
    );
  }
  output.out(`${MUTANTS.length - missed} of ${MUTANTS.length} mistakes found\n`);
  return missed === 0 ? 0 : 1;
}

function describe({ seed, failure }: SeedReport): string {
  const text = failure === undefined ? '' : (formatFailure(failure).split('\n')[0] ?? '');
  return `seed ${String(seed).padStart(3)}  ${shorten(text)}`;
}

const shorten = (text: string): string => (text.length <= MESSAGE_WIDTH ? text : `${text.slice(0, MESSAGE_WIDTH)}…`);
