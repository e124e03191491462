/** What a run leaves behind: its rows in `bench/results/NAME.json`, its raw samples in `.cache/bench/NAME.json`, which Git ignores. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import type { BenchOutcome } from '../bench.ts';
import { isKept, rowSchema } from './row.ts';

const REPOSITORY = join(import.meta.dirname, '..', '..');
export const RESULTS_FOLDER = join(REPOSITORY, 'bench', 'results');
export const SAMPLES_FOLDER = join(REPOSITORY, '.cache', 'bench');

/** Where the run took place. Numbers of two machines are not comparable; ratios nearly are. */
export interface Environment {
  readonly node: string;
  readonly platform: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  /** Short hash of the commit, with `+` when the tree had changes; undefined outside a Git work tree. */
  readonly commit: string | undefined;
}

export function readEnvironment(): Environment {
  return {
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    commit: readCommit(),
  };
}

function readCommit(): string | undefined {
  try {
    return (
      git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--', ':!bench/results') === '' ? '' : '+')
    );
  } catch {
    return undefined;
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: REPOSITORY, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

export interface Run {
  /** The file's name without its ending. */
  readonly name: string;
  readonly measuredTime: Date;
  readonly environment: Environment;
  readonly outcome: BenchOutcome;
}

/** The text of the file of results: the same run always gives the same text. */
export function formatRun({ name, measuredTime, environment, outcome }: Run): string {
  const { settings, rows } = outcome;
  const judged = rows.map(row => ({ ...row, ok: isKept(row) }));
  return formatJson({ bench: name, measuredTime: measuredTime.toISOString(), environment, settings, rows: judged });
}

export function writeRun(run: Run): void {
  const { name, measuredTime, outcome } = run;
  const samples = formatJson({ bench: name, measuredTime: measuredTime.toISOString(), samples: outcome.samples });
  for (const [folder, text] of [
    [RESULTS_FOLDER, formatRun(run)],
    [SAMPLES_FOLDER, samples],
  ] as const) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.json`), text);
  }
}

const formatJson = (value: unknown): string =>
  `${JSON.stringify(value, (_key, each: unknown) => (typeof each === 'number' ? rounded(each) : each), 2)}\n`;

const fileSchema = z.object({ measuredTime: z.string(), rows: z.array(rowSchema) });
/** What a file of results says of its run. */
export type StoredRun = z.infer<typeof fileSchema>;

/** The latest full run of this name; undefined where there is none. */
export function readRun(name: string): StoredRun | undefined {
  const file = join(RESULTS_FOLDER, `${name}.json`);
  return existsSync(file) ? fileSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
}

/** Four decimals: more is noise. */
const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;
