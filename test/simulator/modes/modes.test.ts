/** A mode belongs to its block: what one policy more may change, over the whole system and random worlds. `MODE_CASES` asks for more of them. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutStacks } from '../../builders/without-stacks.ts';
import {
  holdsStay,
  keepsInvariants,
  observedAddsNoWrite,
  ofOneBlockAlone,
  runTwice,
  type ModeProperty,
} from './properties.ts';
import { observing, ofOneBlock, worlds, type DrawnPolicy } from './world.ts';

withoutStacks();

const CASES = Number(process.env['MODE_CASES'] ?? 16);
const SEED = Number(process.env['MODE_SEED'] ?? 1);
/** Of one world, twice. */
const TIMEOUT_MS = 20_000;

/** What contradicts them in the smallest world in which something does; undefined: they hold. */
async function complaint(
  added: fc.Arbitrary<DrawnPolicy>,
  ...properties: readonly ModeProperty[]
): Promise<string | undefined> {
  const property = fc.asyncProperty(worlds(added), async world => {
    const pair = await runTwice(world);
    const found = [...properties, keepsInvariants].map(each => each(pair)).find(text => text !== undefined);
    if (found !== undefined) throw new Error(found);
  });
  const details = await fc.check(property, { numRuns: CASES, seed: SEED });
  return details.failed ? fc.defaultReportMessage(details) : undefined;
}

describe('one policy more', () => {
  it(
    'in mode Observe adds no write, and changes no hold of protection',
    async () => expect(await complaint(observing, observedAddsNoWrite, holdsStay)).toBeUndefined(),
    CASES * TIMEOUT_MS,
  );

  it(
    'that states one block changes no write that follows from another, and of its own only where it is the most specific',
    async () => expect(await complaint(ofOneBlock, ofOneBlockAlone)).toBeUndefined(),
    CASES * TIMEOUT_MS,
  );
});
