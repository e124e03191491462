/** I5: no record waits past its time. A timer that was lost would never be heard of again. */
import { toIsoText, type EpochMs } from '../../shared/domain/time.ts';
import { LONGEST_DELAY, type MakeCheck } from './invariant.ts';

export const checkTimers: MakeCheck = ({ now, quietSince, violate }) => {
  const wakeTimes = new Map<string, EpochMs>();
  return {
    onRecord(key, record) {
      const nextWakeTime = record?.nextWakeTime;
      if (nextWakeTime === undefined) wakeTimes.delete(key);
      else wakeTimes.set(key, nextWakeTime);
    },
    onMinute() {
      const quiet = quietSince();
      if (quiet === undefined || now() - quiet <= LONGEST_DELAY) return;
      for (const [key, time] of wakeTimes) {
        if (now() - time <= LONGEST_DELAY) continue;
        violate('I5', `record ${key} should have been woken at ${toIsoText(time)}`);
        wakeTimes.delete(key);
      }
    },
  };
};
