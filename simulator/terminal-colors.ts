/** Colours for standard output: on a terminal only, and not where the user said NO_COLOR. A CI system is no terminal. */
import { createColors } from 'picocolors';

type Variables = Readonly<Partial<Record<string, string>>>;

/** Whether it shows colours and can take a line back: no pipe, which has no `isTTY`, and no terminal that says it is dumb, as that of an editor. */
export function isCapable(stream: { readonly isTTY?: boolean }, { TERM }: Variables = process.env): boolean {
  return stream.isTTY === true && TERM !== 'dumb';
}

/** https://no-color.org: an empty NO_COLOR says nothing. */
export function wantsColors(stream: { readonly isTTY?: boolean }, env: Variables = process.env): boolean {
  return isCapable(stream, env) && !env['NO_COLOR'];
}

export const isTerminal = isCapable(process.stdout);

export const colors = createColors(wantsColors(process.stdout));
