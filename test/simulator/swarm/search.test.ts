/** Variations of trials, and the search among them. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isValid } from '../../../simulator/swarm/valid.ts';
import { search, type SearchPlan } from '../../../simulator/swarm/search.ts';
import { trialOf } from '../../../simulator/swarm/seed.ts';
import { isTrialName, trialNamed } from '../../../simulator/swarm/variation.ts';
import { withoutStacks } from '../../builders/without-stacks.ts';

withoutStacks();

const TIMEOUT_MS = 120_000;
const segment = fc.integer({ min: 1, max: 40 });
const names = fc
  .tuple(fc.integer({ min: 1, max: 150 }), fc.array(segment, { minLength: 1, maxLength: 3 }))
  .map(parts => parts.flat().join('.'));

describe('a variation', () => {
  it(
    'has a name that makes it, always the same, in the order of time, and as valid as its seed',
    () => {
      fc.assert(
        fc.property(names, name => {
          const trial = trialNamed(name);
          expect(trialNamed(name)).toEqual(trial);
          const times = trial.scenario.steps.map(({ time }) => time);
          expect(times).toEqual(times.toSorted((a, b) => a - b));
          expect(times.every(time => time >= trial.scenario.start && time <= trial.scenario.end)).toBe(true);
          expect(isValid(trial.scenario)).toBe(true);
        }),
        { numRuns: 25, seed: 1 },
      );
    },
    TIMEOUT_MS,
  );

  it('differs from what it varies', () => {
    const others = Array.from({ length: 20 }, (_, index) => JSON.stringify(trialNamed(`7.${index + 1}`)));
    expect(others).not.toContain(JSON.stringify(trialOf(7)));
    expect(new Set(others).size).toBeGreaterThan(15);
  });

  it('of nothing is refused', () => {
    expect(['', '.', '1.', '.1', '1..2', 'a', '-1', '1.x'].filter(isTrialName)).toEqual([]);
    expect(() => trialNamed('1.x')).toThrow('1.x is no seed and no variation of one');
  });
});

describe('the search', () => {
  const plan: SearchPlan = { from: ['3', '5'], variations: 3, jobs: 1, seed: 1 };

  it(
    'varies what reached something new, and keeps what reaches more',
    async () => {
      const seen: { name: string; isNew: boolean }[] = [];
      const { kept, reached, failing } = await search(plan, ({ name, blocks }) =>
        seen.push({ name, isNew: blocks.length > 0 }),
      );
      expect(seen.map(({ name }) => name).slice(0, 2)).toEqual(['3', '5']);
      expect(seen).toHaveLength(5);
      expect(seen.slice(2).every(({ name }) => /^[35]\.\d/.test(name))).toBe(true);
      expect(kept).toEqual(seen.filter(({ isNew }) => isNew).map(({ name }) => name));
      expect(kept).toContain('3');
      expect(reached.first).toBeGreaterThan(1000);
      expect(reached.all).toBeGreaterThanOrEqual(reached.first);
      expect(failing).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
