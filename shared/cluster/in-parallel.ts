/** Several calls at once or in a row. Each of them is done whatever becomes of the others, and what is thrown tells of all that failed. */
import { joinFailures } from '../errors.ts';

/**
 * Calls that do not depend on each other, at once. Like `Promise.all`, but failures are thrown only when all have ended: nothing may
 * run on after a handler has answered, because Lambda freezes the environment there and what is left thaws minutes later.
 */
export async function inParallel<const Parts extends readonly unknown[]>(
  parts: Parts,
): Promise<{ -readonly [Index in keyof Parts]: Awaited<Parts[Index]> }> {
  throwFailures(await Promise.allSettled(parts));
  return await Promise.all(parts);
}

/** Throws what tells of all failures, where there are any. */
export function throwFailures(outcomes: readonly PromiseSettledResult<unknown>[]): void {
  const failures = outcomes.flatMap(outcome => (outcome.status === 'rejected' ? [outcome.reason] : []));
  if (failures.length > 0) throw joinFailures(failures);
}

/** At most `count` calls at the same time; the others wait, in their order. */
export function limitTo(count: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let free = count;
  return async work => {
    if (free > 0) free -= 1;
    else await new Promise<void>(resolve => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

/** The items in batches of so many at most, in their order. */
export const batchesOf = <Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));

/** Items at work at the same time: a round of calls must not become a storm on the API server. */
export const CALLS_AT_ONCE = 10;

/**
 * Does the work for every item, a few at a time: the next one begins when any has ended, so that a slow one delays nobody. Nor does one
 * that fails.
 */
export async function fewAtATime<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const limited = limitTo(CALLS_AT_ONCE);
  await inParallel(items.map(item => limited(() => work(item))));
}

/** Runs the calls one after the other, in their order. */
export async function oneByOne<Item>(items: Iterable<Item>, work: (item: Item) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw joinFailures(failures);
}
