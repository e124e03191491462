/** Numbers and text by verb; false where the verb is not for them. */
import type { Bytes } from '../text/bytes.ts';
import type { Complex } from '../types/value.ts';
import type { Writer } from './writer.ts';

export function printInteger(out: Writer, n: bigint, isUnsigned: boolean, verb: string): boolean {
  switch (verb) {
    case 'v':
      if (out.flags.sharpV && isUnsigned) printHex(out, n, true);
      else out.integer(n, 10);
      return true;
    case 'd':
      out.integer(n, 10);
      return true;
    case 'b':
      out.integer(n, 2);
      return true;
    case 'o':
    case 'O':
      out.integer(n, 8, false, verb === 'O');
      return true;
    case 'x':
    case 'X':
      out.integer(n, 16, verb === 'X');
      return true;
    case 'c':
      out.character(n);
      return true;
    case 'q':
      out.quotedCharacter(n);
      return true;
    case 'U':
      out.unicode(BigInt.asUintN(64, n));
      return true;
    default:
      return false;
  }
}

/** Hexadecimal, with or without 0x whatever the flags say. */
export function printHex(out: Writer, n: bigint, leading0x: boolean): void {
  const { sharp } = out.flags;
  out.flags.sharp = leading0x;
  out.integer(n, 16);
  out.flags.sharp = sharp;
}

/** Without a precision: the shortest text that reads back the same for `%v` and `%g`, 6 digits for `%f` and `%e`. */
export function printFloat(out: Writer, x: number, verb: string): boolean {
  if (verb === 'v') out.float(x, 'g', -1);
  else if ('bgGxX'.includes(verb)) out.float(x, verb, -1);
  else if ('feE'.includes(verb)) out.float(x, verb, 6);
  else if (verb === 'F') out.float(x, 'f', 6);
  else return false;
  return true;
}

export function printComplex(out: Writer, { re, im }: Complex, verb: string): boolean {
  if (!'vbgGxXfFeE'.includes(verb)) return false;
  const { plus } = out.flags;
  out.write('(');
  printFloat(out, re, verb);
  out.flags.plus = true;
  printFloat(out, im, verb);
  out.write('i)');
  out.flags.plus = plus;
  return true;
}

export function printText(out: Writer, text: Bytes, verb: string): boolean {
  if (verb === 's' || (verb === 'v' && !out.flags.sharpV)) out.string(text);
  else if (verb === 'q' || verb === 'v') out.quoted(text);
  else if (verb === 'x' || verb === 'X') out.hexBytes(text, verb === 'X');
  else return false;
  return true;
}
