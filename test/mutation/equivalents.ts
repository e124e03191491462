/** Mutants that no input tells from the original, each under its reason: `equivalents.json` has them by concern. */
import equivalents from './equivalents.json' with { type: 'json' };

/** By concern and reason, as `main.ts` prints them. */
const EQUIVALENTS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = equivalents;

/** The reason why a test cannot notice a change, by the change. */
export const equivalentsOf = (concern: string): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(EQUIVALENTS[concern] ?? {}).flatMap(([reason, changes]) =>
      changes.map(change => [change, reason] as const),
    ),
  );
