/**
 * Reads that do not depend on each other, at once. Like `Promise.all`, but a failure is thrown only when all have ended: nothing may
 * run on after a handler has answered, because Lambda freezes the environment there and what is left thaws minutes later.
 */
export async function inParallel<const Parts extends readonly unknown[]>(
  parts: Parts,
): Promise<{ -readonly [Index in keyof Parts]: Awaited<Parts[Index]> }> {
  try {
    return await Promise.all(parts);
  } catch (error) {
    await Promise.allSettled(parts);
    throw error;
  }
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

/** Items at work at the same time: a round of calls must not become a storm on the API server. */
export const AT_ONCE = 10;

/**
 * Does the work for every item, a few at a time: the next one begins when any has ended, so that a slow one holds up nobody. Nor does one
 * that fails: the others are done all the same, and the first failure is thrown when all have ended.
 */
export async function fewAtATime<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const limited = limitTo(AT_ONCE);
  await inParallel(items.map(item => limited(() => work(item))));
}

/** The same one after the other, in their order. */
export async function oneByOne<Item>(items: Iterable<Item>, work: (item: Item) => Promise<void>): Promise<void> {
  let failure: { readonly error: unknown } | undefined;
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      failure ??= { error };
    }
  }
  if (failure !== undefined) throw failure.error;
}
