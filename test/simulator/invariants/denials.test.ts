/** What an admission policy denies is waited for as long as it does, tried again ever less often, and said; so is what holds a repair. */
import { describe, expect, it } from 'vitest';
import { findByScenario } from '../../mutants/by-scenario.ts';
import { DENIAL_MUTANTS } from '../../mutants/denials.ts';

const WORDS: Readonly<Record<string, RegExp>> = {
  'refused-as-often-as-ever': /^I8: grace-period patches nodes n1: denied 31 times within an hour/,
  'refused-evictions-as-often-as-ever': /^I8: drain evicts pods prod\/a \S+: denied 31 times within an hour/,
  'missing-permission-asked-for-by-every-pod':
    /^I8: drain evicts several pods a minute, although it must not evict any/,
  'evictions-that-find-no-pod-uncounted': /^I8: drain evicts pods prod\/a \S+: failed 51 times within an hour/,
  'refused-forced-deletions-as-often-as-ever':
    /^I8: finalizer deletes pods prod\/a \S+: denied 31 times within an hour/,
  'refused-and-said-each-time': /^I8: NodeChangeRefused is said of n1 again after \d+ min: /,
  'refused-in-silence': /^I6: grace-period patches nodes n1 is denied since .*, and no Event says so: Valid.* 'keep'/,
  'refused-and-given-up': /^I5: Node n1 .* is held for no pod since /,
  'held-in-silence': /^I6: the repair of Node .* is held, and no Event says so since .*: it is vetoed$/,
};

describe('an invariant notices, before any expectation of a file, a Curfew that', () => {
  it.each(DENIAL_MUTANTS.map(mutant => [mutant.mistake, mutant] as const))('%s', async (_, mutant) => {
    expect(await findByScenario(mutant)).toMatch(WORDS[mutant.name] ?? /^never$/);
  });
});
