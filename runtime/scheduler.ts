/** When things happen: what `createSystem` needs of time beyond a clock. Real and virtual time each implement it. */
import type { EpochMs } from '../shared/domain/time.ts';
import type { Clock } from '../shared/ports/clock.ts';

export interface Scheduler extends Clock {
  /**
   * Runs `action` at `time`, or as soon as possible when that has passed; never before this call returns. Actions of one instant
   * run in the order in which they were scheduled. Answers how to call it off.
   */
  at(time: EpochMs, action: () => void): Cancel;
}

/** Calls an action off; does nothing once it has run. */
export type Cancel = () => void;
