/** Options that the commands on virtual time share. */
import { availableParallelism } from 'node:os';
import { whole } from '../simulator/swarm/report.ts';
import type { FaultMixName } from '../simulator/faults/mix.ts';
import { UsageError } from './usage-error.ts';

export interface SeedOptions {
  readonly seed?: string;
  /** `A..B`, both included. */
  readonly seeds?: string;
}

/** The mix of faults; undefined: not valid. */
export function parseFaults(name = 'none'): FaultMixName | undefined {
  return name === 'none' || name === 'light' || name === 'heavy' ? name : undefined;
}

const WHOLE_NUMBER = /^\d{1,15}$/;
const DEFAULT_SEED = 1;

/** More take days. */
const MAX_SEEDS = 1_000_000;

/** So many processes at most. */
const MAX_JOBS = 64;

/** The number of an option. Throws `UsageError` that names the option and its bounds. */
export function numberFrom(
  option: string,
  text: string | undefined,
  usual: number,
  [least, most]: readonly [number, number],
): number {
  const value = text === undefined ? usual : Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new UsageError(
    `${option} must be a whole number from ${whole(least)} to ${whole(most)}, not ${JSON.stringify(text)}`,
  );
}

/** `--jobs`: processes at a time; as many as there are cores unless it says so. */
export const jobsFrom = (text: string | undefined): number =>
  numberFrom('--jobs', text, Math.min(availableParallelism(), MAX_JOBS), [1, MAX_JOBS]);

/** `--seed`. Throws `UsageError`. */
export function seedFrom(text = String(DEFAULT_SEED)): number {
  if (WHOLE_NUMBER.test(text)) return Number(text);
  throw new UsageError(`--seed must be a whole number, not ${JSON.stringify(text)}`);
}

/** The seeds to run. Throws `UsageError` that names the option, what it was given, and what to write instead. */
export function parseSeeds({ seed, seeds }: SeedOptions): number[] {
  if (seed !== undefined && seeds !== undefined) throw new UsageError('give either --seed or --seeds, not both');
  if (seed !== undefined) {
    return [seedFrom(seed)];
  }
  if (seeds === undefined) return [DEFAULT_SEED];
  const [from = '', to = '', ...rest] = seeds.split(/\.\.|-/);
  const isRange = rest.length === 0 && WHOLE_NUMBER.test(from) && WHOLE_NUMBER.test(to);
  const instead = WHOLE_NUMBER.test(seeds) ? `1..${seeds}` : isRange ? inOrder(from, to) : '1..50';
  if (!isRange || !seeds.includes('..') || Number(from) > Number(to))
    throw new UsageError(`--seeds must be a range A..B, not ${JSON.stringify(seeds)}: write ${instead}`);
  if (Number(to) - Number(from) >= MAX_SEEDS)
    throw new UsageError(`--seeds must be at most 1,000,000 seeds, not ${JSON.stringify(seeds)}`);
  return Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index);
}

const inOrder = (a: string, b: string): string => (Number(a) <= Number(b) ? `${a}..${b}` : `${b}..${a}`);
