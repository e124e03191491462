/**
 * The exit codes that a shell reports for a process that one of these signals ended. SIGHUP: the window of the terminal
 * was closed.
 */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type Ending = keyof typeof EXIT_CODES;
export const ENDING_SIGNALS: readonly Ending[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** `timeout`, systemd and CI systems signal the whole group, and the starter passes it on: one request, received twice. */
const ECHO_MS = 1000;

/**
 * The first of these signals as a promise; from this call on, none ends the process by itself. A second one that comes later ends it at once,
 * by way of `exit`: children and temporary folders go.
 */
export function untilInterrupted(): Promise<void> {
  return new Promise(resolve => {
    let first: number | undefined;
    const end = (signal: Ending): void => {
      const now = performance.now();
      first ??= now;
      if (now - first > ECHO_MS) process.exit(EXIT_CODES[signal]);
      resolve();
    };
    for (const signal of ENDING_SIGNALS) process.on(signal, () => end(signal));
  });
}

/**
 * Until it is disposed, they end the process at once: what is still starting cannot be stopped in order. Children and
 * temporary folders go at exit.
 */
export function endWhenInterrupted(): Disposable {
  const interrupt = (signal: Ending): void => process.exit(EXIT_CODES[signal]);
  for (const signal of ENDING_SIGNALS) process.on(signal, interrupt);
  return {
    [Symbol.dispose]() {
      for (const signal of ENDING_SIGNALS) process.off(signal, interrupt);
    },
  };
}
