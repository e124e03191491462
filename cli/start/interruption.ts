/** `timeout`, systemd and CI systems signal the whole group, and the starter passes it on: one request, received twice. */
const ECHO_MS = 1000;

/**
 * SIGINT or SIGTERM as a promise; from this call on, neither ends the process by itself. A second one that comes later ends it at once,
 * by way of `exit`: children and temporary folders go.
 */
export function untilInterrupted(): Promise<void> {
  return new Promise(resolve => {
    let first: number | undefined;
    const end = (signal: 'SIGINT' | 'SIGTERM'): void => {
      const now = performance.now();
      first ??= now;
      if (now - first > ECHO_MS) process.exit(EXIT_CODES[signal]);
      resolve();
    };
    process.on('SIGINT', end);
    process.on('SIGTERM', end);
  });
}

/** What a shell says of a process that a signal ended. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Until it is disposed, SIGINT and SIGTERM end the process at once: what is still starting cannot be stopped in order. Children and
 * temporary folders go at exit.
 */
export function endWhenInterrupted(): Disposable {
  const interrupt = (signal: 'SIGINT' | 'SIGTERM'): void => process.exit(EXIT_CODES[signal]);
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  return {
    [Symbol.dispose]() {
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', interrupt);
    },
  };
}
