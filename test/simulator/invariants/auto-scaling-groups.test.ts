/** The checks of I3 and I5 cover nodes without NodeClaims, too: they notice these mistakes themselves, not an expectation of a file. */
import { expect, it } from 'vitest';
import { findByScenario } from '../../mutants/by-scenario.ts';
import { MUTANTS } from '../../mutants/mutants.ts';
import { withoutStacks } from '../../builders/without-stacks.ts';

withoutStacks();

it.each([
  ['repair-limits-of-node-claims-alone', /^I3: .* 1 are under way in its cluster, 1 may be$/],
  ['repair-ends-any-instance', /^I3: .* no NodeClaim stands for it$/],
  ['repair-leaves-groups-alone', /^I5: .* could be repaired since .* and is not$/],
])('%s', async (name, said) => {
  const mutant = MUTANTS.find(each => each.name === name);
  expect(mutant && (await findByScenario(mutant))).toMatch(said);
});
