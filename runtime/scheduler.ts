/** When things happen: what `createSystem` needs of time beyond a clock. Real and virtual time each implement it. */
import { addDuration, type DurationMs, type EpochMs } from '../shared/domain/time.ts';
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

/** Runs `action` after each `period`, the first time one period from now, until it is called off. */
export function repeat(scheduler: Scheduler, period: DurationMs, action: () => void): Cancel {
  let next: Cancel;
  const arm = (): void => {
    next = scheduler.at(addDuration(scheduler.now(), period), () => {
      arm();
      action();
    });
  };
  arm();
  return () => next();
}
