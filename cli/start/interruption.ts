/** SIGINT or SIGTERM as a promise; from this call on, neither ends the process by itself. */
export function untilInterrupted(): Promise<void> {
  return new Promise(resolve => {
    const end = (): void => {
      process.off('SIGINT', end);
      process.off('SIGTERM', end);
      resolve();
    };
    process.on('SIGINT', end);
    process.on('SIGTERM', end);
  });
}
