/** What must not matter does not, over the whole system and random worlds. `META_CASES` asks for more of them, `META_SEED` for others. */
import { describe, expect, it } from 'vitest';
import { withoutStacks } from '../../builders/without-stacks.ts';
import { counterexample } from '../modes/counterexample.ts';
import { documentOf, ofOneBlock } from '../modes/world.ts';
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
      const search = { added: ofOneBlock, cases: CASES, seed: SEED, isRaw: process.env['META_SHRINK'] === 'no' };
      const found = counterexample(search, world => contradiction(relation, documentOf(world, true), world));
      expect(await found).toBeUndefined();
    },
    CASES * TIMEOUT_MS,
  );
});
