/**
 * The slots of the queue: one for each object and detail-type, in the order in which the objects first arrived. Nothing here waits.
 *
 *   put ─▶ waiting ─take─▶ inFlight ─settle─▶ (gone)
 *             ▲               │
 *             └─ giveBack ────┘   merged under whatever was put in between
 */
import type { EpochMs } from '../shared/domain/time.ts';
import type { PublishInterval } from './publish-interval.ts';
import { keyOfChange, type ObjectChange, sinceOf } from './tracker.ts';

export interface QueuedChange {
  readonly change: ObjectChange;
  /** Number of failed tries to publish it. */
  readonly attempts: number;
}

/** Time at which there is something to take: `now`, at an instant, or never without another change. */
export type Availability =
  { readonly kind: 'now' } | { readonly kind: 'at'; readonly time: EpochMs } | { readonly kind: 'empty' };

interface Slot {
  waiting: ObjectChange | undefined;
  inFlight: ObjectChange | undefined;
  attempts: number;
  notBefore: EpochMs | undefined;
  /**
   * Time at which the waiting change may be taken; undefined: at once. It is kept here, because all slots are looked
   * through at each turn.
   */
  takenFrom: EpochMs | undefined;
}

export interface Slots {
  readonly byKey: Map<string, Slot>;
  /** Without it no change has to wait for the one before. */
  interval: PublishInterval | undefined;
}

export const createSlots = (interval: PublishInterval | undefined): Slots => ({ byKey: new Map(), interval });

/** Answers what became of the change, and whether something may be taken sooner than before. */
export function putChange(
  slots: Slots,
  change: ObjectChange,
): { readonly outcome: 'queued' | 'merged'; readonly isSooner: boolean } {
  const key = keyOfChange(change);
  const slot = slots.byKey.get(key);
  if (slot === undefined) {
    addSlot(slots, key, change);
    return { outcome: 'queued', isSooner: true };
  }
  const { waiting } = slot;
  const before = waiting && slot.takenFrom;
  slot.waiting = waiting === undefined ? change : merge(waiting, change);
  schedule(slots, key, slot);
  const after = slot.takenFrom;
  const isSooner = before === undefined || after === undefined || after < before;
  return { outcome: waiting === undefined ? 'queued' : 'merged', isSooner };
}

/** Up to `limit` changes, oldest first. */
export function takeChanges({ byKey }: Slots, limit: number, now: EpochMs): readonly QueuedChange[] {
  const taken: QueuedChange[] = [];
  for (const slot of byKey.values()) {
    if (taken.length >= limit) break;
    if (slot.waiting === undefined || slot.inFlight !== undefined || (slot.takenFrom ?? now) > now) continue;
    slot.inFlight = slot.waiting;
    slot.waiting = undefined;
    taken.push({ change: slot.inFlight, attempts: slot.attempts });
  }
  return taken;
}

/** The change in flight is done with. Answers whether there was one. */
export function settleChange(slots: Slots, key: string, now: EpochMs): boolean {
  const slot = slots.byKey.get(key);
  if (slot?.inFlight === undefined) return false;
  slots.interval?.spend(key, slot.inFlight, now);
  slots.byKey.delete(key);
  // What arrived meanwhile is a new arrival: it goes to the end.
  if (slot.waiting !== undefined) addSlot(slots, key, slot.waiting);
  return true;
}

/** Puts the change in flight back: in its place, or, with `notBefore`, at the end. */
export function giveBackChange(slots: Slots, key: string, notBefore: EpochMs | undefined): void {
  const slot = slots.byKey.get(key);
  if (slot?.inFlight === undefined) return;
  slot.waiting = slot.waiting === undefined ? slot.inFlight : merge(slot.inFlight, slot.waiting);
  slot.inFlight = undefined;
  slot.attempts += 1;
  slot.notBefore = notBefore;
  schedule(slots, key, slot);
  if (notBefore === undefined) return;
  slots.byKey.delete(key);
  slots.byKey.set(key, slot);
}

/** From now on no change waits for the interval. */
export function liftFloorOf(slots: Slots): void {
  slots.interval = undefined;
  for (const [key, slot] of slots.byKey) schedule(slots, key, slot);
}

export function availabilityOf({ byKey }: Slots, now: EpochMs): Availability {
  let next: EpochMs | undefined;
  for (const { waiting, inFlight, takenFrom } of byKey.values()) {
    if (waiting === undefined || inFlight !== undefined) continue;
    if (takenFrom === undefined || takenFrom <= now) return { kind: 'now' };
    if (next === undefined || takenFrom < next) next = takenFrom;
  }
  return next === undefined ? { kind: 'empty' } : { kind: 'at', time: next };
}

function addSlot(slots: Slots, key: string, waiting: ObjectChange): void {
  const slot: Slot = { waiting, inFlight: undefined, attempts: 0, notBefore: undefined, takenFrom: undefined };
  slots.byKey.set(key, slot);
  schedule(slots, key, slot);
}

/** To be called when the waiting change, its delay or the interval of its object has changed. */
function schedule({ interval }: Slots, key: string, slot: Slot): void {
  const { waiting, notBefore } = slot;
  const allowed = waiting === undefined ? undefined : interval?.earliest(key, waiting);
  slot.takenFrom = notBefore === undefined || (allowed !== undefined && allowed > notBefore) ? allowed : notBefore;
}

const CONDITIONS = 'conditions';

/**
 * Two changes of one object as one: the newer state, and every part that differs from what was last published. Conditions
 * that wait keep the time at which they were seen: by that a reader tells whether their own times can be right.
 * `Added` stays `Added` for a reader that never saw it; `Deleted` wins over everything before it; an object that is there again
 * after `Deleted` (its UID is back, as after a restored backup) is `Added`.
 */
export function merge(older: ObjectChange, newer: ObjectChange): ObjectChange {
  if (newer.change === 'Deleted') return newer;
  const resync = older.resync === true && newer.resync === true ? true : undefined;
  const change = older.change === 'Modified' ? newer.change : 'Added';
  const changed =
    older.change === 'Deleted' ? newer.changed : [...new Set([...older.changed, ...newer.changed])].toSorted();
  return { ...newer, change, changed, resync, ...(older.changed.includes(CONDITIONS) && { since: sinceOf(older) }) };
}
