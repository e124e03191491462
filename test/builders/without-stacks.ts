/** Simulations throw thousands of errors that somebody expects, and a stack costs more than the rest of one. */
import { afterAll, beforeAll } from 'vitest';

/** Errors in this file carry no stack, as in the threads of the swarm; its failures say what differs, not in which line. */
export function withoutStacks(): void {
  const { stackTraceLimit } = Error;
  beforeAll(() => {
    Error.stackTraceLimit = 0;
  });
  afterAll(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });
}
