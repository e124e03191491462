/** What a run leaves behind: `bench/results/NAME.json`. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import type { BenchOutcome } from '../bench.ts';
import { isKept, rowSchema } from './row.ts';

const REPOSITORY = join(import.meta.dirname, '..', '..');
export const RESULTS_FOLDER = join(REPOSITORY, 'bench', 'results');

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

/** The file's text: the same run always gives the same text. */
export function formatRun({ name, measuredTime, environment, outcome }: Run): string {
  const { settings, rows, samples } = outcome;
  const judged = rows.map(row => ({ ...row, ok: isKept(row) }));
  const file = { bench: name, measuredTime: measuredTime.toISOString(), environment, settings, rows: judged, samples };
  return `${JSON.stringify(file, (_key, value: unknown) => (typeof value === 'number' ? rounded(value) : value), 2)}\n`;
}

export function writeRun(run: Run): void {
  mkdirSync(RESULTS_FOLDER, { recursive: true });
  writeFileSync(join(RESULTS_FOLDER, `${run.name}.json`), formatRun(run));
}

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
