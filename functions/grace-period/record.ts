/** How the grace-period function's records are written down; checked before each write and after each read. */
import { instant } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';
import type { RecordCodec } from '../../shared/lifecycle/record-codec.ts';
import { refusalsSchema } from '../../shared/lifecycle/refusals.ts';
import { ANNOUNCEMENT_TOPICS, type GracePeriodRecord } from './announced.ts';

export const OWNER = 'grace-period';

const schema = z.object({
  announced: z.record(z.string(), z.partialRecord(z.enum([...ANNOUNCEMENT_TOPICS, 'refused']), z.string())),
  claimTime: z.exactOptional(instant),
  effort: z.exactOptional(
    z.object({
      kind: z.enum(['restored', 'refused']),
      times: z.int().check(z.positive()),
      lastTime: instant,
    }),
  ),
  refusals: z.exactOptional(refusalsSchema),
});

export const gracePeriodCodec: RecordCodec<GracePeriodRecord> = {
  owner: OWNER,
  schemaVersion: 1,
  parse(state) {
    const { effort, ...rest } = schema.parse(state);
    // Before there were `refusals`, it also told of these: what is to be tried again is found out by trying.
    if (effort?.kind !== 'restored') return rest;
    const { times, lastTime } = effort;
    return { ...rest, effort: { times, lastTime } };
  },
  toState: ({ announced, claimTime, effort, refusals }) => {
    const state = {
      announced,
      ...(claimTime !== undefined && { claimTime }),
      ...(effort !== undefined && { effort: { kind: 'restored', ...effort } }),
      ...(refusals !== undefined && { refusals: { ...refusals } }),
    };
    schema.parse(state);
    return JSON.parse(JSON.stringify(state));
  },
};

/** The record of one node, by UID (I10). */
export const recordIdOf = (uid: string): string => `node/${uid}`;
