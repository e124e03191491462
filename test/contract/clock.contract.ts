/** What every `Clock` and `LimitClock` does: the machine's, virtual time, and the clock that tests move. */
import { expect, it } from 'vitest';
import { addDuration, minutes, seconds, toDurationMs, type DurationMs } from '../../shared/domain/time.ts';
import type { Clock, LimitClock } from '../../shared/ports/clock.ts';

export interface ClockSubject<Kind extends Clock = Clock> {
  readonly clock: Kind;
  /** Lets time pass, and all happen that is due. */
  pass(duration: DurationMs): Promise<void>;
}

/** Notes how a sleep ends. */
function sleepOf(clock: Clock, duration: DurationMs, signal?: AbortSignal) {
  const ends: unknown[] = [];
  clock.sleep(duration, signal).then(
    () => ends.push('awake'),
    (reason: unknown) => ends.push(reason),
  );
  return ends;
}

/** Defines the suite. */
export function defineClockContract(makeSubject: () => ClockSubject): void {
  it('goes on as time passes', async () => {
    const { clock, pass } = makeSubject();
    const before = clock.now();
    await pass(minutes(7));
    expect(clock.now()).toBe(addDuration(before, minutes(7)));
  });

  it('wakes each sleeper once its time is over, and not before', async () => {
    const { clock, pass } = makeSubject();
    const [short, long] = [sleepOf(clock, seconds(2)), sleepOf(clock, seconds(4), new AbortController().signal)];
    await pass(toDurationMs(1999));
    expect([short, long]).toEqual([[], []]);
    await pass(toDurationMs(1));
    expect([short, long]).toEqual([['awake'], []]);
    await pass(seconds(2));
    expect([short, long]).toEqual([['awake'], ['awake']]);
  });

  it('does not let anybody sleep for no time, or for less', async () => {
    const { clock, pass } = makeSubject();
    const sleeps = [0, -5000].map(duration => sleepOf(clock, toDurationMs(duration)));
    await pass(toDurationMs(0));
    expect(sleeps).toEqual([['awake'], ['awake']]);
  });

  it('ends a sleep with the reason of its signal, at once if that has come before', async () => {
    const { clock, pass } = makeSubject();
    const abort = new AbortController();
    const reason = new Error('enough');
    const sleeping = sleepOf(clock, minutes(1), abort.signal);
    await pass(seconds(30));
    abort.abort(reason);
    const late = sleepOf(clock, minutes(1), abort.signal);
    await pass(toDurationMs(0));
    expect([sleeping, late]).toEqual([[reason], [reason]]);
    await pass(minutes(2));
    expect([sleeping, late]).toEqual([[reason], [reason]]);
  });
}

/** Defines the suite of limits. */
export function defineLimitClockContract(makeSubject: () => ClockSubject<LimitClock>): void {
  it('calls once when a limit is exceeded, and never when it was lifted before', async () => {
    const { clock, pass } = makeSubject();
    const exceeded: string[] = [];
    clock.startLimit(seconds(2), () => exceeded.push('kept'));
    const lifted = clock.startLimit(seconds(2), () => exceeded.push('lifted'));
    await pass(toDurationMs(1999));
    lifted.lift();
    expect(exceeded).toEqual([]);
    await pass(minutes(1));
    expect(exceeded).toEqual(['kept']);
    lifted.lift();
  });
}
