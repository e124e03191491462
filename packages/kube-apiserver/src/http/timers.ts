/** Real time as the HTTP front needs it; tests pass their own. */

export interface Timer {
  cancel(): void;
}

export interface Timers {
  /** Runs once after a delay in milliseconds. */
  after(delayMs: number, run: () => void): Timer;
  /** Runs again and again, a period in milliseconds apart. */
  every(periodMs: number, run: () => void): Timer;
}

/** Timers of this process that do not keep it alive. */
export const processTimers: Timers = {
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs).unref();
    return { cancel: () => clearTimeout(timer) };
  },
  every(periodMs, run) {
    const timer = setInterval(run, periodMs).unref();
    return { cancel: () => clearInterval(timer) };
  },
};
