/** The known name that a misspelt one was probably meant to be. */

/** A name that is further away than this share of its length was hardly meant. */
const MAX_SHARE = 0.4;
/** Nobody misspells more than this; bounds the work on names of any length. */
const MAX_LENGTH = 100;

/** The nearest of `known` by edit distance, where case counts for nothing; undefined when none is near. Ties go to the first. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance <= candidate.length * MAX_SHARE && (best === undefined || distance < best.distance)) {
      best = { name: candidate, distance };
    }
  }
  return best?.name;
}

/** In a name of fewer letters, two slips of the finger make any other. */
const SHORT_NAME = 5;

/** Whether the name is none of `known` and a slip or two from one of them, so that it must be meant: for lists to which others may add. */
export function isMisspelling(name: string, known: readonly string[]): boolean {
  if (known.includes(name)) return false;
  const nearest = nearestName(name, known);
  const slips = name.length < SHORT_NAME ? 1 : 2;
  return nearest !== undefined && editDistance(name.toLowerCase(), nearest.toLowerCase()) <= slips;
}

/** `, did you mean "X"?`, or nothing. */
export const didYouMean = (name: string | undefined): string =>
  name === undefined ? '' : `, did you mean ${JSON.stringify(name)}?`;

/** `, did you mean "X"?` with the nearest known name, or nothing. */
export const suggestion = (name: string, known: readonly string[]): string => didYouMean(nearestName(name, known));

/** Insertions, deletions, substitutions and swaps of neighbours that make `b` of `a`. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      current.push(cost);
    }
    [beforeLast, last] = [last, current];
  }
  return at(last, b.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? 0;
