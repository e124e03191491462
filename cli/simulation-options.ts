/** Options that the commands on virtual time share. */
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

/** The seeds to run. Throws `UsageError` that names the option, what it was given, and what to write instead. */
export function parseSeeds({ seed, seeds }: SeedOptions): number[] {
  if (seed !== undefined && seeds !== undefined) throw new UsageError('give either --seed or --seeds, not both');
  if (seed !== undefined) {
    if (!WHOLE_NUMBER.test(seed)) throw new UsageError(`--seed must be a whole number, not ${JSON.stringify(seed)}`);
    return [Number(seed)];
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
