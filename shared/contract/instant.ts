/** Instants, durations, and what counts tries over time, as records and messages carry them. */
import { toDurationMs, toEpochMs, type DurationMs, type EpochMs } from '../domain/time.ts';
import * as z from './zod.ts';

/** Epoch milliseconds. */
export const instant = z.pipe(
  z.number(),
  z.transform((ms: number): EpochMs => toEpochMs(ms)),
);

/** A length of time in milliseconds. */
export const milliseconds = z.pipe(
  z.number(),
  z.transform((ms: number): DurationMs => toDurationMs(ms)),
);

/** As `Effort` of the domain. */
export const effortSchema = z.object({ times: z.int().check(z.positive()), lastTime: instant });
