/** Wire form of the repair function's records; checked before each write and after each read. */
import * as z from './zod.ts';
import type { JsonObject } from '../domain/kubernetes-object.ts';
import type { RepairRecord } from '../domain/repair-record.ts';
import { toEpochMs, type EpochMs } from '../domain/time.ts';

const instant = z.pipe(
  z.number(),
  z.transform((ms: number): EpochMs => toEpochMs(ms)),
);

const schema = z.object({
  schemaVersion: z.literal(1),
  incident: z.object({
    conditionType: z.string(),
    conditionStatus: z.string(),
    lastTransitionTime: instant,
    dueTime: instant,
  }),
  attempt: z.exactOptional(
    z.object({
      number: z.int().check(z.positive()),
      nodeClaimName: z.string(),
      nodeClaimUid: z.string(),
      phase: z.enum(['intended', 'accepted']),
      intendedTime: instant,
      terminationTimestamp: z.string(),
    }),
  ),
  blocked: z.exactOptional(z.string()),
  reported: z.exactOptional(z.boolean()),
});

/** Throws a ZodError for a record of an unknown shape: a bug or a downgrade, never user input. */
export function parseRepairRecord(state: JsonObject): RepairRecord {
  const { schemaVersion: _, ...record } = schema.parse(state);
  return record;
}

export function toRepairState({ incident, attempt, blocked, reported }: RepairRecord): JsonObject {
  const state: JsonObject = {
    schemaVersion: 1,
    incident: { ...incident },
    ...(attempt && { attempt: { ...attempt } }),
    ...(blocked !== undefined && { blocked }),
    ...(reported !== undefined && { reported }),
  };
  schema.parse(state);
  return state;
}
