/** How the grace-period function's records are written down; checked before each write and after each read. */
import { instant } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';
import type { RecordCodec } from '../../shared/lifecycle/record-codec.ts';
import { ANNOUNCEMENT_TOPICS, type GracePeriodRecord } from './announced.ts';

export const OWNER = 'grace-period';

const schema = z.object({
  announced: z.record(z.string(), z.partialRecord(z.enum(ANNOUNCEMENT_TOPICS), z.string())),
  claimTime: z.exactOptional(instant),
  effort: z.exactOptional(
    z.object({
      kind: z.enum(['restored', 'refused']),
      times: z.int().check(z.positive()),
      lastTime: instant,
      message: z.exactOptional(z.string()),
    }),
  ),
});

export const gracePeriodCodec: RecordCodec<GracePeriodRecord> = {
  owner: OWNER,
  schemaVersion: 1,
  parse: state => schema.parse(state),
  toState: ({ announced, claimTime, effort }) => {
    const state = {
      announced,
      ...(claimTime !== undefined && { claimTime }),
      ...(effort !== undefined && { effort: { ...effort } }),
    };
    schema.parse(state);
    return state;
  },
};

/** The record of one node, by UID (I10). */
export const recordIdOf = (uid: string): string => `node/${uid}`;
