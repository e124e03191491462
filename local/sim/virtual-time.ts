/**
 * Virtual time: a queue of actions by (time, sequence). Between two actions everything that does not wait for time runs to its
 * end, so what happens at an instant happens at exactly that instant, however many promises lie between cause and effect.
 */
import { addDuration, toDurationMs, type DurationMs, type EpochMs } from '../../shared/domain/time.ts';
import type { Scheduler } from '../scheduler.ts';

export interface VirtualTime extends Scheduler {
  /** Runs everything due up to and including `end`, and leaves the clock there. Rejects with what an action threw. */
  runUntil(end: EpochMs): Promise<void>;
  /** Called between two actions, when everything has settled. What it throws ends the run. */
  onSettled: (() => void) | undefined;
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
}

export function createVirtualTime({ start, tieBreak }: VirtualTimeOptions): VirtualTime {
  let now = start;
  let sequence = 0;
  const heap: Entry[] = [];

  const at = (time: EpochMs, action: () => void): (() => void) => {
    const entry: Entry = { time: time < now ? now : time, rank: tieBreak?.() ?? 0, sequence: sequence++, action };
    push(heap, entry);
    return () => {
      entry.action = undefined;
    };
  };

  const self: VirtualTime = {
    now: () => now,
    at,
    onSettled: undefined,
    sleep: (duration, signal) => sleepOn(self, duration, signal),
    async runUntil(end) {
      await settle();
      for (;;) {
        const next = heap[0];
        if (next === undefined || next.time > end) break;
        pop(heap);
        const { action } = next;
        if (action === undefined) continue;
        now = next.time;
        next.action = undefined;
        action();
        await settle();
        self.onSettled?.();
      }
      if (end > now) now = end;
    },
  };
  return self;
}

/** `Clock.sleep` in terms of `at`. */
export function sleepOn(scheduler: Scheduler, duration: DurationMs, signal?: AbortSignal): Promise<void> {
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

/** One turn of the event loop: all microtasks run, also those that microtasks add. Nothing here waits for I/O. */
const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

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
