/**
 * Virtual time: a queue of actions by (time, sequence). Between two actions everything that does not wait for time runs to its
 * end, so what happens at an instant happens at exactly that instant, however many promises lie between cause and effect.
 */
import { addDuration, toDurationMs, toIsoText, type DurationMs, type EpochMs } from '../shared/domain/time.ts';
import type { Scheduler } from '../runtime/scheduler.ts';

export interface VirtualTime extends Scheduler {
  /**
   * Runs everything due up to and including `end`, and leaves the clock there. Rejects with what an action threw, or with
   * `Standstill`. Asks before each action whether it is over before the end; the clock stays where it is then.
   */
  runUntil(end: EpochMs, isOver?: () => boolean): Promise<void>;
}

/** More actions than this at one instant never end; a large cluster has more of them. */
export const MAX_ACTIONS_PER_INSTANT = 200_000;

/** What runs goes round in circles without time going on. */
export class Standstill extends Error {
  constructor(instant: EpochMs, limit: number) {
    super(`more than ${limit} actions at ${toIsoText(instant)}: time stands still`);
    this.name = 'Standstill';
  }
}

interface Entry {
  readonly time: EpochMs;
  /** Decides between entries of one time: the tie-break, then the sequence. */
  readonly rank: number;
  readonly sequence: number;
  action: (() => void) | undefined;
}

export interface VirtualTimeOptions {
  readonly start: EpochMs;
  /** Orders actions of one instant; without it they run as they were scheduled. */
  readonly tieBreak?: () => number;
  /** Default: `MAX_ACTIONS_PER_INSTANT`. */
  readonly maxActionsPerInstant?: number;
}

/** Runs nothing by itself. An instant of the past counts as now; fractions of milliseconds are rounded up. */
export function createVirtualTime({
  start,
  tieBreak,
  maxActionsPerInstant = MAX_ACTIONS_PER_INSTANT,
}: VirtualTimeOptions): VirtualTime {
  let now = start;
  let sequence = 0;
  const heap: Entry[] = [];

  const at = (time: EpochMs, action: () => void): (() => void) => {
    // Delays with jitter have fractions; instants are whole milliseconds.
    const whole = addDuration(time, toDurationMs(Math.ceil(time) - time || 0));
    const entry: Entry = { time: whole < now ? now : whole, rank: tieBreak?.() ?? 0, sequence: sequence++, action };
    push(heap, entry);
    return () => {
      entry.action = undefined;
    };
  };

  /** The next entry up to `end` that was not cancelled. */
  const nextBy = (end: EpochMs): Entry | undefined => {
    for (;;) {
      const next = heap[0];
      if (next === undefined || next.time > end) return undefined;
      if (next.action !== undefined) return next;
      pop(heap);
    }
  };

  const self: VirtualTime = {
    now: () => now,
    at,
    sleep: (duration, signal) => sleepOn(self, duration, signal),
    async runUntil(end, isOver = () => false) {
      let actions = 0;
      await inTurns(() => {
        const next = nextBy(end);
        if (next === undefined) {
          if (end > now) now = end;
          return 'done';
        }
        if (isOver()) return 'done';
        pop(heap);
        actions = next.time === now ? actions + 1 : 0;
        if (actions > maxActionsPerInstant) throw new Standstill(now, maxActionsPerInstant);
        now = next.time;
        const { action } = next;
        next.action = undefined;
        action?.();
        return 'again';
      });
    },
  };
  return self;
}

/** `Clock.sleep` in terms of `at`. */
function sleepOn(scheduler: Scheduler, duration: DurationMs, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    if (signal === undefined) {
      scheduler.at(addDuration(scheduler.now(), duration), resolve);
      return;
    }
    const refuse = (): void => {
      cancel();
      reject(signal.reason);
    };
    const cancel = scheduler.at(addDuration(scheduler.now(), toDurationMs(Math.max(0, duration))), () => {
      signal.removeEventListener('abort', refuse);
      resolve();
    });
    signal.addEventListener('abort', refuse, { once: true });
  });
}

/** Callbacks of one phase of the event loop; between two phases the process asks the system for I/O that nobody waits for. */
const TURNS_PER_PHASE = 64;

/**
 * Calls `turn` again and again, each time (the first, too) after all microtasks have run, also those that microtasks add, until it
 * answers `done`.
 * Nothing here waits for I/O. Rejects with what `turn` throws.
 */
function inTurns(turn: () => 'again' | 'done'): Promise<void> {
  return new Promise((resolve, reject) => {
    let end: (() => void) | undefined;
    const take = (): void => {
      if (end !== undefined) return;
      try {
        if (turn() === 'done') end = resolve;
      } catch (error) {
        end = () => reject(error);
      }
    };
    const phase = (): void => {
      if (end !== undefined) return end();
      for (let index = 0; index < TURNS_PER_PHASE; index++) setImmediate(take);
      setImmediate(phase);
    };
    phase();
  });
}

const isBefore = (a: Entry, b: Entry): boolean =>
  a.time !== b.time ? a.time < b.time : a.rank !== b.rank ? a.rank < b.rank : a.sequence < b.sequence;

function push(heap: Entry[], entry: Entry): void {
  let index = heap.length;
  heap.push(entry);
  while (index > 0) {
    const parentIndex = (index - 1) >> 1;
    const parent = heap[parentIndex];
    if (parent === undefined || !isBefore(entry, parent)) break;
    heap[index] = parent;
    index = parentIndex;
  }
  heap[index] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    let childIndex = 2 * index + 1;
    let child = heap[childIndex];
    if (child === undefined) break;
    const right = heap[childIndex + 1];
    if (right !== undefined && isBefore(right, child)) {
      childIndex += 1;
      child = right;
    }
    if (!isBefore(child, last)) break;
    heap[index] = child;
    index = childIndex;
  }
  heap[index] = last;
}
