/**
 * The ledger: one record for each object that carries the finalizer of a FinalizerRule, from before the finalizer is put on until after it went. An
 * object that is in it and not in the cluster was not cleaned up by us.
 */
import { OWNER } from '../common/context.ts';
import { failureReportSchema } from '../common/failure-report-schema.ts';
import { effortSchema, instant } from '../../../shared/contract/instant.ts';
import * as z from '../../../shared/contract/zod.ts';
import { fieldsOf, isJsonObject } from '../../../shared/domain/json.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { checkedCodec, renamed, storedUnder, type RecordCodec } from '../../../shared/lifecycle/record-codec.ts';
import { refusalsSchema } from '../../../shared/lifecycle/refusals.ts';

const common = {
  rule: z.string(),
  finalizerName: z.string(),
  attempts: z.int().check(z.minimum(0)),
  /** Time of the deletion that phase and attempts belong to: a restored etcd may bring the object back, to be deleted once more. */
  deletionTime: z.exactOptional(instant),
  /** Time when the phase changed last; of `finalizerAdded` with a `callTime`: when the object began to queue. */
  time: instant,
  /** Message of the last failure: of the clean-up, or of a change that was refused. */
  message: z.exactOptional(z.string()),
  /** The last Event of a clean-up that failed. */
  failureReport: z.exactOptional(failureReportSchema),
  /** Refused changes, by the decision that asked for them. */
  refusals: z.exactOptional(refusalsSchema),
  /** Somebody keeps taking the finalizer off: the next time it is put back waits longer. */
  effort: z.exactOptional(effortSchema),
  /** The deadline passed, and was reported; false: the report follows. */
  overdue: z.exactOptional(z.boolean()),
  /** The last report that its FinalizerRule is gone or cannot be read, and whether the object was being deleted then. */
  withoutRule: z.exactOptional(z.object({ saidTime: instant, deleting: z.boolean() })),
};
/** Time when the next call may be made, by the FinalizerRule's queue. */
const callTime = z.exactOptional(instant);

const entrySchema = z.discriminatedUnion('phase', [
  /** The object lives, or queues for its first call. */
  z.object({ ...common, phase: z.literal('finalizerAdded'), callTime }),
  /** A call is noted down. */
  z.object({ ...common, phase: z.literal('intended'), callTime }),
  /** A worker is at it. */
  z.object({ ...common, phase: z.literal('pending'), callTime }),
  /** The clean-up is tried again. */
  z.object({ ...common, phase: z.literal('failed'), callTime }),
  /** The finalizer may go. */
  z.object({ ...common, phase: z.literal('cleaned') }),
  /** The object went without a clean-up, as `message` says. `unreported`: the report follows. */
  z.object({
    ...common,
    phase: z.literal('orphaned'),
    callTime,
    unreported: z.exactOptional(z.literal(true)),
  }),
]);
/** An entry with its own timer, where several stand in one record. */
const timed = z.intersection(entrySchema, z.object({ wakeTime: instant }));

const schema = z.intersection(
  entrySchema,
  z.object({
    wakeTime: z.exactOptional(instant),
    /** Entries of further FinalizerRules whose finalizers the object carries, by the name of each. */
    otherEntries: z.exactOptional(z.record(z.string(), timed)),
  }),
);

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

/** The phase as it is stored: `finalizerAdded` has the name that earlier versions gave it. */
export const storedPhaseOf = (phase: string): string => (phase === 'finalizerAdded' ? 'held' : phase);
const ownPhaseOf = (phase: string): string => (phase === 'held' ? 'finalizerAdded' : phase);

/** Names of the fields of an entry, and those that they are stored under. */
const STORED_NAMES = { callTime: 'slotTime' };
const TO_STORED = new Map(Object.entries(STORED_NAMES));
const TO_OWN = new Map([...TO_STORED].map(([own, stored]) => [stored, own]));

const CODEC = storedUnder({ otherEntries: 'others' }, checkedCodec(OWNER, schema, 2));

export const LEDGER_CODEC: RecordCodec<LedgerRecord> = {
  ...CODEC,
  storedNames: { ...CODEC.storedNames, ...STORED_NAMES },
  parse: state => CODEC.parse(withEntries(state, entry => renamed(withPhase(entry, ownPhaseOf), TO_OWN))),
  toState: value => withEntries(CODEC.toState(value), entry => renamed(withPhase(entry, storedPhaseOf), TO_STORED)),
};

/** The stored state with each of its entries changed. */
function withEntries(state: JsonObject, change: (entry: JsonObject) => JsonObject): JsonObject {
  const { others } = fieldsOf(state);
  return {
    ...change(state),
    ...(isJsonObject(others) && {
      others: Object.fromEntries(
        Object.entries(others).map(([name, entry]) => [name, isJsonObject(entry) ? change(entry) : entry]),
      ),
    }),
  };
}

function withPhase(entry: JsonObject, phaseOf: (phase: string) => string): JsonObject {
  const { phase } = fieldsOf(entry);
  return { ...entry, ...(typeof phase === 'string' && { phase: phaseOf(phase) }) };
}
