/** What must not matter does not, over the whole system and random worlds. `META_CASES` asks for more of them, `META_SEED` for others. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutStacks } from '../../builders/without-stacks.ts';
import { documentOf, ofOneBlock, worlds } from '../modes/world.ts';
import { RELATIONS } from './relations.ts';
import { contradiction, type Relation } from './telling.ts';

withoutStacks();

const CASES = Number(process.env['META_CASES'] ?? 8);
const SEED = Number(process.env['META_SEED'] ?? 1);
/** Of one world, told twice. */
const TIMEOUT_MS = 20_000;

describe('what must not matter', () => {
  it.each(Object.values(RELATIONS).map((relation: Relation) => [relation.name, relation] as const))(
    '%s',
    async (_, relation) => {
      const property = fc.asyncProperty(worlds(ofOneBlock), async world => {
        const found = await contradiction(relation, documentOf(world, true), world);
        if (found !== undefined) throw new Error(found);
      });
      const details = await fc.check(property, {
        numRuns: CASES,
        seed: SEED,
        endOnFailure: process.env['META_SHRINK'] === 'no',
      });
      expect(
        details.failed ? `${String(details.errorInstance)}\n${fc.defaultReportMessage(details)}` : undefined,
      ).toBeUndefined();
    },
    CASES * TIMEOUT_MS,
  );
});
