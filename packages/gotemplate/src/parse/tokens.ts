/** The parser's view of the lexer: three tokens of lookahead, errors at the last token read. */
import { ParseError } from '../errors.ts';
import { formatText } from '../fmt/sprintf.ts';
import { type Bytes, decode } from '../text/bytes.ts';
import { stringValue } from '../types/value.ts';
import { nextToken } from './lex-action.ts';
import type { Lexer } from './lexer.ts';
import type { Source } from './nodes.ts';
import { showToken, type Token, type TokenKind } from './token.ts';

const NONE: Token = { kind: 'eof', pos: 0, text: '', line: 0 };

export class Tokens {
  protected readonly lexer: Lexer;
  protected readonly source: Source;
  /** Line of the action being parsed, 0 outside. */
  protected actionLine = 0;
  /** Most recently read first; the others were given back. */
  readonly #buffer: [Token, Token, Token] = [NONE, NONE, NONE];
  #peeked = 0;

  constructor(lexer: Lexer, source: Source) {
    this.lexer = lexer;
    this.source = source;
  }

  protected next(): Token {
    if (this.#peeked > 0) this.#peeked--;
    else this.#buffer[0] = nextToken(this.lexer);
    return this.#buffer[this.#peeked]!;
  }

  protected backup(): void {
    this.#peeked++;
  }

  /** Gives back `token` before the last one read. */
  protected backup2(token: Token): void {
    this.#buffer[1] = token;
    this.#peeked = 2;
  }

  /** Gives back `first`, then `second`, before the last one read. */
  protected backup3(first: Token, second: Token): void {
    this.#buffer[1] = second;
    this.#buffer[2] = first;
    this.#peeked = 3;
  }

  protected peek(): Token {
    const token = this.next();
    this.backup();
    return token;
  }

  protected nextNonSpace(): Token {
    let token = this.next();
    while (token.kind === 'space') token = this.next();
    return token;
  }

  protected peekNonSpace(): Token {
    const token = this.nextNonSpace();
    this.backup();
    return token;
  }

  protected expect(context: string, ...kinds: TokenKind[]): Token {
    const token = this.nextNonSpace();
    if (!kinds.includes(token.kind)) this.unexpected(token, context);
    return token;
  }

  /** Stops with Go's message: `format` is one of Go's, its verbs %s and %q. */
  protected fail(format: string, ...args: readonly Bytes[]): never {
    const last = this.#buffer[0];
    const text = formatText(`template: ${this.source.name}:${last.line}: ${format}`, args.map(stringValue));
    const before = this.source.text.lastIndexOf('\n', last.pos - 1);
    const column = last.pos === 0 ? 0 : last.pos - before - 1;
    throw new ParseError(decode(text), { template: decode(this.source.name), line: last.line, column });
  }

  protected unexpected(token: Token, context: string): never {
    if (token.kind !== 'error') this.fail('unexpected %s in %s', showToken(token), context);
    let where = '';
    if (this.actionLine !== 0 && this.actionLine !== token.line) {
      where = ` in action started at ${this.source.name}:${this.actionLine}`;
      if (token.text.endsWith(' action')) where = where.slice(' in action'.length);
    }
    this.fail('%s%s', token.text, where);
  }
}
