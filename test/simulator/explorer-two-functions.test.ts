/** Mistakes that show only when two functions meet at one Node: each situation has one that it finds. */
import { expect, it } from 'vitest';
import { explore, SMALLEST_BOUNDS } from '../../simulator/explorer/explore.ts';
import { TWO_FUNCTIONS_SITUATIONS } from '../../simulator/explorer/situations/two-functions.ts';
import { REPAIR_AND_OTHERS_SITUATIONS } from '../../simulator/explorer/situations/repair-and-others.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { GIVES_CONDITIONS_UP, TAKES_CONFLICTS_FOR_DONE, writesBack } from '../mutants/two-functions.ts';

const SITUATIONS = [...TWO_FUNCTIONS_SITUATIONS, ...REPAIR_AND_OTHERS_SITUATIONS];
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
    writesBack('finalizer'),
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
    writesBack('drain'),
    /I5: Node n1 .* has a pod that is protected for a time, and is not held/,
  ],
  [
    'a reboot is due while the drain of the node is called off',
    'a drain that writes Nodes back as it read them',
    writesBack('drain'),
    /nodes\/\/n1/,
  ],
  [
    'a repair is due while the termination of its node begins',
    'a repair that takes a refused change of a NodeClaim for done',
    TAKES_CONFLICTS_FOR_DONE,
    /I9: repair says "NodeClaim claim-n1 is terminated forcefully: .* and has not done it/,
  ],
  [
    'a reboot is due while a protected pod comes',
    'a repair that writes Nodes back as it read them',
    writesBack('repair'),
    /I5: Node n1 .* has a pod that is protected for a time, and is not held/,
  ],
];

it.each(FOUND)(
  '%s: finds %s',
  async (name, _mistake, mutation, reason) => {
    const situation = SITUATIONS.find(each => each.name === name);
    invariant(situation !== undefined, `there is a situation "${name}"`);
    const { failure } = await explore(situation, SMALLEST_BOUNDS, mutation);
    expect(failure?.reasons.join('\n')).toMatch(reason);
  },
  TIMEOUT_MS,
);

it('has a mistake for every situation', () => {
  expect(FOUND.map(([situation]) => situation).toSorted()).toEqual(SITUATIONS.map(({ name }) => name).toSorted());
});
