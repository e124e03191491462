/** `html`, `js` and `urlquery`. */
import { type Args, sprint } from '../fmt/sprintf.ts';
import type { Budget } from '../limits.ts';
import { type Bytes, decodeRune } from '../text/bytes.ts';
import { isPrint } from '../text/unicode.ts';
import { printable } from '../exec/printable.ts';
import { asString } from '../types/value.ts';
import { STRING } from '../types/type.ts';

/** The arguments as one text: one string as it is, anything else as `print` shows it. */
function textOf(budget: Budget, args: Args): Bytes {
  const [only] = args;
  if (args.length === 1 && only?.type === STRING) return asString(only);
  return sprint(
    budget,
    args.map(arg => (printable(arg) ?? { value: arg }).value),
  );
}

const HTML: Readonly<Record<string, Bytes>> = {
  '\0': '\xef\xbf\xbd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};

/** As `HTMLEscaper` in `text/template/funcs.go`; a NUL becomes U+FFFD. */
export function html(budget: Budget, args: Args): Bytes {
  const text = textOf(budget, args);
  budget.text(text.length);
  return text.replaceAll(/[\0"'&<>]/g, c => HTML[c]!);
}

const hex = (n: number, digits: number): string => n.toString(16).toUpperCase().padStart(digits, '0');

/** As `JSEscaper` in `text/template/funcs.go`. */
export function js(budget: Budget, args: Args): Bytes {
  const text = textOf(budget, args);
  budget.text(text.length);
  let out = '';
  for (let i = 0; i < text.length;) {
    const [rune, width] = decodeRune(text, i);
    const c = text.slice(i, i + width);
    if (rune >= 0x80) out += isPrint(rune) ? c : '\\u' + hex(rune, 4);
    else if (/[\\'"]/.test(c)) out += '\\' + c;
    else if (/[<>&=]/.test(c) || rune < 0x20) out += '\\u' + hex(rune, 4);
    else out += c;
    i += width;
  }
  return out;
}

/** As `url.QueryEscape`: a space becomes `+`. */
export function urlquery(budget: Budget, args: Args): Bytes {
  const text = textOf(budget, args);
  budget.text(text.length);
  return text.replaceAll(/[^A-Za-z0-9\-_.~]/g, c => (c === ' ' ? '+' : '%' + hex(c.charCodeAt(0), 2)));
}
