/** Finds a mistake by a property: the first of some worlds in which something matters that must not. */
import * as fc from 'fast-check';
import { RELATIONS } from '../simulator/metamorphic/relations.ts';
import { contradiction, type Relation } from '../simulator/metamorphic/telling.ts';
import {
  holdsStay,
  observedAddsNoWrite,
  ofOneBlockAlone,
  runTwice,
  type ModeProperty,
} from '../simulator/modes/properties.ts';
import { documentOf, observing, ofOneBlock, worlds, type DrawnPolicy, type World } from '../simulator/modes/world.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import type { Mutant } from './mutant.ts';

interface Property {
  /** The policy of each world that is not always there. */
  readonly added: fc.Arbitrary<DrawnPolicy>;
  /** What contradicts it, in words. */
  readonly complaint: (world: World, mutation: Mutation) => Promise<string | undefined>;
}

const ofModes = (added: fc.Arbitrary<DrawnPolicy>, holds: ModeProperty): Property => ({
  added,
  complaint: async (world, mutation) => holds(await runTwice(world, mutation)),
});

const MODES = {
  'observed-adds-no-write': ofModes(observing, observedAddsNoWrite),
  'one-block-alone': ofModes(ofOneBlock, ofOneBlockAlone),
  'holds-stay': ofModes(observing, holdsStay),
};

export type PropertyName = keyof typeof MODES | keyof typeof RELATIONS;

function propertyOf(name: PropertyName): Property {
  if (name in MODES) return MODES[name as keyof typeof MODES];
  const relation: Relation = RELATIONS[name as keyof typeof RELATIONS];
  return {
    added: ofOneBlock,
    complaint: (world, mutation) => contradiction(relation, documentOf(world, true), world, mutation),
  };
}

/** Some of these are among the worlds of the tests. */
const WORLDS = { numRuns: 60, seed: 1 };

/** What noticed the mistake, in words; undefined when nothing did, or when no property is known for it. */
export async function findByProperty({ property, mutation }: Mutant): Promise<string | undefined> {
  if (property === undefined) return undefined;
  const { added, complaint } = propertyOf(property);
  for (const [index, world] of fc.sample(worlds(added), WORLDS).entries()) {
    const found = await complaint(world, mutation);
    if (found !== undefined) return `world ${index}: ${found}`;
  }
  return undefined;
}
