/** `curfew search`: variations of the trials that reach code which others do not, kept as a corpus of names. */
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatFailing, whole } from '../simulator/swarm/report.ts';
import { search } from '../simulator/swarm/search.ts';
import { isTrialName, trialNamed } from '../simulator/swarm/variation.ts';
import type { CommandOutput } from './command-output.ts';
import { messageOf } from '../shared/errors.ts';
import { createProgress } from './progress.ts';
import { jobsFrom, numberFrom, parseSeeds, seedFrom } from './simulation-options.ts';
import { writeFailure } from './swarm-failure.ts';
import { UsageError } from './usage-error.ts';
import { checkWritable } from './writable.ts';

export interface SearchOptions {
  /** `A..B`: trials to begin with. */
  readonly seeds?: string;
  readonly variations?: string;
  /** A file of names, one a line: begun with too, and rewritten with what is kept. */
  readonly corpus?: string;
  readonly jobs?: string;
  readonly failures?: string;
  /** The variations to run, as seeds. */
  readonly seed?: string;
}

const DEFAULT_SEEDS = '1..50';
const DEFAULT_VARIATIONS = 200;
const MAX_VARIATIONS = 1_000_000;

/** Exit code 0: every invariant held. 1: one did not. Throws `UsageError`. */
export async function searchCommand(options: SearchOptions, output: CommandOutput): Promise<number> {
  const corpus = await readCorpus(options.corpus);
  const seeds = parseSeeds({ seeds: options.seeds ?? DEFAULT_SEEDS });
  const variations = numberFrom('--variations', options.variations, DEFAULT_VARIATIONS, [0, MAX_VARIATIONS]);
  const jobs = jobsFrom(options.jobs);
  const seed = seedFrom(options.seed);
  if (options.corpus !== undefined) checkWritable(options.corpus, '--corpus');

  const from = [...new Set([...seeds.map(String), ...corpus])];
  const progress = createProgress(process.stderr);
  const { kept, reached, failing } = await search({ from, variations, jobs, seed }, (_, done) =>
    progress.say(`${whole(done)} trials`, { done, of: from.length + variations }),
  );
  progress.clear();
  output.out(
    `${whole(from.length)} trials reached ${whole(reached.first)} blocks of code, and ${whole(variations)} variations ${whole(reached.all - reached.first)} more\n`,
  );
  if (options.corpus !== undefined) await writeFile(options.corpus, `${kept.join('\n')}\n`);
  for (const { name, report } of failing) output.out(`${name}:${formatFailing(report)}\n`);
  const [found] = failing;
  if (found === undefined) {
    output.out('every invariant held in every run, and every run converged\n');
    return 0;
  }
  await writeFailure(
    { name: `trial-${found.name}`, trial: trialNamed(found.name), failure: found.report.failure },
    { folder: options.failures ?? join(tmpdir(), 'curfew-swarm'), output, terminal: process.stderr },
  );
  return 1;
}

/** Its names. One that is not there yet has none. Throws `UsageError` that says what is wrong with the file. */
async function readCorpus(file: string | undefined): Promise<readonly string[]> {
  if (file === undefined) return [];
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw new UsageError(`--corpus: ${messageOf(error)}`, { cause: error });
  }
  const names = text.split('\n').filter(line => line !== '');
  const unknown = names.find(name => !isTrialName(name));
  if (unknown === undefined) return names;
  throw new UsageError(`--corpus: ${file} has ${JSON.stringify(unknown)}, which is no seed and no variation of one`);
}
