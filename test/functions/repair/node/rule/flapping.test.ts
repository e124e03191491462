/** What is remembered for `flapping`: never time in which the node is known to have been well, and none of the other times lost. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { someSettings } from '../../../../builders/repair.ts';
import type { Episode } from '../../../../../functions/repair/node/record.ts';
import { cumulativeDueTime, nextEpisodes } from '../../../../../functions/repair/node/rule/flapping.ts';
import { judgeHealth } from '../../../../../functions/repair/node/rule/health.ts';
import { unhealthyConditions } from '../../../../../functions/repair/node/rule/onset.ts';
import type { NodeCondition } from '../../../../../shared/domain/node.ts';
import type { RepairSettings } from '../../../../../shared/domain/repair-policy.ts';
import { addDuration, type EpochMs, minutes } from '../../../../../shared/domain/time.ts';

const START = Date.UTC(2024, 10, 1, 15) as EpochMs;
const at = (minute: number): EpochMs => addDuration(START, minutes(minute));
const settings: RepairSettings = someSettings({ flapping: { window: '1h', unhealthyFor: '20m' } });

type Conditions = Readonly<Record<string, readonly [status: string, since: number]>>;
const nodeWith = (conditions: Conditions): { readonly conditions: readonly NodeCondition[] } => ({
  conditions: Object.entries(conditions).map(([type, [status, since]]) => ({
    type,
    status,
    reason: '',
    message: '',
    lastTransitionTime: at(since),
  })),
});

/** By a look long after its transitions. */
const healthOf = (node: ReturnType<typeof nodeWith>, rules: RepairSettings, episodes: readonly Episode[]) =>
  judgeHealth(
    { ...node, creationTime: undefined },
    { now: at(60), repair: { settings: rules }, record: undefined, episodes },
  );

/** The episodes after a look at the node in that minute. */
const episodesOf = (
  node: ReturnType<typeof nodeWith> & { readonly creationTime?: EpochMs },
  before: readonly Episode[],
  minute: number,
  observedTime?: EpochMs,
): readonly Episode[] => {
  const look = { now: at(minute), record: undefined, observedTime };
  const unhealthy = unhealthyConditions({ creationTime: undefined, ...node }, settings, look);
  return nextEpisodes(node, { window: minutes(60), unhealthy }, before, at(minute));
};

/** What is remembered of a node that was looked at in these minutes. */
function remember(findings: readonly (readonly [minute: number, conditions: Conditions])[]): readonly Episode[] {
  return findings.reduce<readonly Episode[]>(
    (before, [minute, conditions]) => episodesOf(nodeWith(conditions), before, minute),
    [],
  );
}

const minutesOf = (episodes: readonly Episode[]): readonly (readonly (number | undefined)[])[] =>
  episodes.map(({ startTime, endTime }) =>
    [startTime, endTime].map(time => (time === undefined ? undefined : (time - START) / 60_000)),
  );

describe('unhealthy times', () => {
  it.each<[string, [number, Conditions][], (number | undefined)[][]]>([
    [
      'a recovery ends one',
      [
        [0, { Ready: ['False', 0] }],
        [10, { Ready: ['True', 10] }],
      ],
      [[0, 10]],
    ],
    [
      'the transition of another condition does not',
      [
        [0, { Ready: ['False', 0], DiskPressure: ['False', -60] }],
        [10, { Ready: ['True', 10], DiskPressure: ['True', 5] }],
      ],
      [[0, 10]],
    ],
    [
      'another status of the condition begins the next one where it ends',
      [
        [0, { Ready: ['Unknown', 0] }],
        [10, { Ready: ['False', 10] }],
      ],
      [
        [0, 10],
        [10, undefined],
      ],
    ],
    [
      'so does another condition',
      [
        [0, { Ready: ['False', 0] }],
        [10, { Ready: ['True', 10], NetworkUnavailable: ['True', 10] }],
      ],
      [
        [0, 10],
        [10, undefined],
      ],
    ],
    [
      'overlapping ones count once',
      [
        [0, { Ready: ['False', 0] }],
        [5, { Ready: ['False', 0], NetworkUnavailable: ['True', 5] }],
        [12, { Ready: ['True', 12], NetworkUnavailable: ['True', 5] }],
        [15, { Ready: ['True', 12], NetworkUnavailable: ['False', 15] }],
      ],
      [
        [0, 5],
        [5, 15],
      ],
    ],
    [
      'a condition that came back unseen: nobody knows when the first one ended',
      [
        [0, { Ready: ['False', 0] }],
        [30, { Ready: ['False', 29] }],
      ],
      [[29, undefined]],
    ],
    [
      'it ends with what it began with: of another condition nobody knows how long it stayed alone',
      [
        [6, { Ready: ['False', 0], NetworkUnavailable: ['True', 5] }],
        [13, { Ready: ['True', 10], NetworkUnavailable: ['False', 12] }],
      ],
      [[0, 10]],
    ],
    [
      'one of which all was seen stays as it was',
      [
        [0, { Ready: ['False', 0] }],
        [10, { Ready: ['True', 10] }],
        [40, { Ready: ['False', 40] }],
        [50, { Ready: ['False', 40] }],
      ],
      [
        [0, 10],
        [40, undefined],
      ],
    ],
    [
      'one is forgotten once the window has passed',
      [
        [0, { Ready: ['False', 0] }],
        [10, { Ready: ['True', 10] }],
        [70, { Ready: ['True', 10] }],
      ],
      [],
    ],
    [
      'a condition that is taken away counts until that is seen',
      [
        [0, { NetworkUnavailable: ['True', 0] }],
        [10, {}],
      ],
      [[0, 10]],
    ],
  ])('%s', (_, findings, expected) => {
    expect(minutesOf(remember(findings))).toEqual(expected);
  });

  it('that nobody saw end do not count for a node that has come back since it was remembered', () => {
    const episodes = remember([[0, { Ready: ['False', 0] }]]);
    const node = nodeWith({ Ready: ['False', 19] });
    const health = healthOf(node, settings, episodesOf(node, episodes, 20));
    expect(health).toMatchObject({ dueCondition: { dueTime: at(39) } });
  });
});

it('a hundred unhealthy times are remembered, the newest ones', () => {
  const many = Array.from({ length: 120 }, (_, index) => ({
    startTime: at(index / 10),
    endTime: at(index / 10 + 0.05),
  }));
  const kept = episodesOf(nodeWith({ Ready: ['True', 12] }), many, 20);
  expect(kept).toEqual(many.slice(20));
});

describe('times of a wrong clock do not count', () => {
  const ill = nodeWith({ Ready: ['False', -30] });

  it('where the event of the change shows that the clock is behind', () => {
    expect(minutesOf(episodesOf(ill, [], 0, at(0)))).toEqual([[0, undefined]]);
  });

  it('where the time is before the Node was there', () => {
    expect(minutesOf(episodesOf({ ...ill, creationTime: at(-5) }, [], 0))).toEqual([[-5, undefined]]);
  });

  it('where the end is ahead of the look', () => {
    const begun = episodesOf(nodeWith({ Ready: ['False', 0] }), [], 0);
    expect(minutesOf(episodesOf(nodeWith({ Ready: ['True', 25] }), begun, 5))).toEqual([[0, 5]]);
  });
});

describe('with flapping, a node', () => {
  const spans = (episodes: readonly (readonly [start: number, end: number])[]): readonly Episode[] =>
    episodes.map(([start, end]) => ({ startTime: at(start), endTime: at(end) }));

  /** Minutes of the last `window` minutes in which it was unhealthy, counted one by one. */
  function unhealthyWithin(episodes: readonly (readonly [number, number])[], since: number, time: number): number {
    let counted = 0;
    for (let minute = time - 60; minute < time; minute++) {
      if (minute >= since || episodes.some(([start, end]) => start <= minute && minute < end)) counted += 1;
    }
    return counted;
  }

  it('property: is due in the first minute in which it was unhealthy for so long within the window, and not before', () => {
    const startAndLength = fc.tuple(fc.integer({ min: -90, max: 30 }), fc.integer({ min: 1, max: 25 }));
    fc.assert(
      fc.property(
        fc.array(startAndLength, { maxLength: 6 }),
        fc.integer({ min: 1, max: 60 }),
        (history, unhealthyFor) => {
          const since = 0;
          const episodes = history.map(([start, length]) => [start, start + length] as const);
          let due = since;
          while (unhealthyWithin(episodes, since, due) < unhealthyFor) due += 1;
          const rule = { window: minutes(60), unhealthyFor: minutes(unhealthyFor) };
          expect(cumulativeDueTime(at(since), spans(episodes), rule)).toBe(at(due));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('is not charged twice for minutes that two of its unhealthy times share', () => {
    // The second one is seen late: its transition lies before the first one.
    const findings: [number, Conditions][] = [
      [0, { Ready: ['False', 0] }],
      [10, { Ready: ['True', 10] }],
      [12, { Ready: ['True', 10], NetworkUnavailable: ['True', -5] }],
      [13, { Ready: ['True', 10], NetworkUnavailable: ['False', 13] }],
    ];
    expect(minutesOf(remember(findings))).toEqual([
      [0, 10],
      [-5, 13],
    ]);
    expect(healthOf(nodeWith({ Ready: ['False', 30] }), settings, remember(findings))).toMatchObject({
      dueCondition: { dueTime: at(32) },
    });
  });

  it.each<Conditions>([
    { NetworkUnavailable: ['True', 15], Ready: ['False', 5] },
    { NetworkUnavailable: ['True', 5], Ready: ['False', 15] },
  ])('is unhealthy since the first of its conditions', conditions => {
    const node = nodeWith(conditions);
    const patient = someSettings({
      defaultTolerationDuration: '24h',
      flapping: { window: '1h', unhealthyFor: '20m' },
    });
    expect(healthOf(node, patient, [])).toMatchObject({ dueCondition: { dueTime: at(25) } });
  });

  it('whose toleration ends sooner is due by that, and its message says by which', () => {
    const node = nodeWith({ NetworkUnavailable: ['True', 20] });
    const rules = (toleration: string): RepairSettings =>
      someSettings({ defaultTolerationDuration: toleration, flapping: { window: '1h', unhealthyFor: '20m' } });
    const by = (toleration: string) => healthOf(node, rules(toleration), spans([[0, 10]]));
    expect(by('5m')).toMatchObject({
      dueCondition: { dueTime: at(25) },
      message: expect.stringContaining('tolerated 5m'),
    });
    expect(by('1h')).toMatchObject({
      dueCondition: { dueTime: at(30) },
      message: expect.stringContaining('unhealthy for 20m0s in all within 1h0m0s'),
    });
  });
});
