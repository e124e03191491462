/** The explorer can find what it looks for: mistakes that show only when two runs meet, each by the shortest schedule. */
import { describe, expect, it } from 'vitest';
import { RECONCILERS } from '../../runtime/functions.ts';
import { createReconciler as createDrainReconciler } from '../../functions/drain/route.ts';
import { decide } from '../../functions/drain/decide.ts';
import { explore, SMALL_BOUNDS } from '../../simulator/explorer/explore.ts';
import { EXPLORER_MUTANTS, mutated } from '../mutants/explorer.ts';
import { describeFailure } from '../../simulator/explorer/print.ts';
import { SITUATIONS } from '../../simulator/explorer/situations/situations.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import type { Situation } from '../../simulator/explorer/situation.ts';

const HOST = 'grace-period';
const TIMEOUT_MS = 60_000;

/** Mutant, situation that shows it, and how the shortest schedule ends. */
const FOUND: readonly (readonly [mutant: string, concern: string, situation: string, schedule: RegExp])[] = [
  [
    'closes-in-one-turn',
    'kernel',
    'a record is not needed and needed again',
    /A get nodes n1\n.*world: x:40 is wanted\n.*B get record [^]*B get nodes n1\n.*A delete record/,
  ],
  [
    'closes-in-one-turn',
    'grace-period',
    'the last annotated pod goes, a protected one comes',
    /A list pods .*\n.*world: pod p2 created[^]*B patch nodes n1\n[^]*A delete record node\/uid-n1/,
  ],
  [
    'trusts-a-marked-record',
    'kernel',
    'a record is not needed and needed again',
    /A put record [^]*A get nodes n1\n.*world: x:40 is wanted\n.*B get record [^]*B get nodes n1\n.*A delete record/,
  ],
  [
    'trusts-a-marked-record',
    'grace-period',
    'the last annotated pod goes, a protected one comes',
    /A put record [^]*A list pods .*\n.*world: pod p2 created[^]*B patch nodes n1\n[^]*A delete record node\/uid-n1/,
  ],
  [
    'puts-off-without-a-look',
    'kernel',
    'a timer is put off and wanted back',
    /A get nodes n1\n.*world: x:40 is wanted\n.*B get record [^]*B get nodes n1\n.*A put record/,
  ],
];

function situationOf(concern: string, name: string): Situation {
  const situation = SITUATIONS.find(each => each.concern === concern && each.name === name);
  invariant(situation !== undefined, `there is a situation "${name}"`);
  return situation;
}

describe('the explorer finds a Curfew that', () => {
  it.each(
    FOUND.map(([name, concern, situation, schedule]) => {
      const mutant = EXPLORER_MUTANTS.find(each => each.name === name);
      invariant(mutant !== undefined, `there is a mutant ${name}`);
      return [mutant.mistake, concern, { mutant, schedule, situation: situationOf(concern, situation) }] as const;
    }),
  )(
    '%s (%s)',
    async (_mistake, _concern, { mutant, situation, schedule }) => {
      const original = situation.reconcilers?.[HOST] ?? RECONCILERS[HOST];
      const exploration = await explore(situation, SMALL_BOUNDS, {
        reconcilers: { [HOST]: mutated(original, mutant) },
      });
      const { failure } = exploration;
      invariant(failure !== undefined, 'the mistake is found');
      // One run looks, the other one comes between, nobody dies: nothing shorter could show it.
      expect(failure.outcome.schedule.turns.filter(({ what }) => what !== 'change')).toMatchObject([
        { what: 'switch' },
      ]);
      expect(describeFailure(exploration, failure)).toMatch(schedule);
    },
    TIMEOUT_MS,
  );

  it('takes the condition of an end off a node when it overtook another run', { timeout: TIMEOUT_MS }, async () => {
    const situation = situationOf('drain', 'the last two pods go one after the other');
    const { failure } = await explore(situation, SMALL_BOUNDS, {
      reconcilers: {
        drain: deps =>
          createDrainReconciler(deps, {
            decide(observation) {
              const decision = decide(observation);
              return decision.kind === 'correctConditions' ? { ...decision, shown: 'nothing' } : decision;
            },
          }),
      },
    });
    expect(failure?.reasons.join('\n')).toMatch(/^ *- nodes.*"type":"Drained"/m);
  });

  it('has any of the mistakes that there are', () => {
    expect(new Set(FOUND.map(([mutant]) => mutant))).toEqual(new Set(EXPLORER_MUTANTS.map(({ name }) => name)));
  });
});
