import { toDurationMs, type DurationMs } from '../shared/domain/time.ts';

export interface BackoffRange {
  readonly first: DurationMs;
  readonly longest: DurationMs;
}

/** A source of numbers in [0, 1), for jitter. Without one, delays are exact. */
export type RandomSource = () => number;

/**
 * The wait after `failures` failures in a row: `first`, twice that, and so on to `longest`; nothing after none. With a
 * random source, between half of that and all of it, so that many forwarders do not come back at the same instant.
 */
export function backoffDelay(failures: number, range: BackoffRange, random?: RandomSource): DurationMs {
  if (failures <= 0) return toDurationMs(0);
  const delay = Math.min(range.longest, range.first * 2 ** Math.min(failures - 1, 30));
  return toDurationMs(random === undefined ? delay : delay * (0.5 + random() / 2));
}
