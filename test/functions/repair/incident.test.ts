/** What is remembered for `flapping`: never time in which the node is known to have been well, and none of the other times lost. */
import { describe, expect, it } from 'vitest';
import { judgeHealth, nextEpisodes, type Episode } from '../../../functions/repair/incident.ts';
import type { NodeCondition } from '../../../shared/domain/node.ts';
import type { RepairSettings } from '../../../shared/domain/repair-policy.ts';
import { addDuration, minutes, type EpochMs } from '../../../shared/domain/time.ts';
import { someSettings } from '../../builders/repair.ts';

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

/** What is remembered of a node that was looked at in these minutes. */
function remember(looks: readonly (readonly [minute: number, conditions: Conditions])[]): readonly Episode[] {
  return looks.reduce<readonly Episode[]>(
    (before, [minute, conditions]) => nextEpisodes(nodeWith(conditions), settings, before, at(minute)),
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
      'a condition that is taken away counts until that is seen',
      [
        [0, { NetworkUnavailable: ['True', 0] }],
        [10, {}],
      ],
      [[0, 10]],
    ],
  ])('%s', (_, looks, expected) => {
    expect(minutesOf(remember(looks))).toEqual(expected);
  });

  it('that nobody saw end do not count for a node that has come back since it was remembered', () => {
    const episodes = remember([[0, { Ready: ['False', 0] }]]);
    const node = nodeWith({ Ready: ['False', 19] });
    const health = judgeHealth(node, settings, nextEpisodes(node, settings, episodes, at(20)));
    expect(health).toMatchObject({ incident: { dueTime: at(39) } });
  });
});
