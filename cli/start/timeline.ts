/**
 * The live timeline of `npm start`: one line per thing that happened, with the time since the story began. Colours and a progress
 * line only on a terminal; plain lines otherwise, so that a log file reads the same.
 */
import type { FunctionName } from '../../shared/contract/names.ts';
import { onOneLine, printable } from '../../shared/domain/printable.ts';
import { colors as c } from '../../simulator/terminal-colors.ts';

/** The author of a line: a function, or what stands around Curfew. */
export type LineSource = FunctionName | 'you' | 'cluster' | 'forwarder' | 'karpenter' | 'curfew' | 'controller' | 'bus';

export interface Output {
  readonly isTTY: boolean;
  readonly columns: number;
  write(text: string): void;
}

export interface Timeline {
  /** Sets the instant that times are counted from. */
  begin(instant: number): void;
  line(voice: LineSource, text: string): void;
  heading(text: string): void;
  plain(text?: string): void;
  good(text: string): void;
  bad(text: string): void;
  /** Replaces the progress line (terminals only). */
  progress(text: string): void;
  /** A step of something long: replaces the progress line on a terminal, is a line of its own elsewhere. */
  step(text: string): void;
  endProgress(): void;
}

const VOICE_WIDTH = 12;

/** @param now milliseconds, on the clock of the instant that `begin` is given */
export function createTimeline(output: Output, now: () => number): Timeline {
  const paint: Record<LineSource, (text: string) => string> = {
    you: c.magenta,
    cluster: c.blue,
    forwarder: c.dim,
    repair: c.yellow,
    timer: c.dim,
    karpenter: c.green,
    curfew: c.cyan,
    drain: c.cyan,
    finalizer: c.cyan,
    'grace-period': c.cyan,
    controller: c.green,
    bus: c.blue,
  };
  let origin: number | undefined;
  let hasProgress = false;

  const clearProgress = (): void => {
    if (hasProgress) output.write('\r\u001b[2K');
    hasProgress = false;
  };
  const print = (text: string): void => {
    clearProgress();
    output.write(`${text}\n`);
  };
  const elapsed = (): string =>
    origin === undefined ? ' '.repeat(8) : `+${((now() - origin) / 1000).toFixed(2)}s`.padStart(8);

  return {
    begin(instant) {
      origin = instant;
    },
    line: (voice, text) => print(`${c.dim(elapsed())}  ${paint[voice](voice.padEnd(VOICE_WIDTH))} ${onOneLine(text)}`),
    heading: text => print(`\n${c.bold(text)}`),
    plain: (text = '') => print(text),
    good: text => print(`  ${c.green('✓')} ${text}`),
    bad: text => print(`  ${c.red('✗')} ${printable(text)}`),
    step(text) {
      if (output.isTTY) this.progress(text);
      else print(text);
    },
    progress(text) {
      if (!output.isTTY) return;
      output.write(`\r\u001b[2K${c.dim(text.slice(0, Math.max(20, output.columns - 1)))}`);
      hasProgress = true;
    },
    endProgress: clearProgress,
  };
}
