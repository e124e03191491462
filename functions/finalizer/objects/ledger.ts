/**
 * Entries of the ledger: the start of the next one, and how it is written together with its timer. One record for each object; where it carries
 * the finalizers of several rules, each has an entry of its own in it, and the record's timer is the earliest of theirs.
 */
import type { FinalizerDeps } from '../common/context.ts';
import { isDeepStrictEqual } from 'node:util';
import { RUN_ENDS_WITHIN } from '../../../shared/domain/run-end.ts';
import {
  addDuration,
  comesInTime,
  earliest,
  seconds,
  toDurationMs,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import type { LoadedRecord } from '../../../shared/lifecycle/record-codec.ts';
import { PROGRESSED, type Turn } from '../../../shared/lifecycle/settle.ts';
import type { SaveOutcome, TimedRecord, RecordToSave } from '../../../shared/lifecycle/timed-record.ts';
import { LEDGER_CHECK } from './decide.ts';
import type { ObservedObject } from './observe.ts';
import { entriesOf, type LedgerEntry, type LedgerRecord, type TimedEntry } from './record.ts';

/** Time after which the next run goes on from what a run that died noted down. */
export const TAKE_OVER_AFTER = toDurationMs(RUN_ENDS_WITHIN + seconds(20));

/** The entry as it stands, under the rule that is in force, without a slot in its queue. */
export function nextEntry({ inForce, observation, entry }: ObservedObject): LedgerEntry {
  const {
    slotTime: _,
    withoutRule: __,
    refusals: ___,
    unreported: ____,
    ...rest
  } = entry ?? {
    attempts: 0,
    phase: 'held' as const,
    time: observation.now,
  };
  return { ...rest, rule: inForce.object.metadata.name, finalizerName: inForce.rule.finalizerName };
}

/** Writes the entry of an object with the timer of its next look. @param redeliveryError as in `RecordToSave` */
export function saveEntry(
  { record, subject }: ObservedObject,
  value: LedgerEntry,
  wakeTime: EpochMs,
  redeliveryError?: RecordToSave<LedgerEntry>['redeliveryError'],
): Promise<SaveOutcome> {
  return record.save({ subject, value, wakeTime, redeliveryError });
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

/** The rules that have an entry in the record. */
export const rulesIn = (loaded: LoadedRecord<LedgerRecord>): readonly string[] =>
  loaded.kind === 'known' ? entriesOf(loaded.value).map(({ rule }) => rule) : [];

/** The entry of one rule as a record of its own. Each `load` reads it again. */
export function entryRecord(
  { clock }: Pick<FinalizerDeps, 'clock'>,
  record: TimedRecord<LedgerRecord>,
  rule: string,
): TimedRecord<LedgerEntry> {
  let loaded: LoadedRecord<LedgerRecord> = { kind: 'none' };
  const write = (
    value: LedgerRecord,
    wanted: Omit<RecordToSave<LedgerEntry>, 'value' | 'wakeTime'>,
  ): Promise<SaveOutcome> => {
    const now = clock.now();
    // One that has come is seen to by the run in hand, which looks at each entry.
    const ahead = entriesOf(value).flatMap(({ wakeTime: time }) => (time !== undefined && time > now ? [time] : []));
    const wakeTime = ahead.reduce<EpochMs | undefined>(earliest, undefined) ?? addDuration(now, LEDGER_CHECK);
    return record.save({ ...wanted, value, wakeTime });
  };
  return {
    key: record.key,
    isWakeUpSuperseded: () => record.isWakeUpSuperseded(),
    release: () => record.release(),
    async load() {
      loaded = await record.load();
      if (loaded.kind !== 'known') return loaded;
      const own = entryIn(loaded.value, rule);
      return own === undefined ? { kind: 'none' } : { ...loaded, value: own };
    },
    async save(wanted) {
      const { value, wakeTime } = wanted;
      const base = loaded.kind === 'known' ? loaded.value : undefined;
      const otherEntries = base?.otherEntries ?? {};
      const isAlone = base === undefined || (base.rule === rule && Object.keys(otherEntries).length === 0);
      if (isAlone) return record.save(wanted);
      const stored = loaded.kind === 'known' ? loaded.stored.nextWakeTime : undefined;
      const main: LedgerRecord = { ...base, wakeTime: base.wakeTime ?? stored ?? wakeTime };
      const storedEntry = base.rule === rule ? timeOf(main) : otherEntries[rule];
      const isSame = storedEntry !== undefined && isDeepStrictEqual(withoutTime(storedEntry), value);
      // As with any record: an unchanged entry keeps a timer that comes in time.
      const kept = isSame && comesInTime(storedEntry.wakeTime, wakeTime, clock.now()) ? storedEntry.wakeTime : wakeTime;
      const next: LedgerRecord =
        base.rule === rule
          ? { ...value, wakeTime: kept, otherEntries }
          : { ...main, otherEntries: { ...otherEntries, [rule]: { ...value, wakeTime: kept } } };
      return write(next, wanted);
    },
    async closeNow() {
      if (loaded.kind !== 'known') return record.closeNow();
      const { value, stored } = loaded;
      const remainingRecord = withoutEntries(value, entry => entry.rule === rule, stored.nextWakeTime ?? clock.now());
      return remainingRecord === undefined ? record.closeNow() : write(remainingRecord, { subject: stored.subject });
    },
  };
}

function entryIn(record: LedgerRecord, rule: string): LedgerEntry | undefined {
  const { otherEntries, wakeTime: _, ...main } = record;
  if (main.rule === rule) return main;
  const other = otherEntries !== undefined && Object.hasOwn(otherEntries, rule) ? otherEntries[rule] : undefined;
  return other && withoutTime(other);
}

function withoutTime(timed: TimedEntry): LedgerEntry {
  const { wakeTime: _, ...entry } = timed;
  return entry;
}

function timeOf(record: LedgerRecord): TimedEntry | undefined {
  const { otherEntries: _, wakeTime, ...main } = record;
  return wakeTime === undefined ? undefined : { ...main, wakeTime };
}

/**
 * The record without some entries: the first of the others stands in front; undefined: none is left. @param time of the first, where it stands
 * alone
 */
export function withoutEntries(
  value: LedgerRecord,
  leavesOut: (entry: LedgerEntry) => boolean,
  time: EpochMs,
): LedgerRecord | undefined {
  const [first, ...rest] = entriesOf(value)
    .filter(each => !leavesOut(each))
    .map((each): TimedEntry => ({ ...each, wakeTime: each.wakeTime ?? time }));
  if (first === undefined) return undefined;
  return rest.length === 0
    ? first
    : { ...first, otherEntries: Object.fromEntries(rest.map(each => [each.rule, each])) };
}
