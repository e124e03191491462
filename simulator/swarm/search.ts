/**
 * Looks for failures where chance alone seldom comes: variations of those trials that reached code which none before them had reached. What
 * it keeps is a corpus, by name.
 */
import { createRandom } from '../random.ts';
import { runInThreads } from '../threads.ts';
import { startCoverage, type Coverage } from './coverage.ts';
import { runTrial, type SeedReport } from './seed.ts';
import { trialNamed } from './variation.ts';

export interface SearchReport {
  /** A seed, or a variation of one. */
  readonly name: string;
  readonly report: SeedReport;
  /** Blocks of code that no trial of this thread reached before. */
  readonly blocks: readonly string[];
}

export interface SearchPlan {
  /** Names of trials to begin with. */
  readonly from: readonly string[];
  /** How many variations are tried after those. */
  readonly variations: number;
  /** Threads. */
  readonly jobs: number;
  /** Which variations: the same number and one thread are the same search. */
  readonly seed: number;
}

export interface SearchResult {
  /** Those of `from`, and those variations, that reached something new, in their order. */
  readonly kept: readonly string[];
  /** Blocks of code reached by those to begin with, and by all. */
  readonly reached: { readonly first: number; readonly all: number };
  readonly failing: readonly SearchReport[];
}

let coverage: Promise<Coverage> | undefined;

/** One trial in this thread. */
export async function runNamed(name: string): Promise<SearchReport> {
  coverage ??= startCoverage();
  const counting = await coverage;
  const report = await runTrial(trialNamed(name));
  return { name, report, blocks: await counting.takeNew() };
}

const isSearchReport = (value: unknown): value is SearchReport =>
  typeof value === 'object' && value !== null && 'blocks' in value;

/** @param onReport called as each trial ends, with how many are through */
export async function search(
  { from, variations, jobs, seed }: SearchPlan,
  onReport: (report: SearchReport, done: number) => void,
): Promise<SearchResult> {
  // Another search in this thread has nothing to do with this one.
  coverage = undefined;
  const reached = new Set<string>();
  const kept: string[] = [];
  const failing: SearchReport[] = [];
  let [first, done] = [0, 0];
  const module = new URL('search-worker.ts', import.meta.url);
  await runInThreads(
    names({ from, variations, seed }, kept),
    jobs,
    { module, run: runNamed, isReport: isSearchReport },
    report => {
      const before = reached.size;
      for (const block of report.blocks) reached.add(block);
      if (reached.size > before) kept.push(report.name);
      if (report.report.failure !== undefined) failing.push(report);
      done += 1;
      if (done <= from.length) first = reached.size;
      onReport(report, done);
      return 'continue';
    },
  );
  return { kept, reached: { first, all: reached.size }, failing };
}

/** Newer ones are varied more often: what they reached has been varied least. */
function* names(
  { from, variations, seed }: Omit<SearchPlan, 'jobs'>,
  kept: readonly string[],
): Generator<string, undefined> {
  yield* from;
  const random = createRandom(seed).stream('search');
  const children = new Map<string, number>();
  for (let count = 0; count < variations; count++) {
    const parents = kept.length > 0 ? kept : from;
    const parent = parents[Math.floor(parents.length * Math.sqrt(random.next()))] ?? '1';
    const child = (children.get(parent) ?? 0) + 1;
    children.set(parent, child);
    yield `${parent}.${child}`;
  }
}
