/**
 * `npm run mutants [-- NAME… --seeds A..B --jobs N]`: puts one mistake in at a time, and the seed, scenario or property that its list names, or the swarm, must find it.
 * `--list` tells what each breaks and what finds it, and runs nothing; `--document` writes that to docs/internals/mutants.md.
 * Exit code 0: each was found. 1: one was not. 2: the command line is not valid.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { createProgress } from '../../cli/progress.ts';
import { parseSeeds } from '../../cli/simulation-options.ts';
import { messageOf } from '../../shared/errors.ts';
import { CI_SEEDS } from '../../simulator/swarm/ci.ts';
import { formatFailure, runTrial, trialOf, type SeedReport } from '../../simulator/swarm/seed.ts';
import { runTasks } from '../../simulator/swarm/tasks.ts';
import { findByScenario } from './by-scenario.ts';
import { findByProperty } from './by-property.ts';
import type { Mutant } from './mutant.ts';
import { MUTANTS, mutationOf } from './mutants.ts';
import { MUTANTS_DOCUMENT, mutantsDocument } from './table.ts';

const MODULE = new URL('mutants.ts', import.meta.url).href;
const MESSAGE_WIDTH = 110;
const USAGE = 2;

interface Command {
  readonly mutants: readonly Mutant[];
  readonly isList: boolean;
  readonly isDocument: boolean;
  readonly seeds: readonly number[];
  readonly jobs: number;
}

/** One line a mistake: its name, what it breaks, the scenario, property or seed that finds it. */
function listOf(mutants: readonly Mutant[]): string {
  const lines = mutants.map(({ name, breaks, scenario, property, seed, mistake }) => {
    const finder = seed === undefined ? (scenario ?? property ?? 'any seed') : `seed ${seed}`;
    return `${name}  ${breaks.join(' ')}  ${finder}  (${mistake})\n`;
  });
  return lines.join('');
}

async function findMutants({ mutants, seeds, jobs }: Command): Promise<number> {
  const progress = createProgress(process.stderr);
  const width = Math.max(...mutants.map(({ name }) => name.length));
  let missed = 0;
  for (const [index, mutant] of mutants.entries()) {
    const { name, mistake, seed, scenario = mutant.property ?? '' } = mutant;
    // What the list names first is tried first.
    const own = seed === undefined ? undefined : await runTrial(trialOf(seed), mutationOf(name));
    if (own?.failure !== undefined) {
      process.stdout.write(`${name.padEnd(width)}  ${describe(own)}  (${mistake})\n`);
      continue;
    }
    const noticed = (await findByScenario(mutant)) ?? (await findByProperty(mutant));
    if (noticed !== undefined) {
      process.stdout.write(`${name.padEnd(width)}  ${shorten(`${scenario}  ${noticed}`)}  (${mistake})\n`);
      continue;
    }
    let found: SeedReport | undefined;
    let tried = 0;
    const tasks = seeds.map(each => ({ seed: each, mutant: { module: MODULE, name } }));
    await runTasks(tasks, jobs, report => {
      tried += 1;
      progress.say(`${index + 1} of ${mutants.length}: ${name}, ${tried} seeds`);
      if (report.failure !== undefined && (found === undefined || report.seed < found.seed)) found = report;
      return found === undefined ? 'continue' : 'stop';
    });
    progress.clear();
    if (found === undefined) missed += 1;
    const how = found === undefined ? `NOT FOUND in ${tried} seeds` : describe(found);
    process.stdout.write(`${name.padEnd(width)}  ${how}  (${mistake})\n`);
  }
  process.stdout.write(`${mutants.length - missed} of ${mutants.length} mistakes found\n`);
  return missed === 0 ? 0 : 1;
}

function describe({ seed, failure }: SeedReport): string {
  const text = failure === undefined ? '' : (formatFailure(failure).split('\n')[0] ?? '');
  return `seed ${String(seed).padStart(3)}  ${shorten(text)}`;
}

const shorten = (text: string): string => (text.length <= MESSAGE_WIDTH ? text : `${text.slice(0, MESSAGE_WIDTH)}…`);

/** What is wrong with the command line, as text. */
function parseCommand(): Command | string {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        seeds: { type: 'string', default: `${CI_SEEDS.from}..${CI_SEEDS.to}` },
        list: { type: 'boolean', default: false },
        document: { type: 'boolean', default: false },
        jobs: { type: 'string', default: String(availableParallelism()) },
      },
    });
    const unknown = positionals.find(name => MUTANTS.every(mutant => mutant.name !== name));
    if (unknown !== undefined) return `There is no mutant ${unknown}.`;
    const mutants = positionals.length === 0 ? MUTANTS : MUTANTS.filter(({ name }) => positionals.includes(name));
    const seeds = parseSeeds({ seeds: values.seeds });
    const jobs = Number(values.jobs);
    if (!Number.isInteger(jobs) || jobs < 1) return '--jobs takes a whole number from 1';
    return { mutants, isList: values.list, isDocument: values.document, seeds, jobs };
  } catch (error) {
    return messageOf(error);
  }
}

const command = parseCommand();
if (typeof command === 'string') {
  process.stderr.write(`${command}\n\nnpm run mutants [-- NAME… --seeds A..B --jobs N --list --document]\n`);
  process.exitCode = USAGE;
} else if (command.isDocument) {
  writeFileSync(MUTANTS_DOCUMENT, mutantsDocument(MUTANTS));
} else if (command.isList) {
  process.stdout.write(listOf(command.mutants));
} else {
  process.exitCode = await findMutants(command);
}
