/** Tokens inside an action, between the delimiters. */
import { quote } from '../text/quote.ts';
import { encodeRune } from '../text/bytes.ts';
import { isDigit, isLetter, isPrint } from '../text/unicode.ts';
import { END_OF_INPUT, isSpace, type Lexer } from './lexer.ts';
import { KEYWORDS, type Token, type TokenKind } from './token.ts';

const isAlphaNumeric = (rune: number): boolean =>
  rune !== END_OF_INPUT && (rune === 0x5f || isLetter(rune) || isDigit(rune));

/** A code point as `%#U` prints it. */
function showRune(rune: number): string {
  const code = 'U+' + rune.toString(16).toUpperCase().padStart(4, '0');
  return isPrint(rune) ? `${code} '${encodeRune(rune)}'` : code;
}

const SINGLE: ReadonlyMap<string, TokenKind> = new Map([
  ['=', 'assign'],
  ['|', 'pipe'],
]);

/** The next token; after the end or an error there is nothing more. */
export const nextToken = (l: Lexer): Token => (l.inAction ? nextInAction(l) : l.nextInText());

function nextInAction(l: Lexer): Token {
  if (l.atRightDelim().here) return l.parenDepth === 0 ? l.rightDelim() : l.fail('unclosed left paren');
  const rune = l.peek();
  if (rune === END_OF_INPUT) return l.fail('unclosed action');
  if (isSpace(rune)) return space(l);
  if ((rune >= 48 && rune <= 57) || rune === 43 || rune === 45) return number(l);
  if (isAlphaNumeric(rune)) return identifier(l);
  const c = String.fromCodePoint(rune);
  l.take();
  const single = SINGLE.get(c);
  if (single !== undefined) return l.emit(single);
  switch (c) {
    case ':':
      return l.take() === 61 ? l.emit('declare') : l.fail('expected :=');
    case '"':
      return quoted(l, '"', 'string', 'unterminated quoted string');
    case "'":
      return quoted(l, "'", 'charConstant', 'unterminated character constant');
    case '`':
      return rawQuoted(l);
    case '$':
      return fieldOrVariable(l, 'variable');
    case '.':
      if (l.peek() >= 48 && l.peek() <= 57) {
        l.pos--;
        return number(l);
      }
      return l.peek() === END_OF_INPUT ? numberAfterDot(l) : fieldOrVariable(l, 'field');
    case '(':
      l.parenDepth++;
      return l.emit('leftParen');
    case ')':
      return --l.parenDepth < 0 ? l.fail('unexpected right paren') : l.emit('rightParen');
    default:
      if (rune < 0x80 && isPrint(rune)) return l.emit('char');
      return l.fail('unrecognized character in action: ' + showRune(rune));
  }
}

/** A dot that ends the input goes to the number scanner. */
function numberAfterDot(l: Lexer): Token {
  l.pos--;
  return number(l);
}

/** A run of space; a space that belongs to a trimming right delimiter is left for it. */
function space(l: Lexer): Token {
  let count = 0;
  let last = l.pos;
  while (isSpace(l.peek())) {
    last = l.pos;
    l.take();
    count++;
  }
  const end = l.pos;
  l.pos = last;
  if (l.atRightDelim().trims) {
    if (count === 1) return l.rightDelim();
    return l.emit('space');
  }
  l.pos = end;
  return l.emit('space');
}

function identifier(l: Lexer): Token {
  while (isAlphaNumeric(l.peek())) l.take();
  const word = l.current();
  if (!atTerminator(l)) return l.fail('bad character ' + showRune(l.peek()));
  const keyword = KEYWORDS.get(word);
  if (keyword !== undefined && !l.functions.has(word)) return l.emit(keyword);
  return l.emit(word === 'true' || word === 'false' ? 'bool' : 'identifier');
}

/** `.name` or `$name`; alone, the dot and the root variable. */
function fieldOrVariable(l: Lexer, kind: 'field' | 'variable'): Token {
  if (atTerminator(l)) return l.emit(kind === 'variable' ? kind : 'dot');
  while (isAlphaNumeric(l.peek())) l.take();
  return atTerminator(l) ? l.emit(kind) : l.fail('bad character ' + showRune(l.peek()));
}

const TERMINATORS: ReadonlySet<number> = new Set(Array.from('.,|:)(', c => c.charCodeAt(0)));

/** What may follow a name. */
function atTerminator(l: Lexer): boolean {
  const rune = l.peek();
  if (rune === END_OF_INPUT || isSpace(rune)) return true;
  return TERMINATORS.has(rune) || l.startsWith(l.right);
}

function quoted(l: Lexer, mark: string, kind: TokenKind, problem: string): Token {
  for (;;) {
    let rune = l.take();
    if (rune === mark.charCodeAt(0)) return l.emit(kind);
    if (rune === 92) rune = l.take();
    if (rune === END_OF_INPUT || rune === 10) return l.fail(problem);
  }
}

function rawQuoted(l: Lexer): Token {
  for (;;) {
    const rune = l.take();
    if (rune === END_OF_INPUT) return l.fail('unterminated raw quoted string');
    if (rune === 0x60) return l.emit('rawString');
  }
}

const DECIMAL = '0123456789_';
const HEX = '0123456789abcdefABCDEF_';

function number(l: Lexer): Token {
  if (!scanNumber(l)) return badNumber(l);
  if (!l.startsWith('+') && !l.startsWith('-')) return l.emit('number');
  return scanNumber(l) && l.current().endsWith('i') ? l.emit('complex') : badNumber(l);
}

const badNumber = (l: Lexer): Token => l.fail('bad number syntax: ' + quote(l.current()));

/** Takes what looks like a number, right or wrong; the parser reads it. False when a letter or digit follows. */
function scanNumber(l: Lexer): boolean {
  l.accept('+-');
  let digits = DECIMAL;
  if (l.accept('0')) {
    if (l.accept('xX')) digits = HEX;
    else if (l.accept('oO')) digits = '01234567_';
    else if (l.accept('bB')) digits = '01_';
  }
  l.acceptRun(digits);
  if (l.accept('.')) l.acceptRun(digits);
  const exponent = digits === DECIMAL ? 'eE' : digits === HEX ? 'pP' : '';
  if (exponent !== '' && l.accept(exponent)) {
    l.accept('+-');
    l.acceptRun(DECIMAL);
  }
  l.accept('i');
  if (!isAlphaNumeric(l.peek())) return true;
  l.take();
  return false;
}
