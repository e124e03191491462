/** One line on a terminal that says what a long run is at. Nothing at all where the output is no terminal. */
export interface Progress {
  /** Replaces the line. `of` shows a percentage. */
  say(text: string, part?: { readonly done: number; readonly of: number }): void;
  /** Takes the line away, so that what is printed next stands alone. */
  clear(): void;
}

export const SILENT: Progress = { say: () => undefined, clear: () => undefined };

const CLEAR_LINE = '\r\u001b[K';
const LATE_AFTER_MS = 2000;
/** Seldom enough not to cost what is measured. */
const PERIOD_MS = 100;

/** What of a stream is used; a pipe has no `isTTY`. */
export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Says nothing in the first two seconds: what is over by then needs no progress. */
export function createLateProgress(stream: Terminal, now: () => number = () => performance.now()): Progress {
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

export function createProgress(stream: Terminal): Progress {
  if (stream.isTTY !== true) return SILENT;
  const { columns = 80 } = stream;
  let lastTime = -Infinity;
  let lastText = '';
  return {
    say(text, part) {
      const now = performance.now();
      if (text === lastText && now - lastTime < PERIOD_MS) return;
      lastTime = now;
      lastText = text;
      const percent = part === undefined ? '' : ` ${Math.floor((100 * part.done) / Math.max(1, part.of))} %`;
      stream.write(CLEAR_LINE + (text + percent).slice(0, Math.max(1, columns - 1)));
    },
    clear() {
      stream.write(CLEAR_LINE);
    },
  };
}
