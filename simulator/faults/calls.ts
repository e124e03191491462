/**
 * Faults of a port's calls: refused, failed, unanswered, slow, and crashes of the caller between any two effects. A caller that has
 * crashed is never answered; its call may still take effect some seconds later.
 */
import { addDuration, seconds } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import { aroundCalls, type PortMethodCall } from '../../runtime/around-calls.ts';
import { never, type Lifetime } from '../../runtime/lifetime.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import type { FaultInjector } from './injector.ts';
import { CALL_FAULTS, type CallFault } from './mix.ts';

export interface FaultContext {
  readonly injector: FaultInjector;
  readonly scheduler: Scheduler;
  /** Of the process that calls. */
  readonly lifetime: Lifetime;
  /** What may happen to a call; default: everything. */
  readonly callFaults?: readonly CallFault[];
}

export interface PortFaults {
  /** For messages: `api`, `store`, … */
  readonly name: string;
  /** Methods that change something. */
  readonly writes: readonly string[];
  /** What a method answers when the other side reports a conflict; undefined where it cannot. */
  readonly conflict?: (method: string) => unknown;
}

const LONGEST_LATENCY = seconds(2);
/** How long a request may be under way after its sender died. */
const LONGEST_FLIGHT = seconds(10);

/** The port with faults. All its methods must return promises. */
export function withFaults<Port extends object>(port: Port, faults: PortFaults, context: FaultContext): Port {
  return aroundCalls(port, call => (context.injector.active ? callWithFaults(call, faults, context) : call.proceed()));
}

async function callWithFaults(
  { method, proceed }: PortMethodCall,
  { name, writes, conflict }: PortFaults,
  { injector, scheduler, lifetime, callFaults = CALL_FAULTS }: FaultContext,
): Promise<unknown> {
  const perform = async (): Promise<unknown> => await proceed();
  const latency = (): Promise<void> => scheduler.sleep(injector.delay(LONGEST_LATENCY));
  const fault = injector.oneOf(callFaults);
  if (injector.happens('latency')) await latency();
  // The time-out of the function may have ended it meanwhile.
  if (!lifetime.alive) return await never();
  const isWrite = writes.includes(method);
  const fail = (reason: string, outcomeUnknown: boolean): never => {
    throw injectedError(`${name} ${method}: ${reason} (injected)`, reason, outcomeUnknown && isWrite);
  };
  switch (fault) {
    case 'throttled':
      return fail('TooManyRequests', false);
    case 'serverError':
      return fail('Status503', true);
    case 'timeout':
      return fail('Timeout', true);
    case 'conflict': {
      const answer = conflict?.(method);
      if (answer !== undefined) return answer;
      break;
    }
    case 'crashBefore':
      lifetime.end();
      return await never();
    case 'crashInFlight':
      lifetime.end();
      scheduler.at(addDuration(scheduler.now(), injector.delay(LONGEST_FLIGHT)), () => {
        perform().catch(() => undefined);
      });
      return await never();
    case 'crashAfter':
      await perform().catch(() => undefined);
      lifetime.end();
      return await never();
    case 'lostResponse':
      await perform();
      return fail('ECONNRESET', true);
    case undefined:
      break;
  }
  const answer = await perform();
  if (injector.happens('latency')) await latency();
  return answer;
}

/** Without a stack: there are many, and nobody looks for where they come from. */
function injectedError(message: string, reason: string, outcomeUnknown: boolean): RetryableError {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = new RetryableError(message, { reason, outcomeUnknown });
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}
