import { afterEach, describe, vi } from 'vitest';
import { createRealScheduler } from '../../runtime/real-scheduler.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { addDuration, type DurationMs } from '../../shared/domain/time.ts';
import { createVirtualTime } from '../../simulator/virtual-time.ts';
import { createManualClock, MANUAL_CLOCK_START } from '../fakes/manual-clock.ts';
import { defineClockContract, defineLimitClockContract } from './clock.contract.ts';

afterEach(() => void vi.useRealTimers());

/** Lets the time of the machine pass: its timers alone are in the hand of the test. */
async function passOfMachine(duration: DurationMs): Promise<void> {
  await vi.advanceTimersByTimeAsync(duration);
}
function takeTimers(): void {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
}

describe('the clock of the machine', () => {
  const subject = () => {
    takeTimers();
    return { clock: systemClock, pass: passOfMachine };
  };
  defineClockContract(subject);
  defineLimitClockContract(subject);
});

describe('real time of the runtime', () => {
  defineClockContract(() => {
    takeTimers();
    return { clock: createRealScheduler(), pass: passOfMachine };
  });
});

describe('virtual time', () => {
  defineClockContract(() => {
    const clock = createVirtualTime({ start: MANUAL_CLOCK_START });
    return { clock, pass: duration => clock.runUntil(addDuration(clock.now(), duration)) };
  });
});

describe('the clock that tests move', () => {
  const subject = () => {
    const clock = createManualClock();
    return { clock, pass: (duration: DurationMs) => clock.advance(duration) };
  };
  defineClockContract(subject);
  defineLimitClockContract(subject);
});
