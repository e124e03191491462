/**
 * What waits for the bus: at most one slot per object and detail-type, so that an outage of the bus costs memory by the number of objects and
 * never by the number of events. The latest state of an object wins; slots keep the order in which their objects first arrived.
 *
 *   offer ─▶ waiting ─take─▶ inFlight ─published─▶ (gone)
 *               ▲               │
 *               └─ giveBack ────┘   merged under whatever was offered in between
 *
 * - Q1 nothing is lost: an offered change is published, or merged into a newer one of the same object that is.
 * - Q2 the bound holds: an offer for an object without a slot waits for room. The watch that offers it stops reading, and what
 *   it misses meanwhile comes with its resume or relist.
 * - Q3 an object is in at most one batch at a time.
 */
import type { EpochMs } from '../shared/domain/time.ts';
import type { PublishFloor } from './publish-floor.ts';
import { keyOfChange, type ObjectChange } from './tracker.ts';

export interface QueuedChange {
  readonly change: ObjectChange;
  /** How often publishing it failed. */
  readonly attempts: number;
}

/** A queued change; `key` names its slot. */
export const keyOf = ({ change }: QueuedChange): string => keyOfChange(change);

/** When there is something to take: `now`, at an instant (it is held back until then), or never without another offer. */
export type Availability =
  { readonly kind: 'now' } | { readonly kind: 'at'; readonly time: EpochMs } | { readonly kind: 'empty' };

export interface ChangeQueue {
  /** Queues the change; waits while the queue is full. Resolves to whether it was merged. Rejects when `signal` aborts first. */
  offer(change: ObjectChange, signal: AbortSignal): Promise<'queued' | 'merged'>;
  /** Up to `limit` changes, oldest first. Each must end in `published` or `giveBack`. */
  take(limit: number, now: EpochMs): readonly QueuedChange[];
  published(key: string, now: EpochMs): void;
  /**
   * Puts a taken change back: in its place, or, with `notBefore`, at the end and not to be taken before then, so that changes
   * that cannot be published do not stand in the way of those that can.
   */
  giveBack(key: string, notBefore?: EpochMs): void;
  /** From now on nothing is held back by the floor: the forwarder stops. */
  liftFloor(): void;
  availability(now: EpochMs): Availability;
  /** Resolves at the next offer. Rejects when `signal` aborts first. */
  offered(signal: AbortSignal): Promise<void>;
  /** Resolves when nothing waits or is in flight any more. Rejects when `signal` aborts first. */
  emptied(signal: AbortSignal): Promise<void>;
  /** Number of objects that wait or are in flight. */
  depth(): number;
}

interface Slot {
  waiting: ObjectChange | undefined;
  inFlight: ObjectChange | undefined;
  attempts: number;
  notBefore: EpochMs | undefined;
  /** When the waiting change may be taken; undefined for at once. Kept, because all slots are looked through at each turn. */
  heldUntil: EpochMs | undefined;
}

/**
 * @param objectsMax slots; an offer for one more waits (Q2)
 * @param publishFloor without it nothing is held back
 */
export function createChangeQueue(objectsMax: number, publishFloor?: PublishFloor): ChangeQueue {
  const slots = new Map<string, Slot>();
  const room = createGate();
  const arrival = createGate();
  const empty = createGate();

  let floor = publishFloor;

  /** To be called when the waiting change, its delay or the floor of its object has changed. */
  function hold(key: string, slot: Slot): void {
    const { waiting, notBefore } = slot;
    const earliest = waiting === undefined ? undefined : floor?.earliest(key, waiting);
    slot.heldUntil =
      notBefore === undefined || earliest === undefined
        ? (notBefore ?? earliest)
        : notBefore > earliest
          ? notBefore
          : earliest;
  }
  function addSlot(key: string, waiting: ObjectChange): void {
    const slot: Slot = { waiting, inFlight: undefined, attempts: 0, notBefore: undefined, heldUntil: undefined };
    slots.set(key, slot);
    hold(key, slot);
  }

  return {
    async offer(change, signal) {
      const key = keyOfChange(change);
      signal.throwIfAborted();
      while (!slots.has(key) && slots.size >= objectsMax) await room.opened(signal);
      const slot = slots.get(key);
      if (slot === undefined) {
        addSlot(key, change);
        arrival.open();
        return 'queued';
      }
      const { waiting } = slot;
      const before = waiting && slot.heldUntil;
      slot.waiting = waiting === undefined ? change : merge(waiting, change);
      hold(key, slot);
      // The waiting publisher knows of a change that is held back, unless the change may go sooner now.
      const after = slot.heldUntil;
      if (before === undefined || after === undefined || after < before) arrival.open();
      return waiting === undefined ? 'queued' : 'merged';
    },
    take(limit, now) {
      const taken: QueuedChange[] = [];
      for (const slot of slots.values()) {
        if (taken.length >= limit) break;
        if (slot.waiting === undefined || slot.inFlight !== undefined || (slot.heldUntil ?? now) > now) continue;
        slot.inFlight = slot.waiting;
        slot.waiting = undefined;
        taken.push({ change: slot.inFlight, attempts: slot.attempts });
      }
      return taken;
    },
    published(key, now) {
      const slot = slots.get(key);
      if (slot?.inFlight === undefined) return;
      floor?.spend(key, slot.inFlight, now);
      slots.delete(key);
      // What arrived meanwhile is a new arrival: it goes to the end.
      if (slot.waiting !== undefined) {
        addSlot(key, slot.waiting);
      }
      room.open();
      if (slots.size === 0) empty.open();
    },
    giveBack(key, notBefore) {
      const slot = slots.get(key);
      if (slot?.inFlight === undefined) return;
      slot.waiting = slot.waiting === undefined ? slot.inFlight : merge(slot.inFlight, slot.waiting);
      slot.inFlight = undefined;
      slot.attempts += 1;
      slot.notBefore = notBefore;
      hold(key, slot);
      if (notBefore === undefined) return;
      slots.delete(key);
      slots.set(key, slot);
    },
    liftFloor() {
      floor = undefined;
      for (const [key, slot] of slots) hold(key, slot);
      arrival.open();
    },
    availability(now) {
      let next: EpochMs | undefined;
      for (const slot of slots.values()) {
        if (slot.waiting === undefined || slot.inFlight !== undefined) continue;
        const time = slot.heldUntil;
        if (time === undefined || time <= now) return { kind: 'now' };
        if (next === undefined || time < next) next = time;
      }
      return next === undefined ? { kind: 'empty' } : { kind: 'at', time: next };
    },
    offered: signal => arrival.opened(signal),
    async emptied(signal) {
      while (slots.size > 0) await empty.opened(signal);
    },
    depth: () => slots.size,
  };
}

/**
 * Two changes of one object as one: the newer state, and every part that differs from what was last published.
 * `Added` stays `Added` for a reader that never saw it; `Deleted` wins over everything before it; an object that is there again
 * after `Deleted` (its UID is back, as after a restored backup) is `Added`.
 */
export function merge(older: ObjectChange, newer: ObjectChange): ObjectChange {
  if (newer.change === 'Deleted') return newer;
  const resync = older.resync === true && newer.resync === true ? true : undefined;
  const change = older.change === 'Modified' ? newer.change : 'Added';
  const changed =
    older.change === 'Deleted' ? newer.changed : [...new Set([...older.changed, ...newer.changed])].toSorted();
  return { ...newer, change, changed, resync };
}

/** Lets everybody pass who waits at the moment it is opened. */
function createGate(): { opened(signal: AbortSignal): Promise<void>; open(): void } {
  const waiting = new Set<() => void>();
  return {
    opened(signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const pass = (): void => {
          waiting.delete(pass);
          signal.removeEventListener('abort', refuse);
          resolve();
        };
        const refuse = (): void => {
          waiting.delete(pass);
          reject(signal.reason);
        };
        waiting.add(pass);
        signal.addEventListener('abort', refuse, { once: true });
      });
    },
    open() {
      for (const pass of waiting) pass();
    },
  };
}
