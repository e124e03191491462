/** What the lexer hands to the parser. */
import { firstRunes, type Bytes } from '../text/bytes.ts';
import { quote } from '../text/quote.ts';

export type TokenKind =
  | 'error'
  | 'bool'
  | 'char'
  | 'charConstant'
  | 'comment'
  | 'complex'
  | 'assign'
  | 'declare'
  | 'eof'
  | 'field'
  | 'identifier'
  | 'leftDelim'
  | 'leftParen'
  | 'number'
  | 'pipe'
  | 'rawString'
  | 'rightDelim'
  | 'rightParen'
  | 'space'
  | 'string'
  | 'text'
  | 'variable'
  | Keyword;

export type Keyword =
  'block' | 'break' | 'continue' | 'dot' | 'define' | 'else' | 'end' | 'if' | 'nil' | 'range' | 'template' | 'with';

export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map([
  ['.', 'dot'],
  ...(['block', 'break', 'continue', 'define', 'else', 'end', 'if', 'nil', 'range', 'template', 'with'] as const).map(
    word => [word, word] as const,
  ),
]);

const keywords: ReadonlySet<TokenKind> = new Set(KEYWORDS.values());

export interface Token {
  readonly kind: TokenKind;
  /** Where it starts, in bytes from the start of the text. */
  readonly pos: number;
  /** Its text; for an error, what is wrong. */
  readonly text: Bytes;
  readonly line: number;
}

/** The token as Go's messages show it. */
export function showToken(token: Token): Bytes {
  if (token.kind === 'eof') return 'EOF';
  if (token.kind === 'error') return token.text;
  if (keywords.has(token.kind)) return `<${token.text}>`;
  return token.text.length > 10 ? quote(firstRunes(token.text, 10)) + '...' : quote(token.text);
}
