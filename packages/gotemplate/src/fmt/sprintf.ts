/** `fmt.Sprint`, `Sprintln` and `Sprintf`. */
import { Budget, DEFAULT_LIMITS } from '../limits.ts';
import type { Bytes } from '../text/bytes.ts';
import { type Args, Formatter } from './formatter.ts';
import { Printer } from './printer.ts';

export type { Args } from './formatter.ts';

/** Operands in their default format; a space between two of which neither is a string. */
export function sprint(budget: Budget, args: Args): Bytes {
  const printer = new Printer(budget);
  let afterString = false;
  for (const [i, arg] of args.entries()) {
    const isString = arg?.type.kind === 'string';
    if (i > 0 && !isString && !afterString) printer.out.write(' ');
    printer.arg(arg, 'v');
    afterString = isString;
  }
  return printer.out.text;
}

/** Operands with spaces between them and a newline. */
export function sprintln(budget: Budget, args: Args): Bytes {
  const printer = new Printer(budget);
  for (const [i, arg] of args.entries()) {
    if (i > 0) printer.out.write(' ');
    printer.arg(arg, 'v');
  }
  printer.out.write('\n');
  return printer.out.text;
}

/**
 * Never throws for a wrong verb or argument: Go writes `%!d(string=x)` into the text. What it throws above the
 * budget leaves the package as a `LimitError`.
 */
export function sprintf(budget: Budget, format: Bytes, args: Args): Bytes {
  return new Formatter(budget, format, args).run();
}

/** `Sprintf` for this package's own messages. */
export function formatText(format: Bytes, args: Args): Bytes {
  return sprintf(new Budget({ ...DEFAULT_LIMITS, outputBytes: Infinity, steps: Infinity }), format, args);
}
