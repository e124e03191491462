/**
 * The ledger: one record for each object that carries the finalizer of a rule, from before the finalizer is put on until after it went. An
 * object that is in it and not in the cluster was not cleaned up by us.
 */
import { OWNER } from '../common/context.ts';
import { failureReportSchema } from '../common/failure-report-schema.ts';
import { effortSchema, instant } from '../../../shared/contract/instant.ts';
import * as z from '../../../shared/contract/zod.ts';
import { checkedCodec, storedUnder, type RecordCodec } from '../../../shared/lifecycle/record-codec.ts';
import { refusalsSchema } from '../../../shared/lifecycle/refusals.ts';

const entry = {
  rule: z.string(),
  finalizerName: z.string(),
  /**
   * `held`: the object lives; `intended`: a call is noted down; `pending`: a worker is at it; `failed`: it is tried again; `cleaned`: the
   * finalizer may go; `orphaned`: the object went without a clean-up.
   */
  phase: z.enum(['held', 'intended', 'pending', 'failed', 'cleaned', 'orphaned']),
  attempts: z.int().check(z.minimum(0)),
  /** Time when the phase changed last; of `held` with a slot: when the object began to queue. */
  time: instant,
  /** Time when the next call may be made: a slot in the rule's queue. */
  slotTime: z.exactOptional(instant),
  message: z.exactOptional(z.string()),
  /** The last Event of a clean-up that failed. */
  failureReport: z.exactOptional(failureReportSchema),
  /** Refused changes, by the decision that asked for them. */
  refusals: z.exactOptional(refusalsSchema),
  /** Somebody keeps taking the finalizer off: the next time it is put back waits longer. */
  effort: z.exactOptional(effortSchema),
  /** The deadline passed, and was reported; false: the report follows. */
  overdue: z.exactOptional(z.boolean()),
  /** `orphaned`, and the report follows. */
  unreported: z.exactOptional(z.literal(true)),
  /** The last report that its rule is gone or cannot be read, and whether the object was being deleted then. */
  withoutRule: z.exactOptional(z.object({ saidTime: instant, deleting: z.boolean() })),
};
/** An entry with its own timer, where several stand in one record. */
const timed = z.object({ ...entry, wakeTime: instant });

const schema = z.object({
  ...entry,
  wakeTime: z.exactOptional(instant),
  /** Entries of further rules whose finalizers the object carries, by rule. */
  otherEntries: z.exactOptional(z.record(z.string(), timed)),
});

const entrySchema = z.object(entry);
export type LedgerEntry = z.output<typeof entrySchema>;
export type TimedEntry = z.output<typeof timed>;
/** The record of one object: as a rule one entry. */
export type LedgerRecord = z.output<typeof schema>;

/** The entries of a record. The first has no time of its own where it stands alone. */
export function entriesOf({
  otherEntries = {},
  ...first
}: LedgerRecord): readonly (LedgerEntry & Partial<TimedEntry>)[] {
  return [first, ...Object.values(otherEntries)];
}

export const LEDGER_CODEC: RecordCodec<LedgerRecord> = storedUnder(
  { otherEntries: 'others' },
  checkedCodec(OWNER, schema, 2),
);
