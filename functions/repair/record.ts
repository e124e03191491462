/** How the record of one node is written down; checked before each write and after each read. */
import * as z from '../../shared/contract/zod.ts';
import { toEpochMs, type EpochMs } from '../../shared/domain/time.ts';
import type { RecordCodec } from '../../shared/lifecycle/timed-record.ts';
import type { Episode, RepairIncident } from './incident.ts';

export const OWNER = 'repair';

/** What repair promised about one node. Attempts at its repair stand in the record of its pool. */
export interface NodeRecord {
  /** The open incident; absent while the node is well, and only its past is remembered. */
  readonly incident?: RepairIncident | undefined;
  /** The pool by the last look at its NodeClaim; absent: none. */
  readonly pool?: string | undefined;
  /** Its NodeClaim by the last look: a hint where to look first. */
  readonly claim?: string | undefined;
  /** The incident is due, and the pool's record has the timer that counts. */
  readonly taken: boolean;
  /** Why the node cannot be judged, as it was said. */
  readonly fault?: string | undefined;
  /** Unhealthy times, for `flapping`. */
  readonly episodes: readonly Episode[];
}

export const instant = z.pipe(
  z.number(),
  z.transform((ms: number): EpochMs => toEpochMs(ms)),
);

export const incidentSchema = z.object({
  conditionType: z.string(),
  conditionStatus: z.string(),
  lastTransitionTime: instant,
  dueTime: instant,
});

const schema = z.object({
  incident: z.exactOptional(incidentSchema),
  pool: z.exactOptional(z.string()),
  claim: z.exactOptional(z.string()),
  taken: z._default(z.boolean(), false),
  fault: z.exactOptional(z.string()),
  episodes: z._default(z.array(z.object({ startTime: instant, endTime: z.exactOptional(instant) })), []),
});

export const nodeCodec: RecordCodec<NodeRecord> = {
  owner: OWNER,
  schemaVersion: 2,
  // Version 1 kept the attempt, which stands in the pool's record now, beside the incident.
  parse: state => schema.parse(state),
  toState: ({ incident, pool, claim, taken, fault, episodes }) => {
    const state = {
      ...(incident && { incident: { ...incident } }),
      ...(pool !== undefined && { pool }),
      ...(claim !== undefined && { claim }),
      taken,
      ...(fault !== undefined && { fault }),
      episodes: episodes.map(({ startTime, endTime }) => ({ startTime, ...(endTime !== undefined && { endTime }) })),
    };
    schema.parse(state);
    return state;
  },
};

/** The record of one node, by UID (I10). */
export const nodeRecordId = (uid: string): string => `node/${uid}`;
