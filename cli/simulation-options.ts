/** Options that the commands on virtual time share. */
import type { FaultMixName } from '../simulator/faults/mix.ts';

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
export const SEEDS_RULE = 'at most 1,000,000 seeds';

/** The seeds to run; undefined: not valid, or more than `SEEDS_RULE` allows. */
export function parseSeeds({ seed, seeds }: SeedOptions): number[] | undefined {
  if (seed !== undefined && seeds !== undefined) return undefined;
  if (seed !== undefined) return WHOLE_NUMBER.test(seed) ? [Number(seed)] : undefined;
  if (seeds === undefined) return [DEFAULT_SEED];
  const [from = '', to = '', ...rest] = seeds.split('..');
  if (rest.length > 0 || !WHOLE_NUMBER.test(from) || !WHOLE_NUMBER.test(to) || Number(from) > Number(to))
    return undefined;
  if (Number(to) - Number(from) >= MAX_SEEDS) return undefined;
  return Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index);
}
