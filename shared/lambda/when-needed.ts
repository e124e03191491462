import { messageOf, RetryableError } from '../errors.ts';

/**
 * For what only some messages need: `load` runs at the first call, and what it answers is kept. A failure reaches those who wait for
 * it, as a `RetryableError`; the next call loads again.
 *
 * @param what its name in the message of the error
 */
export function whenNeeded<Value>(what: string, load: () => Promise<Value>): () => Promise<Value> {
  let loaded: Promise<Value> | undefined;
  const begin = (): Promise<Value> =>
    Promise.resolve()
      .then(load)
      .catch((error: unknown) => {
        loaded = undefined;
        throw new RetryableError(`loading ${what}: ${messageOf(error)}`, { cause: error, reason: 'NotLoaded' });
      });
  return () => (loaded ??= begin());
}
