import { isCapable } from '../simulator/terminal-colors.ts';

/** One line on a terminal that says what a long run is at. */
export interface Progress {
  /** Replaces the line. `of` shows a percentage. */
  say(text: string, part?: { readonly done: number; readonly of: number }): void;
  /** Takes the line away, so that what is printed next stands alone. */
  clear(): void;
}

const SILENT: Progress = { say: () => undefined, clear: () => undefined };

const CLEAR_LINE = '\r\u001b[K';
const LATE_AFTER_MS = 2000;
/** Seldom enough not to cost what is measured. */
const PERIOD_MS = 100;
/** Time between lines in a log file or a pipe. */
const LINE_PERIOD_MS = 10_000;

/** The part of a stream that is used. A pipe has no `isTTY`. */
export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Says nothing in the first two seconds: what is over by then needs no progress. Where the output is no terminal, a line every ten seconds. */
export function createLateProgress(stream: Terminal, now: () => number = () => performance.now()): Progress {
  if (!isCapable(stream)) return createSeldomLines(stream, now);
  const progress = createProgress(stream);
  const start = now();
  let said = false;
  return {
    say(text, part) {
      if (now() - start < LATE_AFTER_MS) return;
      said = true;
      progress.say(text, part);
    },
    clear() {
      if (said) progress.clear();
    },
  };
}

function createSeldomLines(stream: Terminal, now: () => number): Progress {
  let last = now();
  return {
    say(text, part) {
      if (now() - last < LINE_PERIOD_MS) return;
      last = now();
      stream.write(`${text}${percentOf(part)}\n`);
    },
    clear: () => undefined,
  };
}

function percentOf(part: Parameters<Progress['say']>[1]): string {
  return part === undefined ? '' : ` ${Math.floor((100 * part.done) / Math.max(1, part.of))} %`;
}

/** Nothing at all where the output is no terminal. */
export function createProgress(stream: Terminal): Progress {
  if (!isCapable(stream)) return SILENT;
  const { columns = 80 } = stream;
  let lastTime = -Infinity;
  let lastText = '';
  return {
    say(text, part) {
      const now = performance.now();
      if (text === lastText && now - lastTime < PERIOD_MS) return;
      lastTime = now;
      lastText = text;
      stream.write(CLEAR_LINE + (text + percentOf(part)).slice(0, Math.max(1, columns - 1)));
    },
    clear() {
      stream.write(CLEAR_LINE);
    },
  };
}

/** Sums up a run that Ctrl-C ended: `stopped after 3 of 5 runs: all held`. */
export function stoppedAfter(done: number, of: number, what: string, failed: number): string {
  const whole = (count: number): string => count.toLocaleString('en');
  const verdict = done === 0 ? 'nothing is known yet' : failed === 0 ? 'all held' : `${whole(failed)} did not hold`;
  return `stopped after ${whole(done)} of ${whole(of)} ${what}${of === 1 ? '' : 's'}: ${verdict}`;
}
