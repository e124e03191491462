/** A template is its author's program: what it may use is bounded. */

export interface Limits {
  /** Length of one template's text in bytes. */
  readonly templateBytes: number;
  /** Length of the output, and of any one string on the way, in bytes. */
  readonly outputBytes: number;
  /** Work: nodes executed, plus one for each 64 bytes written or looked through. */
  readonly steps: number;
  /** Template calls within template calls; Go's own limit, with Go's own error. */
  readonly templateDepth: number;
  /** Lists and maps within each other in the data. */
  readonly dataDepth: number;
}

export const DEFAULT_LIMITS: Limits = {
  templateBytes: 1 << 18,
  outputBytes: 1 << 24,
  steps: 1_000_000,
  templateDepth: 100_000,
  dataDepth: 1000,
};

/** Bytes of text that cost as much as one step. */
export const BYTES_PER_STEP = 64;

/** Thrown deep inside; leaves the package as a `LimitError` that says where. */
export class LimitReached extends Error {}

/** The JavaScript stack ran out: deep data printed by a caller that is deep itself. */
export const isStackOverflow = (error: unknown): boolean =>
  error instanceof RangeError && error.message.includes('call stack');

/** What one execution may still spend. */
export class Budget {
  readonly limits: Limits;
  #left: number;
  #written = 0;

  constructor(limits: Limits) {
    this.limits = limits;
    this.#left = limits.steps;
  }

  /** Counts `steps` of work. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new LimitReached(`more than ${this.limits.steps} steps`);
  }

  /** Counts text that is about to be made or looked through; `length`: of the string it becomes part of. */
  text(bytes: number, length: number = bytes): void {
    if (length > this.limits.outputBytes) throw this.#tooLong();
    this.spend(bytes / BYTES_PER_STEP);
  }

  /** Counts output. */
  output(bytes: number): void {
    this.#written += bytes;
    if (this.#written > this.limits.outputBytes) throw this.#tooLong();
  }

  #tooLong(): LimitReached {
    return new LimitReached(`more than ${this.limits.outputBytes} bytes of output`);
  }
}
