/** Mistakes that show only when two functions meet at one Node: each situation has one that it finds. */
import { expect, it } from 'vitest';
import { explore, SMALLEST_BOUNDS } from '../../simulator/explorer/explore.ts';
import { TWO_FUNCTIONS_SITUATIONS } from '../../simulator/explorer/situations/two-functions.ts';
import { invariant } from '../../shared/errors.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { GIVES_CONDITIONS_UP, writesNodesBack } from '../mutants/two-functions.ts';

const TIMEOUT_MS = 60_000;

const FOUND: readonly (readonly [situation: string, mistake: string, mutation: Mutation, reason: RegExp])[] = [
  [
    'the fault is over while the termination of the drained node begins',
    'a termination that gives a condition up when somebody else wrote meanwhile',
    GIVES_CONDITIONS_UP,
    /nodes\/\/n1 .*"status":\{\}/,
  ],
  [
    'our finalizer is put on while a protected pod comes',
    'a finalizer that writes Nodes back as it read them',
    writesNodesBack('finalizer'),
    /I5: Node n1 .* has a pod that is protected for a time, and is not held/,
  ],
  [
    'a protected pod goes while its node is terminated, and another one holds that up',
    'a termination that gives a condition up when somebody else wrote meanwhile',
    GIVES_CONDITIONS_UP,
    /nodes\/\/n1 .*"status":\{\}/,
  ],
  [
    'a protected pod comes while a drain begins',
    'a drain that writes Nodes back as it read them',
    writesNodesBack('drain'),
    /I5: Node n1 .* has a pod that is protected for a time, and is not held/,
  ],
];

it.each(FOUND)(
  '%s: finds %s',
  async (name, _mistake, mutation, reason) => {
    const situation = TWO_FUNCTIONS_SITUATIONS.find(each => each.name === name);
    invariant(situation !== undefined, `there is a situation "${name}"`);
    const { failure } = await explore(situation, SMALLEST_BOUNDS, mutation);
    expect(failure?.reasons.join('\n')).toMatch(reason);
  },
  TIMEOUT_MS,
);

it('has a mistake for every situation', () => {
  expect(FOUND.map(([situation]) => situation).toSorted()).toEqual(
    TWO_FUNCTIONS_SITUATIONS.map(({ name }) => name).toSorted(),
  );
});
