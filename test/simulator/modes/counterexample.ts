/** Random worlds until one contradicts a property. */
import * as fc from 'fast-check';
import { worlds, type DrawnPolicy, type World } from './world.ts';

export interface Search {
  /** Which policies come beside those that are there. */
  readonly added: fc.Arbitrary<DrawnPolicy>;
  /** How many worlds. */
  readonly cases: number;
  readonly seed: number;
  /** Does not look for a smaller world than the first that fails. */
  readonly isRaw?: boolean;
}

/** What contradicts the property, with the smallest world in which something does; undefined: it holds. @param complaint of one world */
export async function counterexample(
  { added, cases, seed, isRaw = false }: Search,
  complaint: (world: World) => Promise<string | undefined>,
): Promise<string | undefined> {
  const property = fc.asyncProperty(worlds(added), async world => {
    const found = await complaint(world);
    if (found !== undefined) throw new Error(found);
  });
  const details = await fc.check(property, { numRuns: cases, seed, endOnFailure: isRaw });
  return details.failed ? `${String(details.errorInstance)}\n${fc.defaultReportMessage(details)}` : undefined;
}
