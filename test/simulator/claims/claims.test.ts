/** What `curfew explain` says of nodes comes true. `CLAIM_SEEDS=A..B npx vitest run test/simulator/claims` looks at others. */
import { beforeAll, describe, expect, it } from 'vitest';
import { parseSeeds } from '../../../cli/simulation-options.ts';
import { complaintOf, datedOf, observeClaims, type Claim, type Observed } from './claims.ts';

const TIMEOUT_MS = 120_000;
const MINUTE_MS = 60_000;
/** Incidents of all kinds (`INCIDENTS_FROM`). */
const SEEDS =
  process.env['CLAIM_SEEDS'] === undefined
    ? Array.from({ length: 16 }, (_, index) => 30_001 + 4 * index)
    : parseSeeds({ seeds: process.env['CLAIM_SEEDS'] });

const observed: Observed[] = [];
beforeAll(async () => {
  for (const seed of SEEDS) observed.push(...(await observeClaims(seed)));
}, TIMEOUT_MS);

/** @param say a mistake in what is claimed */
const complaints = (say: (claim: Claim) => Claim): readonly string[] =>
  observed.flatMap(each => complaintOf({ ...each, claim: say(each.claim) }) ?? []);

const moved =
  (minutes: number) =>
  (claim: Claim): Claim =>
    claim.due === undefined ? claim : { ...claim, due: claim.due + minutes * MINUTE_MS };

describe('what is explained of repair at random instants', () => {
  it('is what happens after them', () => {
    expect(complaints(claim => claim)).toEqual([]);
    expect(observed.filter(({ claim }) => datedOf(claim) !== undefined).length).toBeGreaterThan(10);
  });

  it.each<readonly [mistake: string, say: (claim: Claim) => Claim, complaint: RegExp]>([
    ['says that a node is due later than it is', moved(15), /is acted on at .* already/],
    ['says that a node is due earlier than it is', moved(-10), /nothing is done about it then/],
    [
      'says nothing of what ails a node',
      claim => ({ ...claim, kind: 'ignore', due: undefined }),
      /: ignore, .* is acted on at/,
    ],
  ])('finds an explanation that %s', (_mistake, say, complaint) => {
    expect(complaints(say).join('\n')).toMatch(complaint);
  });
});
