/** Finds a mistake by a property of modes: the first of some worlds in which one policy more changes what it must not. */
import * as fc from 'fast-check';
import { holdsStay, observedAddsNoWrite, ofOneBlockAlone, runTwice } from '../simulator/modes/properties.ts';
import { observing, ofOneBlock, worlds } from '../simulator/modes/world.ts';
import type { Mutant } from './mutant.ts';

const PROPERTIES = {
  'observed-adds-no-write': { holds: observedAddsNoWrite, added: observing },
  'one-block-alone': { holds: ofOneBlockAlone, added: ofOneBlock },
  'holds-stay': { holds: holdsStay, added: observing },
};
export type PropertyName = keyof typeof PROPERTIES;

/** Some of these are among the worlds of the tests. */
const WORLDS = { numRuns: 60, seed: 1 };

/** What noticed the mistake, in words; undefined when nothing did, or when no property is known for it. */
export async function findByProperty({ property, mutation }: Mutant): Promise<string | undefined> {
  if (property === undefined) return undefined;
  const { holds, added } = PROPERTIES[property];
  for (const [index, world] of fc.sample(worlds(added), WORLDS).entries()) {
    const complaint = holds(await runTwice(world, mutation));
    if (complaint !== undefined) return `world ${index}: ${complaint}`;
  }
  return undefined;
}
