/**
 * Recursion that does not use the JavaScript stack. Templates may nest 10,000 parentheses; Go's stack grows, ours does
 * not. A function that calls itself is a generator here and calls itself by `yield* deep(...)`.
 */
export type Step<T> = Generator<Step<unknown>, T, unknown>;

/** Runs `task` on a stack of its own and gives its result. */
export function* deep<T>(task: Step<T>): Step<T> {
  return (yield task) as T;
}

/** Runs a task and all that it calls. */
export function run<T>(task: Step<T>): T {
  const stack: Step<unknown>[] = [task];
  let result: unknown;
  while (stack.length > 0) {
    const next = stack.at(-1)!.next(result);
    if (next.done) {
      stack.pop();
      result = next.value;
    } else {
      stack.push(next.value);
      result = undefined;
    }
  }
  return result as T;
}
