/**
 * The checks can fail: realistic mistakes are put in one at a time, and the swarm finds each. `npm run mutants`
 * tells the first seed for each, among the seeds of continuous integration.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ALL_CI_SEEDS } from '../../simulator/swarm/ci.ts';
import { runTrial, trialOf, type Failure } from '../../simulator/swarm/seed.ts';
import { findByProperty } from '../mutants/by-property.ts';
import { findByScenario } from '../mutants/by-scenario.ts';
import { MUTANTS, mutationOf } from '../mutants/mutants.ts';
import { MUTANTS_DOCUMENT, mutantsDocument } from '../mutants/table.ts';
import { withoutStacks } from '../builders/without-stacks.ts';

withoutStacks();

/** Those with a seed that finds them. `npm run mutants` looks for seeds of the others and names those that it did not find. */
const KNOWN = MUTANTS.flatMap(mutant => (mutant.seed === undefined ? [] : [{ ...mutant, seed: mutant.seed }]));
/** Where the known seed does not find it any more, because the code draws its chances in another order, another mutant's may. */
const SEEDS = [...new Set(KNOWN.map(({ seed }) => seed))];
const TIMEOUT_MS = 120_000;

async function find({ seed, mutation }: (typeof KNOWN)[number]): Promise<Failure | undefined> {
  for (const candidate of new Set([seed, ...SEEDS])) {
    const { failure } = await runTrial(trialOf(candidate), mutation);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

describe('the swarm finds a Curfew that', () => {
  it.each(KNOWN.map(mutant => [mutant.mistake, mutant] as const))(
    '%s',
    async (_mistake, mutant) => {
      const failure = await find(mutant);
      expect(failure?.message ?? `nothing found: look for a seed with npm run mutants`).not.toMatch(/^nothing found/);
      expect(mutant.breaks).toContain(failure?.invariant);
    },
    TIMEOUT_MS,
  );

  it('does nothing wrong is tried with the same seeds: the swarm of continuous integration has them all', () => {
    expect(SEEDS.filter(seed => !ALL_CI_SEEDS.includes(seed))).toEqual([]);
  });
});

describe('an example scenario finds a Curfew that', () => {
  it.each(MUTANTS.filter(({ scenario }) => scenario !== undefined).map(mutant => [mutant.mistake, mutant] as const))(
    '%s',
    async (_mistake, mutant) => {
      expect(await findByScenario(mutant)).toBeDefined();
    },
    TIMEOUT_MS,
  );
});

describe('a property of two runs finds a Curfew that', () => {
  it.each(MUTANTS.filter(({ property }) => property !== undefined).map(mutant => [mutant.mistake, mutant] as const))(
    '%s',
    async (_mistake, mutant) => {
      expect(await findByProperty(mutant)).toBeDefined();
    },
    TIMEOUT_MS,
  );
});

describe('the mutants', () => {
  it('stand in a document with what finds each: npm run mutants -- --document', () => {
    expect(readFileSync(MUTANTS_DOCUMENT, 'utf8')).toBe(mutantsDocument(MUTANTS));
  });

  it('are found, each by a seed, a scenario or a property', () => {
    const unknown = MUTANTS.filter(each => (each.seed ?? each.scenario ?? each.property) === undefined);
    expect(unknown.map(({ name }) => name)).toEqual([]);
  });

  it('have names of their own, by which a thread finds them', () => {
    const names = MUTANTS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, mutation } of MUTANTS) expect(mutationOf(name)).toBe(mutation);
    expect(() => mutationOf('nobody')).toThrow('there is no mutant nobody');
  });
});
