/** The directives of `fmt.Sprintf`: flags, argument indexes, width, precision, verb. */
import type { Budget } from '../limits.ts';
import { type Bytes, decodeRune, encodeRune } from '../text/bytes.ts';
import { isInt, isUint } from '../types/type.ts';
import { asInteger, type Value } from '../types/value.ts';
import { Printer } from './printer.ts';
import { noFlags } from './writer.ts';

/** Arguments as Go's `any`: undefined = nil. */
export type Args = readonly (Value | undefined)[];

/** Go's limit on widths, precisions and argument numbers. */
const MAX_NUMBER = 1_000_000;

/** Works a format off, directive by directive. */
export class Formatter {
  readonly #printer: Printer;
  readonly #budget: Budget;
  readonly #format: Bytes;
  readonly #args: Args;
  #at = 0;
  #arg = 0;
  /** An argument index like [3] was used somewhere. */
  #reordered = false;
  /** The indexes of this directive are in range and well placed. */
  #goodIndex = true;
  /** What came last was an index. */
  #afterIndex = false;

  constructor(budget: Budget, format: Bytes, args: Args) {
    this.#budget = budget;
    this.#printer = new Printer(budget);
    this.#format = format;
    this.#args = args;
  }

  run(): Bytes {
    const { out } = this.#printer;
    while (this.#at < this.#format.length) {
      const percent = this.#format.indexOf('%', this.#at);
      out.write(this.#format.slice(this.#at, percent < 0 ? undefined : percent));
      if (percent < 0) break;
      this.#at = percent + 1;
      this.#budget.spend(1);
      if (!this.#directive()) break;
    }
    this.#extra();
    return out.text;
  }

  /** One directive, after its percent sign; false when the format ends in it. */
  #directive(): boolean {
    const { out } = this.#printer;
    out.flags = noFlags();
    this.#goodIndex = true;
    this.#flags();
    const simple = this.#format[this.#at] ?? '';
    if (/[a-z]/.test(simple) && this.#arg < this.#args.length) {
      this.#at++;
      this.#print(simple);
      return true;
    }
    this.#index();
    this.#width();
    this.#precision();
    if (!this.#afterIndex) this.#index();
    if (this.#at >= this.#format.length) {
      out.write('%!(NOVERB)');
      return false;
    }
    const [rune, width] = decodeRune(this.#format, this.#at);
    this.#at += width;
    const verb = encodeRune(rune);
    if (verb === '%') out.write('%');
    else if (!this.#goodIndex) out.write(`%!${verb}(BADINDEX)`);
    else if (this.#arg >= this.#args.length) out.write(`%!${verb}(MISSING)`);
    else this.#print(verb);
    return true;
  }

  #print(verb: Bytes): void {
    const { flags } = this.#printer.out;
    if (verb === 'v' || verb === 'w') {
      [flags.sharpV, flags.sharp] = [flags.sharp, false];
      [flags.plusV, flags.plus] = [flags.plus, false];
    }
    this.#printer.arg(this.#args[this.#arg], verb);
    this.#arg++;
  }

  #flags(): void {
    const { flags } = this.#printer.out;
    for (; ; this.#at++) {
      const c = this.#format[this.#at];
      if (c === '#') flags.sharp = true;
      else if (c === '0') flags.zero = true;
      else if (c === '+') flags.plus = true;
      else if (c === '-') flags.minus = true;
      else if (c === ' ') flags.space = true;
      else return;
    }
  }

  #width(): void {
    const { out } = this.#printer;
    const { flags } = out;
    if (this.#format[this.#at] !== '*') {
      flags.width = this.#number();
      if (this.#afterIndex && flags.width !== undefined) this.#goodIndex = false;
      return;
    }
    this.#at++;
    flags.width = this.#numberFromArg();
    if (flags.width === undefined) out.write('%!(BADWIDTH)');
    else if (flags.width < 0) {
      flags.width = -flags.width;
      flags.minus = true;
      flags.zero = false;
    }
    this.#afterIndex = false;
  }

  #precision(): void {
    const { out } = this.#printer;
    if (this.#format[this.#at] !== '.' || this.#at + 1 >= this.#format.length) return;
    this.#at++;
    if (this.#afterIndex) this.#goodIndex = false;
    this.#index();
    if (this.#format[this.#at] !== '*') {
      out.flags.precision = this.#number() ?? 0;
      return;
    }
    this.#at++;
    const precision = this.#numberFromArg();
    out.flags.precision = precision !== undefined && precision >= 0 ? precision : undefined;
    if (out.flags.precision === undefined) out.write('%!(BADPREC)');
    this.#afterIndex = false;
  }

  /** A number in the format; one too large swallows the rest of it, as in Go. */
  #number(end = this.#format.length): number | undefined {
    let value: number | undefined;
    for (; this.#at < end; this.#at++) {
      const digit = this.#format.charCodeAt(this.#at) - 48;
      if (digit < 0 || digit > 9) break;
      if ((value ?? 0) > MAX_NUMBER) {
        this.#at = end;
        return undefined;
      }
      value = (value ?? 0) * 10 + digit;
    }
    return value;
  }

  #numberFromArg(): number | undefined {
    if (this.#arg >= this.#args.length) return undefined;
    const arg = this.#args[this.#arg++];
    if (arg === undefined || !(isInt(arg.type.kind) || isUint(arg.type.kind))) return undefined;
    const value = Number(asInteger(arg));
    return Math.abs(value) > MAX_NUMBER ? undefined : value;
  }

  /** An argument index like [3], if one is here. */
  #index(): void {
    this.#afterIndex = false;
    if (this.#format[this.#at] !== '[') return;
    this.#reordered = true;
    const close = this.#format.indexOf(']', this.#at + 1);
    if (close < 0 || this.#format.length - this.#at < 3) {
      this.#at++;
      this.#goodIndex = false;
      return;
    }
    const start = this.#at + 1;
    this.#at = start;
    const number = this.#number(close);
    const ok = number !== undefined && this.#at === close;
    this.#at = close + 1;
    this.#afterIndex = ok;
    if (ok && number >= 1 && number <= this.#args.length) this.#arg = number - 1;
    else this.#goodIndex = false;
  }

  /** Arguments that no directive used. */
  #extra(): void {
    if (this.#reordered || this.#arg >= this.#args.length) return;
    const { out } = this.#printer;
    out.flags = noFlags();
    out.write('%!(EXTRA ');
    for (const [i, arg] of this.#args.slice(this.#arg).entries()) {
      if (i > 0) out.write(', ');
      if (arg === undefined) out.write('<nil>');
      else {
        out.write(arg.type.name + '=');
        this.#printer.arg(arg, 'v');
      }
    }
    out.write(')');
  }
}
