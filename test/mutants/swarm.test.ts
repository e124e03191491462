/**
 * The checks can fail: realistic mistakes are put in one at a time, and the swarm finds each. Only those that few seeds find are
 * tried here; `npm run simulate:swarm -- --mutants` tries all of them for longer.
 */
import { describe, expect, it } from 'vitest';
import { runTrial, trialOf } from '../../local/sim/swarm/seed.ts';
import { MUTANTS } from './mutants.ts';

const SEEDS = Array.from({ length: 30 }, (_, index) => index + 1);

const FOUND_SOON = [
  'repair-without-second-look',
  'repair-from-cache',
  'repair-without-uid',
  'repair-a-second-early',
  'repair-above-threshold',
  'repair-threshold-rounds-down',
  'repair-threshold-exclusive',
  'repair-threshold-of-healthy-pool',
  'repair-in-observe-mode',
  'repair-without-intent',
  'repair-takes-errors-for-nothing',
  'protection-ends-early',
  'protection-keeps-the-node',
  'protection-takes-foreign-annotation',
  'protection-overwrites-annotation',
  'protection-takes-errors-for-no-pods',
  'protection-without-precondition',
  'protection-without-timer',
  'timer-reads-one-shard',
];

describe('the swarm', () => {
  it.each(FOUND_SOON)(
    'finds %s',
    async name => {
      const mutant = MUTANTS.find(known => known.name === name);
      if (mutant === undefined) throw new Error(`there is no mutant ${name}`);
      for (const seed of SEEDS) {
        const { failure } = await runTrial(trialOf(seed), mutant.mutation);
        if (failure !== undefined) return expect(failure.invariant).toMatch(/^I\d+$/);
      }
      expect.fail(`${mutant.mistake}: not found with ${SEEDS.length} seeds`);
    },
    60_000,
  );

  it('finds nothing where there is no mistake', async () => {
    for (const seed of SEEDS.slice(0, 10)) expect((await runTrial(trialOf(seed))).failure).toBeUndefined();
  }, 60_000);
});
