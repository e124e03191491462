/** What `curfew explain` says of drains, terminations and protections comes true. `HOLD_SEEDS=A..B npx vitest run test/simulator/claims` looks at others. */
import { beforeAll, describe, expect, it } from 'vitest';
import { parseSeeds } from '../../../cli/simulation-options.ts';
import { complaintOfHold, observeHolds, type Hold, type ObservedHold } from './holds.ts';

const TIMEOUT_MS = 120_000;
const MINUTE_MS = 60_000;
/** With drains, terminations and protections under way at the instant that they draw. */
const SEEDS =
  process.env['HOLD_SEEDS'] === undefined
    ? [15, 23, 85, 91, 94, 95, 102, 106, 154, 176, 224, 325, 360, 425]
    : parseSeeds({ seeds: process.env['HOLD_SEEDS'] });

const observed: ObservedHold[] = [];
beforeAll(async () => {
  for (const seed of SEEDS) observed.push(...(await observeHolds(seed)));
}, TIMEOUT_MS);

/** @param say a mistake in what is claimed */
const complaints = (say: (hold: Hold) => Hold): readonly string[] =>
  observed.flatMap(each => complaintOfHold({ ...each, hold: say(each.hold) }) ?? []);

/** Claims of that kind, with all instants moved. */
const moved =
  (kind: Hold['of'], minutes: number) =>
  (hold: Hold): Hold => {
    if (hold.of !== kind) return hold;
    const later = (ms: number | undefined): number | undefined => ms && ms + minutes * MINUTE_MS;
    return { ...hold, notBefore: later(hold.notBefore), by: later(hold.by) };
  };

describe('what is explained of drains, terminations and protections at random instants', () => {
  it('is what happens after them', () => {
    expect(complaints(hold => hold)).toEqual([]);
    expect(observed.length).toBeGreaterThan(30);
  });

  it.each<readonly [mistake: string, say: (hold: Hold) => Hold, complaint: RegExp]>([
    ['a pod of a drain goes later', moved('drain', 15), /drain .* is acted on at/],
    ['a pod of a termination goes later', moved('termination', 15), /termination, pod .* is acted on at/],
    ['a pod of a termination goes earlier', moved('termination', -10), /termination, pod .* nothing is done/],
    ['a hook has less time', moved('hook', -10), /hook .* nothing is done/],
    ['a deadline comes later', moved('deadline', 15), /the deadline: and it is acted on at/],
    ['a protection ends later', moved('protection', 15), /held until .* is acted on at/],
    ['a protection ends earlier', moved('protection', -10), /held until .* nothing is done/],
  ])('finds an explanation that says that %s', (_mistake, say, complaint) => {
    expect(complaints(say).join('\n')).toMatch(complaint);
  });
});
