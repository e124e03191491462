/**
 * Divides the time of one run. Lambda ends a run that takes longer: the whole batch is then repeated, and the alarm on
 * errors rings. So all calls end before the run does, and a message is begun only while there is time for the longest
 * call.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { INVOKE_TIMEOUT } from '../adapters/aws-errors.ts';
import { REQUEST_TIMEOUT } from '../adapters/kubernetes/transport.ts';
import { seconds, toDurationMs, type DurationMs } from '../domain/time.ts';
import type { LimitClock, TimeLimit } from '../ports/clock.ts';

/** Before the end of the run no call of a message is begun any more, and those under way are cut: what is left is for hiding failed messages. */
export const TIME_TO_HIDE = seconds(3);
/** Before the end of the run the rest of them is left to the inbox's visibility timeout: what is left is for logs, metrics and the answer. */
export const TIME_TO_ANSWER = seconds(1);
/** Time for a run before it calls a hook: a few reads and writes. */
const TIME_BEFORE_HOOK = seconds(5);

/** A message is begun only while this much is left: then a request to the API server, the longest of all but hooks, has all its time. */
export const DEADLINE_RESERVE = toDurationMs(REQUEST_TIMEOUT + TIME_TO_HIDE);
/** The reserve of a function that calls hooks. */
export const DEADLINE_RESERVE_WITH_HOOKS = toDurationMs(TIME_BEFORE_HOOK + INVOKE_TIMEOUT + TIME_TO_HIDE);

/** Aborts when calls must end. Each run has its own: what thaws of an earlier one finds that it has ended. */
const storage = new AsyncLocalStorage<AbortSignal>();

/** The signal that ends the calls of the run at work; undefined outside of a run. */
export const endOfCalls = (): AbortSignal | undefined => storage.getStore();

/** Runs `work`; calls that it makes, now or later, end with `signal`. */
export const endCallsWith = <Result>(signal: AbortSignal, work: () => Result): Result => storage.run(signal, work);

export interface RunLimits extends Disposable {
  /** Ends the calls of messages. */
  readonly messageCalls: AbortSignal;
  /** Ends the calls that follow them. */
  readonly visibilityCalls: AbortSignal;
}

/** @param remaining of the run's time */
export function startRun(clock: LimitClock, remaining: DurationMs): RunLimits {
  const limits: TimeLimit[] = [];
  const endBefore = (reserve: DurationMs): AbortSignal => {
    const controller = new AbortController();
    const remainingTime = toDurationMs(Math.max(0, remaining - reserve));
    limits.push(clock.startLimit(remainingTime, () => controller.abort()));
    return controller.signal;
  };
  return {
    messageCalls: endBefore(TIME_TO_HIDE),
    visibilityCalls: endBefore(TIME_TO_ANSWER),
    [Symbol.dispose]: () => limits.forEach(limit => limit.lift()),
  };
}
