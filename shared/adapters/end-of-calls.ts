/** Ends calls early when the time of their run is over. */
import type { HttpHandlerOptions } from '@smithy/types';
import { OUT_OF_TIME } from '../errors.ts';

/** Asked as each call begins for the signal that ends it; undefined: there is no limit. */
export type EndOfCalls = () => AbortSignal | undefined;

/** A call that was cut, or not begun, for want of time. */
export const outOfTime = (): Error => Object.assign(new Error('too little time is left'), { code: OUT_OF_TIME });

interface Client {
  readonly config: {
    readonly requestHandler: { handle(request: never, options?: HttpHandlerOptions): Promise<unknown> };
  };
  readonly middlewareStack: {
    add(
      middleware: <Input extends object, Output extends object>(
        next: (args: { input: Input; request?: unknown }) => Promise<{ output: Output; response: unknown }>,
      ) => (args: { input: Input; request?: unknown }) => Promise<{ output: Output; response: unknown }>,
      options: { step: 'initialize'; name: string; priority: 'high' },
    ): void;
  };
}

/**
 * Makes the calls of a client fail at the end of calls, also between two tries, where the SDK waits for seconds. No
 * request leaves after it: a request that sleeps in a frozen environment would leave minutes later.
 */
export function endingCalls<Made extends Client>(client: Made, endOfCalls: EndOfCalls | undefined): Made {
  if (endOfCalls === undefined) return client;
  const { requestHandler } = client.config;
  const handle = requestHandler.handle.bind(requestHandler);
  requestHandler.handle = (request, options) => {
    const end = endOfCalls();
    const own = options?.abortSignal;
    // A call may have an end of its own, which comes first.
    const abortSignal = own instanceof AbortSignal && end !== undefined ? AbortSignal.any([own, end]) : (end ?? own);
    return handle(request, abortSignal === undefined ? options : { ...options, abortSignal });
  };
  client.middlewareStack.add(next => args => endingWith(endOfCalls(), () => next(args)), {
    step: 'initialize',
    name: 'endOfCalls',
    priority: 'high',
  });
  return client;
}

async function endingWith<Answer>(end: AbortSignal | undefined, call: () => Promise<Answer>): Promise<Answer> {
  if (end === undefined) return call();
  if (end.aborted) throw outOfTime();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const onEnd = (): void => reject(outOfTime());
  end.addEventListener('abort', onEnd);
  try {
    return await Promise.race([ended, call()]);
  } finally {
    end.removeEventListener('abort', onEnd);
  }
}
