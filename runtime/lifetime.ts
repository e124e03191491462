/**
 * The life of one process in this process: a function's environment, or a forwarder. Once it has ended, nothing that it waits for
 * ever comes: its calls neither resolve nor reject, so the code stands still between two effects, where a crash left it.
 */
import { aroundCalls } from './around-calls.ts';
import type { Clock } from '../shared/ports/clock.ts';

export interface Lifetime {
  readonly alive: boolean;
  end(): void;
}

/** Ends once; what is at work then never settles. */
export function createLifetime(): Lifetime {
  let alive = true;
  return {
    get alive() {
      return alive;
    },
    end() {
      alive = false;
    },
  };
}

/** A promise that never settles. */
export const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

/** Settles as `promise` does, unless the life has ended by then. */
export function whileAlive<T>(lifetime: Lifetime, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    promise.then(
      value => {
        if (lifetime.alive) resolve(value);
      },
      (error: unknown) => {
        if (lifetime.alive) reject(error);
      },
    );
  });
}

/** A port whose calls have no effect and no answer once the life has ended. All its methods must return promises. */
export function mortal<Port extends object>(lifetime: Lifetime, port: Port): Port {
  return aroundCalls(port, ({ proceed }) => {
    if (!lifetime.alive) return never();
    const answer = proceed();
    return answer instanceof Promise ? whileAlive(lifetime, answer) : answer;
  });
}

/** A clock whose sleepers never wake once the life has ended. */
export function mortalClock(lifetime: Lifetime, clock: Clock): Clock {
  return { now: () => clock.now(), sleep: (duration, signal) => whileAlive(lifetime, clock.sleep(duration, signal)) };
}

/** A stream that falls silent when the life ends. */
export function mortalStream<T>(lifetime: Lifetime, stream: AsyncIterable<T>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = stream[Symbol.asyncIterator]();
      return {
        next: () => (lifetime.alive ? whileAlive(lifetime, iterator.next()) : never()),
        return: async value => (await iterator.return?.(value)) ?? { done: true, value: undefined },
      };
    },
  };
}
