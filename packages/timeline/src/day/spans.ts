/** Things that begin, and end when something else is said. */
import type { Span } from './types.ts';

/** Collects stretches of time: one is open at a time. */
export class Stretches<Value extends object> {
  readonly closed: (Value & Span)[] = [];
  #open: (Value & { readonly from: number }) | undefined;

  get open(): (Value & { readonly from: number }) | undefined {
    return this.#open;
  }

  /** Ends what is open and begins the next. */
  begin(from: number, value: Value): void {
    this.end(from);
    this.#open = { ...value, from };
  }

  end(to: number, isOpen = false): void {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined && to >= open.from) this.closed.push({ ...open, to, isOpen });
  }

  /** The same stretch goes on, and more is known of it. */
  extend(value: Partial<Value>): void {
    if (this.#open !== undefined) this.#open = { ...this.#open, ...value };
  }
}

export const lengthOf = ({ from, to }: Span): number => to - from;
