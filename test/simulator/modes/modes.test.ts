/** A mode belongs to its block: what one policy more may change, over the whole system and random worlds. `MODE_CASES` asks for more of them. */
import type * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutStacks } from '../../builders/without-stacks.ts';
import { counterexample } from './counterexample.ts';
import {
  holdsStay,
  keepsInvariants,
  observedAddsNoWrite,
  ofOneBlockAlone,
  runTwice,
  type ModeProperty,
} from './properties.ts';
import { observing, ofOneBlock, type DrawnPolicy } from './world.ts';

withoutStacks();

const CASES = Number(process.env['MODE_CASES'] ?? 16);
const SEED = Number(process.env['MODE_SEED'] ?? 1);
/** Of one world, twice. */
const TIMEOUT_MS = 20_000;

const complaint = (
  added: fc.Arbitrary<DrawnPolicy>,
  ...properties: readonly ModeProperty[]
): Promise<string | undefined> =>
  counterexample({ added, cases: CASES, seed: SEED }, async world => {
    const pair = await runTwice(world);
    return [...properties, keepsInvariants].map(each => each(pair)).find(text => text !== undefined);
  });

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
