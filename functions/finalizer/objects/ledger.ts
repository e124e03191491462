/**
 * Entries of the ledger: the start of the next one, and how it is written together with its timer. One record for each object; where it carries
 * the finalizers of several FinalizerRules, each has an entry of its own in it, and the record's timer is the earliest of theirs.
 */
import type { FinalizerDeps } from '../common/context.ts';
import { isDeepStrictEqual } from 'node:util';
import { invariant } from '../../../shared/domain/invariant.ts';
import { RUN_ENDS_WITHIN } from '../../../shared/domain/run-end.ts';
import {
  addDuration,
  comesInTime,
  earliest,
  isAhead,
  seconds,
  toDurationMs,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import type { LoadedRecord } from '../../../shared/lifecycle/record-codec.ts';
import { PROGRESSED, type Turn } from '../../../shared/lifecycle/settle.ts';
import type { SaveOutcome, TimedRecord, RecordToSave } from '../../../shared/lifecycle/timed-record.ts';
import type { FinalizerRuleInForce } from '../finalizer-rules/rule/acceptance.ts';
import { LEDGER_CHECK } from './decide.ts';
import type { ObservedObject } from './observe.ts';
import { entriesOf, type LedgerEntry, type LedgerRecord, type TimedEntry } from './record.ts';

/** Time after which the next run goes on from what a run that died noted down. */
export const TAKE_OVER_AFTER = toDurationMs(RUN_ENDS_WITHIN + seconds(20));

/** The entry as it stands, under the FinalizerRule that is in force, without a time in its queue. */
export function nextEntry({ inForce, observation, entry }: ObservedObject): LedgerEntry {
  const { object } = observation;
  const isHere = object !== undefined && object !== 'notServed';
  const deletionTime = isHere ? object.deletionTime : entry?.deletionTime;
  const fields = {
    rule: inForce.object.metadata.name,
    finalizerName: inForce.rule.finalizerName,
    ...(deletionTime !== undefined && { deletionTime }),
  };
  if (entry === undefined) return { ...fields, phase: 'finalizerAdded', attempts: 0, time: observation.now };
  const { withoutRule: _, refusals: __, deletionTime: ___, ...rest } = withoutCallTime(entry);
  return { ...(rest.phase === 'orphaned' ? asReported(rest) : rest), ...fields };
}

function withoutCallTime(entry: LedgerEntry): LedgerEntry {
  if (entry.phase === 'cleaned') return entry;
  const { callTime: _, ...rest } = entry;
  return rest;
}

/** The entry of an orphan once that is reported. */
export function asReported<Orphaned extends { readonly unreported?: true }>(
  entry: Orphaned,
): Omit<Orphaned, 'unreported'> {
  const { unreported: _, ...rest } = entry;
  return rest;
}

/** Writes the entry of an object with the timer of its next look. @param redeliveryError as in `RecordToSave` */
export function saveEntry(
  { timedRecord, subject }: ObservedObject,
  value: LedgerEntry,
  wakeTime: EpochMs,
  redeliveryError?: RecordToSave<LedgerEntry>['redeliveryError'],
): Promise<SaveOutcome> {
  return timedRecord.save({ subject, value, wakeTime, redeliveryError });
}

/** Records what the next turn reports. A report is not repeated while nothing can be written (I11). */
export async function noteDown(observed: ObservedObject, value: LedgerEntry): Promise<Turn> {
  const saved = await saveEntry(observed, value, addDuration(observed.observation.now, TAKE_OVER_AFTER));
  return saved.written ? PROGRESSED : saved;
}

/** Notes down that an object went, or goes, without its clean-up. The entry stays until a person has dealt with it. */
export const noteOrphan = (observed: ObservedObject, message: string): Promise<Turn> =>
  noteDown(observed, {
    ...nextEntry(observed),
    phase: 'orphaned',
    time: observed.observation.now,
    message,
    unreported: true,
  });

/** The entries in the record that no FinalizerRule sees to: none has their finalizer. @param rules that see to the object */
export const entriesWithoutRule = (
  loaded: LoadedRecord<LedgerRecord>,
  rules: readonly FinalizerRuleInForce[],
): readonly LedgerEntry[] =>
  loaded.kind === 'known'
    ? entriesOf(loaded.value).filter(entry => !rules.some(each => isEntryOf(ownerOf(each))(entry)))
    : [];

/** The owner of an entry. */
export interface EntryOwner {
  readonly rule: string;
  readonly finalizerName: string;
}

/** The FinalizerRule as the owner of entries. */
export const ownerOf = ({ object, rule }: FinalizerRuleInForce): EntryOwner => ({
  rule: object.metadata.name,
  finalizerName: rule.finalizerName,
});

/** Whether the entry belongs to this FinalizerRule: it has its name, or an earlier rule with the same finalizer wrote it. */
const isEntryOf =
  ({ rule, finalizerName }: EntryOwner) =>
  (entry: LedgerEntry): boolean =>
    entry.rule === rule || entry.finalizerName === finalizerName;

/** The entry of one FinalizerRule as a record of its own. Each `load` reads it again. */
export function entryRecord(
  { clock }: Pick<FinalizerDeps, 'clock'>,
  timedRecord: TimedRecord<LedgerRecord>,
  owner: EntryOwner,
): TimedRecord<LedgerEntry> {
  const isOwn = isEntryOf(owner);
  /** The one under its own name before one that was handed over. */
  const ownIn = <Entry extends LedgerEntry>(entries: readonly Entry[]): Entry | undefined =>
    entries.find(({ rule }) => rule === owner.rule) ?? entries.find(isOwn);
  let loaded: LoadedRecord<LedgerRecord> = { kind: 'none' };
  /** Writes several entries, with the timer of the one that is due first. */
  const saveEntries = (
    entries: readonly TimedEntry[],
    wanted: Omit<RecordToSave<LedgerEntry>, 'value' | 'wakeTime'>,
  ): Promise<SaveOutcome> => {
    const now = clock.now();
    // The run in hand looks at each entry, and so at those whose time has come.
    const ahead = entries.map(({ wakeTime }) => wakeTime).filter(time => isAhead(now, time));
    const wakeTime = ahead.reduce<EpochMs | undefined>(earliest, undefined) ?? addDuration(now, LEDGER_CHECK);
    return timedRecord.save({ ...wanted, value: recordOf(entries), wakeTime });
  };
  return {
    key: timedRecord.key,
    isWakeUpSuperseded: () => timedRecord.isWakeUpSuperseded(),
    release: () => timedRecord.release(),
    async load() {
      loaded = await timedRecord.load();
      if (loaded.kind !== 'known') return loaded;
      const own = ownIn(entriesOf(loaded.value));
      return own === undefined ? { kind: 'none' } : { ...loaded, value: { ...withoutTime(own), rule: owner.rule } };
    },
    async save(wanted) {
      if (loaded.kind !== 'known' || entriesOf(loaded.value).every(isOwn)) return timedRecord.save(wanted);
      const { value, wakeTime } = wanted;
      const entries = timedEntriesOf(loaded.value, loaded.stored.nextWakeTime ?? wakeTime);
      const own = ownIn(entries);
      // As with any record: an unchanged entry keeps a timer that comes in time.
      const isSame = own !== undefined && isDeepStrictEqual(withoutTime(own), value);
      const keepsTimer = isSame && comesInTime(own.wakeTime, wakeTime, clock.now());
      const next = { ...value, wakeTime: keepsTimer ? own.wakeTime : wakeTime };
      const nextEntries = entries
        .filter(entry => entry === own || !isOwn(entry))
        .map(entry => (entry === own ? next : entry));
      return saveEntries(own === undefined ? [...entries, next] : nextEntries, wanted);
    },
    async closeNow() {
      if (loaded.kind !== 'known') return timedRecord.closeNow();
      const { value, stored } = loaded;
      const others = timedEntriesOf(value, stored.nextWakeTime ?? clock.now()).filter(entry => !isOwn(entry));
      return others.length === 0 ? timedRecord.closeNow() : saveEntries(others, { subject: stored.subject });
    },
  };
}

function withoutTime(timed: LedgerEntry & Partial<TimedEntry>): LedgerEntry {
  const { wakeTime: _, ...entry } = timed;
  return entry;
}

/** The entries of a record, each with its time. @param time of the first, where it stands alone */
const timedEntriesOf = (value: LedgerRecord, time: EpochMs): readonly TimedEntry[] =>
  entriesOf(value).map(entry => ({ ...entry, wakeTime: entry.wakeTime ?? time }));

/** The record of at least one entry: the first stands in front, the others by their FinalizerRules. */
function recordOf([first, ...others]: readonly TimedEntry[]): LedgerRecord {
  invariant(first !== undefined, 'a record of the ledger has an entry');
  if (others.length === 0) return first;
  return { ...first, otherEntries: Object.fromEntries(others.map(entry => [entry.rule, entry])) };
}

/** The record without some entries; undefined: none is left. @param time of the first, where it stands alone */
export function withoutEntries(
  value: LedgerRecord,
  leavesOut: (entry: LedgerEntry) => boolean,
  time: EpochMs,
): LedgerRecord | undefined {
  const left = timedEntriesOf(value, time).filter(entry => !leavesOut(entry));
  return left.length === 0 ? undefined : recordOf(left);
}
