/**
 * What waits for the bus: at most one slot per object, so that an outage of the bus costs memory by the number of objects and
 * never by the number of events. The latest state of an object wins; slots keep the order in which their objects first arrived.
 *
 *   offer ─▶ waiting ─take─▶ inFlight ─published─▶ (gone)
 *               ▲               │
 *               └─ giveBack ────┘   merged under whatever was offered in between
 *
 * - Q1 nothing is lost: an offered change is published, or merged into a newer one of the same object that is.
 * - Q2 the bound holds: an offer for an object without a slot waits for room. The watch that offers it stops reading, and what
 *   it misses meanwhile is made up for by its resume or relist.
 * - Q3 an object is in at most one batch at a time.
 */
import type { EpochMs } from '../shared/domain/time.ts';
import type { ObjectChange } from './tracker.ts';

export interface QueuedChange {
  readonly change: ObjectChange;
  /** How often it was tried in vain. */
  readonly attempts: number;
}

/** When there is something to take: `now`, at an instant (it is held back until then), or never without another offer. */
export type Availability =
  { readonly kind: 'now' } | { readonly kind: 'at'; readonly time: EpochMs } | { readonly kind: 'empty' };

export interface ChangeQueue {
  /** Queues the change; waits while the queue is full. Resolves to whether it was merged. Rejects when `signal` aborts first. */
  offer(change: ObjectChange, signal: AbortSignal): Promise<'queued' | 'merged'>;
  /** Up to `limit` changes, oldest first. Each must end in `published` or `giveBack`. */
  take(limit: number, now: EpochMs): readonly QueuedChange[];
  published(uid: string): void;
  /**
   * Puts a taken change back: in its place, or, with `notBefore`, at the end and not to be taken before then, so that changes
   * that cannot be published do not stand in the way of those that can.
   */
  giveBack(uid: string, notBefore?: EpochMs): void;
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
}

export function createChangeQueue(objectsMax: number): ChangeQueue {
  const slots = new Map<string, Slot>();
  const room = createGate();
  const arrival = createGate();
  const empty = createGate();

  const isHeldBack = (slot: Slot, now: EpochMs): boolean => slot.notBefore !== undefined && slot.notBefore > now;

  return {
    async offer(change, signal) {
      const { uid } = change.subject;
      signal.throwIfAborted();
      while (!slots.has(uid) && slots.size >= objectsMax) await room.opened(signal);
      const slot = slots.get(uid);
      if (slot === undefined) {
        slots.set(uid, { waiting: change, inFlight: undefined, attempts: 0, notBefore: undefined });
        arrival.open();
        return 'queued';
      }
      const merged = slot.waiting !== undefined;
      slot.waiting = slot.waiting === undefined ? change : merge(slot.waiting, change);
      arrival.open();
      return merged ? 'merged' : 'queued';
    },
    take(limit, now) {
      const taken: QueuedChange[] = [];
      for (const slot of slots.values()) {
        if (taken.length >= limit) break;
        if (slot.waiting === undefined || slot.inFlight !== undefined || isHeldBack(slot, now)) continue;
        slot.inFlight = slot.waiting;
        slot.waiting = undefined;
        taken.push({ change: slot.inFlight, attempts: slot.attempts });
      }
      return taken;
    },
    published(uid) {
      const slot = slots.get(uid);
      if (slot?.inFlight === undefined) return;
      slots.delete(uid);
      // What arrived meanwhile is a new arrival: it goes to the end.
      if (slot.waiting !== undefined) {
        slots.set(uid, { waiting: slot.waiting, inFlight: undefined, attempts: 0, notBefore: undefined });
      }
      room.open();
      if (slots.size === 0) empty.open();
    },
    giveBack(uid, notBefore) {
      const slot = slots.get(uid);
      if (slot?.inFlight === undefined) return;
      slot.waiting = slot.waiting === undefined ? slot.inFlight : merge(slot.inFlight, slot.waiting);
      slot.inFlight = undefined;
      slot.attempts += 1;
      slot.notBefore = notBefore;
      if (notBefore === undefined) return;
      slots.delete(uid);
      slots.set(uid, slot);
    },
    availability(now) {
      let next: EpochMs | undefined;
      for (const slot of slots.values()) {
        if (slot.waiting === undefined || slot.inFlight !== undefined) continue;
        if (slot.notBefore === undefined || slot.notBefore <= now) return { kind: 'now' };
        if (next === undefined || slot.notBefore < next) next = slot.notBefore;
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
  const change = older.change === 'Modified' ? newer.change : 'Added';
  const changed =
    older.change === 'Deleted' ? newer.changed : [...new Set([...older.changed, ...newer.changed])].toSorted();
  return { ...newer, change, changed };
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
