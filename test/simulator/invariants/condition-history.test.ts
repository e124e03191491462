/** When an incident began, by hand-made reports of one node; minutes after 15:00. */
import { describe, expect, it } from 'vitest';
import { createConditionHistory, type ConditionHistory } from '../../../simulator/invariants/condition-history.ts';
import type { CheckContext } from '../../../simulator/invariants/invariant.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';
import { toldRepair, type NodeTold } from '../../builders/told-repair.ts';

type Report = readonly [minute: number, conditions: NodeTold['conditions'], created?: number];
const START = Date.parse('2024-11-01T15:00:00Z');

/** Earliest and latest start of `Ready=False` by these reports. @param quiet nothing is disturbed from that minute on */
function startBy(reports: readonly Report[], hasReason = false, quiet = -60): readonly (number | undefined)[] {
  let history: ConditionHistory | undefined;
  let context: CheckContext | undefined;
  const told = toldRepair(given => {
    context = given;
    history = createConditionHistory({ ...given, quietSince: () => toEpochMs(START + quiet * 60_000) });
    return {};
  });
  for (const [minute, conditions = [], created = -1000] of reports) {
    told.at(minute);
    told.node({ name: 'n', created, conditions });
  }
  const [node] = [...(context?.mirror.all('nodes').values() ?? [])];
  const start = node && history?.startOf(node, 'Ready', hasReason);
  return [start?.earliest, start?.latest].map(ms => ms && (ms - START) / 60_000);
}

const unhealthy = (since: number, reason?: string) =>
  [['Ready', 'False', since, ...(reason === undefined ? [] : [reason])]] as never;
const WELL = [['Ready', 'True', -500]] as const;

describe('an incident begins', () => {
  it.each<readonly [string, readonly Report[], boolean, number]>([
    [
      'at its transition',
      [
        [0, WELL],
        [10, unhealthy(9)],
      ],
      false,
      9,
    ],
    ['at its transition, which lay there at the start', [[0, unhealthy(-60)]], false, -60],
    ['never before the node was made', [[0, unhealthy(-60), -5]], false, -5],
    [
      'at the first look where the time is not believed',
      [
        [0, WELL],
        [30, unhealthy(19)],
      ],
      false,
      30,
    ],
    [
      'at its transition ten minutes ago',
      [
        [0, WELL],
        [30, unhealthy(20)],
      ],
      false,
      20,
    ],
    [
      'at the first look where the time lies ahead',
      [
        [0, WELL],
        [30, unhealthy(90)],
      ],
      false,
      30,
    ],
    [
      'where it was, whatever its time says later',
      [
        [0, WELL],
        [10, unhealthy(10)],
        [20, unhealthy(20)],
        [30, unhealthy(30)],
      ],
      false,
      10,
    ],
    [
      'anew after another status',
      [
        [0, WELL],
        [10, unhealthy(10)],
        [20, [['Ready', 'True', 20]]],
        [23, unhealthy(23)],
      ],
      false,
      23,
    ],
    [
      'with the status where no reason is asked for',
      [
        [0, WELL],
        [10, unhealthy(10, 'A')],
        [20, unhealthy(10, 'B')],
      ],
      false,
      10,
    ],
    ['with the start of all looking where a reason is asked for', [[0, unhealthy(-60, 'A')]], true, 0],
  ])('%s', (_, reports, hasReason, start) => {
    expect(startBy(reports, hasReason)).toEqual([start, start]);
  });

  it('before or after a moment that may not have been seen', () => {
    expect(
      startBy([
        [0, WELL],
        [10, unhealthy(10)],
        [20, [['Ready', 'True', 20]]],
        [20.5, unhealthy(20.5)],
      ]),
    ).toEqual([10, 20.5]);
  });

  it('before or after several moments that may not have been seen', () => {
    expect(
      startBy([
        [0, WELL],
        [10, unhealthy(10)],
        [20, [['Ready', 'True', 20]]],
        [20.5, unhealthy(20.5)],
        [21, [['Ready', 'True', 21]]],
        [21.5, unhealthy(21.5)],
      ]),
    ).toEqual([10, 21.5]);
  });

  it('at its transition or at the first look where its time is not believed, and the news may have come late', () => {
    const reports = [
      [0, WELL],
      [30, unhealthy(19)],
    ] as const;
    expect(startBy(reports, false, 31)).toEqual([19, 31]);
    expect(startBy(reports, false, 29)).toEqual([30, 30]);
  });

  it('with the status or with its reason, which the entry may have met before', () => {
    expect(
      startBy(
        [
          [0, WELL],
          [10, unhealthy(10, 'A')],
          [20, unhealthy(10, 'B')],
        ],
        true,
      ),
    ).toEqual([10, 20]);
  });
});
