/**
 * One record together with its timer, as every concern keeps it. Each call is one conditional write whose outcome is looked at.
 *
 * - T1 Every record has a timer, so that its owner comes back whatever happens.
 * - T2 A record is unchanged when its value is equal, nobody is closing it, and its timer is armed no later than wanted. Only then is
 *   the write left out.
 * - T3 No run deletes a record that another run found needed. Closing takes two turns: mark the record, look again, delete exactly the
 *   marked version. Who needs a marked record writes it (T2), and the deletion loses. A run may have read the record before the mark.
 *   Any change that it saw happened before the mark, so the second look sees it, too.
 * - T4 A run that moves a timer later observes again: another run may have relied on the earlier timer and written nothing. The
 *   timer corrects a stale value; nothing corrects a timer that was moved by mistake. This does not hold for a timer that is due:
 *   each run that finds one writes (T2).
 * - T5 A record of a newer version is kept and left alone: after a rollback nothing of it is lost.
 *
 * ```
 *   none ──save──▶ armed ──save (value or timer differs)──▶ armed
 *                   │  ▲
 *            release│  │save
 *                   ▼  │
 *                  closing ──release, next turn──▶ none
 * ```
 */
import { isDeepStrictEqual } from 'node:util';
import type { FunctionName } from '../contract/names.ts';
import type { Subject } from '../contract/subject.ts';
import { MAX_DELAY_SECONDS } from '../contract/wake-up.ts';
import { RUN_ENDS_WITHIN } from '../domain/run-end.ts';
import {
  addDuration,
  comesInTime,
  durationBetween,
  isAhead,
  isDue,
  seconds,
  toDurationMs,
  type EpochMs,
} from '../domain/time.ts';
import { invariant } from '../domain/invariant.ts';
import { type RetryableError } from '../errors.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import type { NewRecord, RecordKey, StoredRecord } from '../ports/record-store.ts';
import { CLOSING, throwIfNewer, readRecord, type LoadedRecord, type RecordCodec } from './record-codec.ts';
import { anotherTurn, DONE, settle, type Turn } from './settle.ts';

export interface RecordToSave<Value> {
  readonly subject: Subject;
  readonly value: Value;
  readonly wakeTime: EpochMs;
  /** The timer has a message of its own, if it is near; false: the minute sweep hands it over. Default true. */
  readonly hasOwnMessage?: boolean;
  /** Thrown once the record is written, so that the queue brings this message again. No wake-up is sent then: two messages would each bring the next run. */
  readonly redeliveryError?: RetryableError | undefined;
}

/** `written`: value and timer are in the store as this run wanted them, whether or not it must look again. */
export type SaveOutcome = Turn & { readonly written: boolean };

/** Ends a run whose write has succeeded. Another turn because of a timer that was put off would undo the write. */
export const doneIfWritten = (saved: SaveOutcome): Turn => (saved.written ? DONE : saved);

/** One record as one run sees it. One per run; remembers what this run read and marked. */
export interface TimedRecord<Value> {
  readonly key: RecordKey;
  /**
   * True when the sweep's wake-up in hand was sent for a timer that has moved on since: the owner's own wake-up was here first.
   * Asked once, before the first turn.
   */
  isWakeUpSuperseded(): Promise<boolean>;
  /** Reads it. Every turn begins with this. */
  load(): Promise<LoadedRecord<Value>>;
  /** Writes value and timer in one, unless they are unchanged (T2). `again`: another run wrote first, or a timer was put off (T4). */
  save(wanted: RecordToSave<Value>): Promise<SaveOutcome>;
  /** Closes it in two turns (T3); `done` when there is none. The loop has to look again after each `again`. */
  release(): Promise<Turn>;
  /** Deletes it at once: its subject is gone, or only one run at a time writes it. */
  closeNow(): Promise<Turn>;
}

type Deps = Pick<FunctionDeps, 'records' | 'wakeUps' | 'clock'>;

/** The wake-up that brought a run here. */
export interface UsedWakeUp {
  readonly wakeTime: EpochMs;
  /** Sent by the sweep. */
  readonly repeated?: boolean | undefined;
}

/** The records of one run, each opened once. */
export function openRecords<Value>(
  deps: Deps,
  codec: RecordCodec<Value>,
  wakeUp?: UsedWakeUp,
): (id: string) => TimedRecord<Value> {
  const open = new Map<string, TimedRecord<Value>>();
  return id => {
    const timedRecord = open.get(id) ?? openRecord(deps, codec, id, wakeUp);
    open.set(id, timedRecord);
    return timedRecord;
  };
}

/** @param wakeUp the wake-up in hand, if one of this subject brought us here */
export function openRecord<Value>(
  deps: Deps,
  codec: RecordCodec<Value>,
  id: string,
  wakeUp?: UsedWakeUp,
): TimedRecord<Value> {
  const key: RecordKey = { owner: codec.owner, id };
  const lostRace = anotherTurn(`another run wrote ${id} first`);
  let loaded: LoadedRecord<Value> = { kind: 'none' };
  let markedVersion: number | undefined;

  const put = async (record: NewRecord): Promise<StoredRecord | undefined> => {
    invariant(loaded.kind !== 'newer', LEFT_ALONE);
    const outcome = await deps.records.put(record, loaded.kind === 'known' ? loaded.stored.version : 0);
    return outcome.kind === 'written' ? outcome.record : undefined;
  };

  return {
    key,

    async isWakeUpSuperseded() {
      return wakeUp?.repeated === true && (await deps.records.get(key))?.nextWakeTime !== wakeUp.wakeTime;
    },

    async load() {
      loaded = readRecord(codec, await deps.records.get(key));
      return loaded;
    },

    async save(wanted) {
      const { subject, value, wakeTime, redeliveryError } = wanted;
      const now = deps.clock.now();
      const nextWakeUp = { owner: codec.owner, subject, wakeTime };
      const earlier = loaded.kind === 'known' ? loaded.stored : undefined;
      const isArmed = earlier !== undefined && isArmedInTime(earlier, wakeTime, now);
      if (isArmed && loaded.kind === 'known' && isDeepStrictEqual(loaded.value, value)) {
        if (redeliveryError !== undefined) throw redeliveryError;
        // This wake-up came early and was the timer's only message, so send another. Messages of other timers are still on their way.
        const armed = earlier.nextWakeTime;
        if (armed !== undefined && armed === wakeUp?.wakeTime) {
          await send(deps, { ...nextWakeUp, wakeTime: armed }, now);
        }
        return { ...DONE, written: true };
      }
      const hasOwnMessage = wanted.hasOwnMessage !== false && redeliveryError === undefined && isNear(now, wakeTime);
      const state = { schemaVersion: codec.schemaVersion, ...codec.toState(value) };
      const stored = await put({
        ...key,
        subject,
        state,
        nextWakeTime: wakeTime,
        ...(hasOwnMessage && { hasOwnMessage }),
      });
      if (stored === undefined) return { ...lostRace, written: false };
      if (redeliveryError !== undefined) throw redeliveryError;
      loaded = { kind: 'known', value, stored };
      const wasSent = earlier !== undefined && isMessageSent(earlier, wakeTime, now);
      const isOnItsWay = wasSent && wakeUp?.wakeTime !== wakeTime;
      if (hasOwnMessage && !isOnItsWay) await send(deps, nextWakeUp, now);
      const wasPutOff = earlier !== undefined && isPutOff(earlier, wakeTime, now);
      return { ...(wasPutOff ? anotherTurn(`the timer of ${id} was put off`) : DONE), written: true };
    },

    async release() {
      if (loaded.kind !== 'known') return DONE;
      const { stored, value } = loaded;
      if (markedVersion !== undefined && stored.version === markedVersion) {
        const outcome = await deps.records.delete(key, stored.version);
        return outcome.kind === 'deleted' ? DONE : anotherTurn(`another run needs ${id}`);
      }
      const nextWakeTime = addDuration(deps.clock.now(), RUN_ENDS_WITHIN);
      const state = { ...stored.state, [CLOSING]: true };
      const marked = await put({ ...key, subject: stored.subject, state, nextWakeTime });
      if (marked === undefined) return lostRace;
      loaded = { kind: 'known', value, stored: marked };
      markedVersion = marked.version;
      return anotherTurn(`${id} is about to be closed`);
    },

    async closeNow() {
      if (loaded.kind === 'none') return DONE;
      invariant(loaded.kind !== 'newer', LEFT_ALONE);
      const outcome = await deps.records.delete(key, loaded.stored.version);
      return outcome.kind === 'deleted' ? DONE : lostRace;
    },
  };
}

const LEFT_ALONE = 'T5: a record of a newer version is left alone';

/**
 * Whether the wake-up belongs to the timer in the record, or that timer is due. For runs that set the timer each time: a wake-up of an earlier
 * setting would start a second chain of runs, which never ends. Other runs ask `isWakeUpSuperseded`.
 */
export function isTimerOf(loaded: LoadedRecord<unknown>, { wakeTime }: UsedWakeUp, now: EpochMs): boolean {
  const armed = loaded.kind === 'known' ? loaded.stored.nextWakeTime : undefined;
  return armed !== undefined && (armed === wakeTime || isDue(now, armed));
}

/** The record for a message that nobody repeats: `load` throws `NewerRecord` (`throwIfNewer`). @param what it is about */
export const refusingNewer = <Value>(timedRecord: TimedRecord<Value>, what: string): TimedRecord<Value> => ({
  ...timedRecord,
  load: async () => throwIfNewer(await timedRecord.load(), what),
});

/** Changes a record alone: `change` is asked again after a lost race, and not about a record of a newer version (T5). */
export function updateRecord<Value>(
  what: string,
  timedRecord: TimedRecord<Value>,
  change: (loaded: Exclude<LoadedRecord<Value>, { kind: 'newer' }>) => Promise<Turn>,
): Promise<void> {
  return settle<LoadedRecord<Value>, LoadedRecord<Value>>({
    what,
    observe: async () => ({ kind: 'here', observation: await timedRecord.load() }),
    decide: loaded => loaded,
    apply: async loaded => (loaded.kind === 'newer' ? DONE : change(loaded)),
  });
}

async function send(
  { wakeUps }: Pick<Deps, 'wakeUps'>,
  wakeUp: { owner: FunctionName; subject: Subject; wakeTime: EpochMs },
  now: EpochMs,
): Promise<void> {
  if (isNear(now, wakeUp.wakeTime)) await wakeUps.send([{ wakeUp, delay: delayUntil(now, wakeUp.wakeTime) }]);
}

/** Whether the timer is armed no later than wanted, and nobody is closing the record (T2). */
function isArmedInTime(stored: StoredRecord, wakeTime: EpochMs, now: EpochMs): boolean {
  return stored.state[CLOSING] === undefined && comesInTime(stored.nextWakeTime, wakeTime, now);
}

/** Whether a timer that another run may rely on is replaced by a later one. One that is due has brought its run here. */
function isPutOff(stored: StoredRecord, wakeTime: EpochMs, now: EpochMs): boolean {
  const { nextWakeTime, state } = stored;
  if (state[CLOSING] !== undefined || nextWakeTime === undefined) return false;
  return isAhead(now, nextWakeTime) && nextWakeTime < wakeTime;
}

/** Whether a message for this very timer was sent with an earlier write: a second one would double every run that follows. */
function isMessageSent({ nextWakeTime, hasOwnMessage, state }: StoredRecord, wakeTime: EpochMs, now: EpochMs): boolean {
  return state[CLOSING] === undefined && hasOwnMessage === true && nextWakeTime === wakeTime && isAhead(now, wakeTime);
}

/** None for a time that is over. */
const delayUntil = (now: EpochMs, wakeTime: EpochMs) => toDurationMs(Math.max(0, durationBetween(now, wakeTime)));

/** Whether SQS can carry the delay; further timers are the minute sweep's. */
const isNear = (now: EpochMs, wakeTime: EpochMs): boolean => delayUntil(now, wakeTime) <= seconds(MAX_DELAY_SECONDS);
