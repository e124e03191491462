/**
 * Message literals of CEL (`JSONPatch{op: "add"}`, `Object.metadata{finalizers: []}`), which the CEL library does not parse: each is
 * rewritten as a call of `newMessage` with its type and a map. What stands in texts and comments is left alone.
 */

/** A text (raw, triple-quoted or plain), a comment, a name with its dots, or one character of anything else. */
const TOKEN =
  /[rRbB]?(?:"""[^]*?"""|'''[^]*?''')|[rR](?:"[^"\n]*"|'[^'\n]*')|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\/\/[^\n]*|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*|\s+|[^]/g;
const NAME = /^[A-Za-z_]/;
/** A name that a map may follow. */
const OPERATOR = 'in';

/** The expression without message literals. */
export function withoutMessageLiterals(expression: string): string {
  if (!expression.includes('{')) return expression;
  const tokens = expression.match(TOKEN) ?? [];
  const open: ('message' | 'other')[] = [];
  let written = '';
  /** True where a field name of a message may stand. */
  let atField = false;
  for (const [index, token] of tokens.entries()) {
    const isBlank = /^\s|^\/\//.test(token);
    const next = tokens.slice(index + 1).find(each => !/^\s|^\/\//.test(each));
    if (isBlank || token === '?') {
      written += token;
      continue;
    }
    if (isName(token) && next === '{' && token !== OPERATOR) {
      written += `newMessage("${token}", `;
      atField = false;
      open.push('message');
      continue;
    }
    const isField = atField && isName(token) && next === ':';
    written += isField ? JSON.stringify(token) : token;
    atField = false;
    if (token === '{' && open.at(-1) === 'message' && isLiteralOpening(tokens, index)) atField = true;
    else if (token === '{' || token === '(' || token === '[') open.push('other');
    else if (token === '}' || token === ')' || token === ']') {
      if (open.pop() === 'message') written += ')';
    } else if (token === ',') atField = open.at(-1) === 'message';
  }
  return written;
}

/** True for the brace right after the name of a message. */
function isLiteralOpening(tokens: readonly string[], brace: number): boolean {
  const before = tokens.slice(0, brace).findLast(each => !/^\s|^\/\//.test(each));
  return before !== undefined && isName(before) && before !== OPERATOR;
}

function isName(token: string): boolean {
  return NAME.test(token) && !/["']$/.test(token);
}
