/**
 * The entries of the queue: one for each object and detail-type, in the order in which the objects first arrived. Nothing here waits.
 *
 *   put ─▶ waiting ─take─▶ inFlight ─settle─▶ (gone)
 *             ▲               │
 *             └─ giveBack ────┘   merged under whatever was put in between
 */
import type { EpochMs } from '../shared/domain/time.ts';
import type { PublishInterval } from './publish-interval.ts';
import { keyOfChange, type ObjectChange, earliestTimeOf } from './tracker.ts';

export interface QueuedChange {
  readonly change: ObjectChange;
  /** Number of failed tries to publish it. */
  readonly attempts: number;
}

/** Time at which there is something to take: `now`, at an instant, or never without another change. */
export type Availability =
  { readonly kind: 'now' } | { readonly kind: 'at'; readonly time: EpochMs } | { readonly kind: 'empty' };

interface QueueEntry {
  waiting: ObjectChange | undefined;
  inFlight: ObjectChange | undefined;
  attempts: number;
  notBefore: EpochMs | undefined;
  /**
   * Time at which the waiting change may be taken; undefined: at once. It is kept here, because all entries are looked
   * through at each turn.
   */
  takenFrom: EpochMs | undefined;
}

export interface QueueEntries {
  readonly byKey: Map<string, QueueEntry>;
  /** Without it no change has to wait for the one before. */
  interval: PublishInterval | undefined;
}

export const createQueueEntries = (interval: PublishInterval | undefined): QueueEntries => ({
  byKey: new Map(),
  interval,
});

/** Answers what became of the change, and whether something may be taken sooner than before. */
export function putChange(
  entries: QueueEntries,
  change: ObjectChange,
): { readonly outcome: 'queued' | 'merged'; readonly isSooner: boolean } {
  const key = keyOfChange(change);
  const entry = entries.byKey.get(key);
  if (entry === undefined) {
    addEntry(entries, key, change);
    return { outcome: 'queued', isSooner: true };
  }
  const { waiting } = entry;
  const before = waiting && entry.takenFrom;
  entry.waiting = waiting === undefined ? change : merge(waiting, change);
  schedule(entries, key, entry);
  const after = entry.takenFrom;
  const isSooner = before === undefined || after === undefined || after < before;
  return { outcome: waiting === undefined ? 'queued' : 'merged', isSooner };
}

/** Up to `limit` changes, oldest first. */
export function takeChanges({ byKey }: QueueEntries, limit: number, now: EpochMs): readonly QueuedChange[] {
  const taken: QueuedChange[] = [];
  for (const entry of byKey.values()) {
    if (taken.length >= limit) break;
    if (entry.waiting === undefined || entry.inFlight !== undefined || (entry.takenFrom ?? now) > now) continue;
    entry.inFlight = entry.waiting;
    entry.waiting = undefined;
    taken.push({ change: entry.inFlight, attempts: entry.attempts });
  }
  return taken;
}

/** The change in flight is done with. Answers whether there was one. */
export function settleChange(entries: QueueEntries, key: string, now: EpochMs): boolean {
  const entry = entries.byKey.get(key);
  if (entry?.inFlight === undefined) return false;
  entries.interval?.spend(key, entry.inFlight, now);
  entries.byKey.delete(key);
  // What arrived meanwhile is a new arrival: it goes to the end.
  if (entry.waiting !== undefined) addEntry(entries, key, entry.waiting);
  return true;
}

/** Puts the change in flight back: in its place, or, with `notBefore`, at the end. */
export function giveBackChange(entries: QueueEntries, key: string, notBefore: EpochMs | undefined): void {
  const entry = entries.byKey.get(key);
  if (entry?.inFlight === undefined) return;
  entry.waiting = entry.waiting === undefined ? entry.inFlight : merge(entry.inFlight, entry.waiting);
  entry.inFlight = undefined;
  entry.attempts += 1;
  entry.notBefore = notBefore;
  schedule(entries, key, entry);
  if (notBefore === undefined) return;
  entries.byKey.delete(key);
  entries.byKey.set(key, entry);
}

/** From now on no change waits for the interval. */
export function dropPublishInterval(entries: QueueEntries): void {
  entries.interval = undefined;
  for (const [key, entry] of entries.byKey) schedule(entries, key, entry);
}

export function availabilityOf({ byKey }: QueueEntries, now: EpochMs): Availability {
  let next: EpochMs | undefined;
  for (const { waiting, inFlight, takenFrom } of byKey.values()) {
    if (waiting === undefined || inFlight !== undefined) continue;
    if (takenFrom === undefined || takenFrom <= now) return { kind: 'now' };
    if (next === undefined || takenFrom < next) next = takenFrom;
  }
  return next === undefined ? { kind: 'empty' } : { kind: 'at', time: next };
}

function addEntry(entries: QueueEntries, key: string, waiting: ObjectChange): void {
  const entry: QueueEntry = { waiting, inFlight: undefined, attempts: 0, notBefore: undefined, takenFrom: undefined };
  entries.byKey.set(key, entry);
  schedule(entries, key, entry);
}

/** To be called when the waiting change, its delay or the interval of its object has changed. */
function schedule({ interval }: QueueEntries, key: string, entry: QueueEntry): void {
  const { waiting, notBefore } = entry;
  const allowed = waiting === undefined ? undefined : interval?.earliest(key, waiting);
  entry.takenFrom = notBefore === undefined || (allowed !== undefined && allowed > notBefore) ? allowed : notBefore;
}

const CONDITIONS = 'conditions';

/**
 * Two changes of one object as one: the newer state, and every part that differs from what was last published. Conditions
 * that wait keep the time at which they were seen: by that a reader tells whether their own times can be right.
 * A change that meets a repeat is about everything, too: the repeat comes for those who missed something else.
 * `Added` stays `Added` for a reader that never saw it; `Deleted` wins over everything before it; an object that is there again
 * after `Deleted` (its UID is back, as after a restored backup) is `Added`.
 */
export function merge(older: ObjectChange, newer: ObjectChange): ObjectChange {
  if (newer.change === 'Deleted') return newer;
  const change = older.change === 'Modified' ? newer.change : 'Added';
  const repeats = [older, newer].filter(each => each.resync === true).length;
  const resync = repeats === 2 || (repeats === 1 && change === 'Modified') ? true : undefined;
  const changed =
    older.change === 'Deleted' ? newer.changed : [...new Set([...older.changed, ...newer.changed])].toSorted();
  return {
    ...newer,
    change,
    changed,
    resync,
    ...(older.changed.includes(CONDITIONS) && { since: earliestTimeOf(older) }),
  };
}
