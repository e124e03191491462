/** Splits a template's text into tokens, as Go's does. Positions are bytes. */
import { type Bytes, decodeRune } from '../text/bytes.ts';
import type { Token, TokenKind } from './token.ts';

export interface Delims {
  readonly left: Bytes;
  readonly right: Bytes;
}

export const END_OF_INPUT = -1;
const LEFT_TRIM = /^-[ \t\r\n]/;
const DASH = 0x2d;
/** A trim marker with its space. */
const MARKER_LENGTH = 2;

export const isSpace = (rune: number): boolean => rune === 32 || rune === 9 || rune === 13 || rune === 10;

function newlines(text: Bytes): number {
  let count = 0;
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) count++;
  return count;
}

export class Lexer {
  readonly right: Bytes;
  /** Keywords that are functions in this template instead: `break` and `continue` were free names once. */
  readonly functions: ReadonlySet<string>;
  pos = 0;
  parenDepth = 0;
  readonly #left: Bytes;
  #input: Bytes;
  #start = 0;
  /** Line at #start. */
  #line = 1;
  #inAction = false;

  constructor(input: Bytes, delims: Delims, functions: ReadonlySet<string>) {
    this.#input = input;
    this.#left = delims.left;
    this.right = delims.right;
    this.functions = functions;
  }

  get inAction(): boolean {
    return this.#inAction;
  }

  /** Code point at the current position, or END_OF_INPUT. */
  peek(): number {
    return this.pos >= this.#input.length ? END_OF_INPUT : decodeRune(this.#input, this.pos)[0];
  }

  /** Takes one code point and gives it. */
  take(): number {
    if (this.pos >= this.#input.length) return END_OF_INPUT;
    const [rune, width] = decodeRune(this.#input, this.pos);
    this.pos += width;
    return rune;
  }

  /** Takes one character if it is among `valid`. */
  accept(valid: string): boolean {
    const c = this.#input[this.pos];
    if (c === undefined || !valid.includes(c)) return false;
    this.pos++;
    return true;
  }

  acceptRun(valid: string): void {
    while (this.accept(valid));
  }

  /** Text of the token so far. */
  current(): Bytes {
    return this.#input.slice(this.#start, this.pos);
  }

  startsWith(text: Bytes, offset = 0): boolean {
    return this.#input.startsWith(text, this.pos + offset);
  }

  emit(kind: TokenKind): Token {
    const token = { kind, pos: this.#start, text: this.current(), line: this.#line };
    this.#skip(0);
    return token;
  }

  /** An error token; nothing comes after it. */
  fail(text: Bytes): Token {
    const token = { kind: 'error' as const, pos: this.#start, text, line: this.#line };
    this.#input = '';
    this.#start = 0;
    this.pos = 0;
    return token;
  }

  /** Whether the right delimiter is here, and whether it trims. */
  atRightDelim(): { here: boolean; trims: boolean } {
    const isMarker = this.#input.charCodeAt(this.pos + 1) === DASH && isSpace(this.#input.charCodeAt(this.pos));
    const trims = isMarker && this.startsWith(this.right, MARKER_LENGTH);
    return { here: trims || this.startsWith(this.right), trims };
  }

  rightDelim(): Token {
    const { trims } = this.atRightDelim();
    if (trims) this.#skip(MARKER_LENGTH);
    this.pos += this.right.length;
    const token = this.emit('rightDelim');
    if (trims) this.#skipSpace();
    this.#inAction = false;
    return token;
  }

  /** The next token outside actions: text, a left delimiter or the end. */
  nextInText(): Token {
    for (;;) {
      const found = this.#input.indexOf(this.#left, this.pos);
      if (found < 0) return this.#rest();
      if (found > this.pos) {
        const text = this.#textBefore(found);
        if (text !== undefined) return text;
      }
      const token = this.#leftDelim();
      if (token !== undefined) return token;
    }
  }

  /** What is left when there are no more actions. */
  #rest(): Token {
    this.pos = this.#input.length;
    return this.emit(this.pos === this.#start ? 'eof' : 'text');
  }

  /** The text up to the delimiter at `found`, trimmed if the delimiter says so; undefined if nothing is left of it. */
  #textBefore(found: number): Token | undefined {
    const after = found + this.#left.length;
    const trims = LEFT_TRIM.test(this.#input.slice(after, after + 2));
    const whole = this.#input.slice(this.#start, found);
    const kept = trims ? trimRight(whole) : whole;
    this.pos = this.#start + kept.length;
    const token = this.emit('text');
    this.#skip(whole.length - kept.length);
    return kept === '' ? undefined : token;
  }

  /** The left delimiter; undefined after a comment. */
  #leftDelim(): Token | undefined {
    this.pos += this.#left.length;
    const marker = LEFT_TRIM.test(this.#input.slice(this.pos, this.pos + 2)) ? MARKER_LENGTH : 0;
    if (this.startsWith('/*', marker)) {
      this.#skip(marker);
      return this.#comment();
    }
    const token = this.emit('leftDelim');
    this.#inAction = true;
    this.#skip(marker);
    this.parenDepth = 0;
    return token;
  }

  #comment(): Token | undefined {
    const end = this.#input.indexOf('*/', this.pos + 2);
    if (end < 0) return this.fail('unclosed comment');
    this.pos = end + 2;
    const { here, trims } = this.atRightDelim();
    if (!here) return this.fail('comment ends before closing delimiter');
    this.#skip((trims ? MARKER_LENGTH : 0) + this.right.length);
    if (trims) this.#skipSpace();
    return undefined;
  }

  /** Leaves out the token so far and `bytes` more. */
  #skip(bytes: number): void {
    this.pos += bytes;
    this.#line += newlines(this.current());
    this.#start = this.pos;
  }

  #skipSpace(): void {
    this.acceptRun(' \t\r\n');
    this.#skip(0);
  }
}

function trimRight(text: Bytes): Bytes {
  let end = text.length;
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(0, end);
}
