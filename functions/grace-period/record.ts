/** Wire form of the grace-period function's records; checked before each write and after each read. */
import * as z from '../../shared/contract/zod.ts';
import { ANNOUNCEMENT_TOPICS, type GracePeriodRecord } from './announced.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, type EpochMs } from '../../shared/domain/time.ts';

const schema = z.object({
  schemaVersion: z.literal(1),
  announced: z.record(z.string(), z.partialRecord(z.enum(ANNOUNCEMENT_TOPICS), z.string())),
  claimTime: z.exactOptional(
    z.pipe(
      z.number(),
      z.transform((ms: number): EpochMs => toEpochMs(ms)),
    ),
  ),
});

/** Throws a ZodError for a record of an unknown shape: a bug or a downgrade, never user input. */
export function parseGracePeriodRecord(state: JsonObject): GracePeriodRecord {
  const { schemaVersion: _, ...record } = schema.parse(state);
  return record;
}

export function toGracePeriodState({ announced, claimTime }: GracePeriodRecord): JsonObject {
  const state: JsonObject = { schemaVersion: 1, announced, ...(claimTime !== undefined && { claimTime }) };
  schema.parse(state);
  return state;
}
