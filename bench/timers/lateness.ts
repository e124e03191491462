/** When the owner of each due timer looked, against when it had to. Pure. */
import { durationBetween, type EpochMs } from '../../shared/domain/time.ts';
import type { Timer } from './armed.ts';

export interface LatenessLog {
  /** The owner looked at the object of this name. Looks before its time, and all after the first in time, do not count. */
  looked(name: string, now: EpochMs): void;
  /** Timers whose owner has not looked in time yet. */
  open(): number;
  /** Milliseconds from the due time to the look, for each timer whose owner has looked. */
  lateness(): readonly number[];
}

export function createLatenessLog(timers: readonly Timer[]): LatenessLog {
  const dueTimes = new Map(timers.map(({ name, dueTime }) => [name, dueTime]));
  const late: number[] = [];
  return {
    looked(name, now) {
      const dueTime = dueTimes.get(name);
      if (dueTime === undefined || now < dueTime) return;
      dueTimes.delete(name);
      late.push(durationBetween(dueTime, now));
    },
    open: () => dueTimes.size,
    lateness: () => late,
  };
}
