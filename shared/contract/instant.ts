/** An instant as records and messages carry it. */
import { toEpochMs, type EpochMs } from '../domain/time.ts';
import * as z from './zod.ts';

/** Epoch milliseconds. */
export const instant = z.pipe(
  z.number(),
  z.transform((ms: number): EpochMs => toEpochMs(ms)),
);
