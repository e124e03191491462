/** Colours for standard output: on a terminal only, and not where the user said NO_COLOR. A CI system is no terminal. */
import { createColors } from 'picocolors';

/** A pipe has no `isTTY`. */
export const isTerminal = 'isTTY' in process.stdout && process.stdout.isTTY;

export const colors = createColors(isTerminal && process.env['NO_COLOR'] === undefined);
