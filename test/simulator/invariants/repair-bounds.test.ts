/** I11: reboots of a node, Events about an object, writes of a status and refused deletions have a number per window. */
import { describe, expect, it } from 'vitest';
import { checkRepairBounds } from '../../../simulator/invariants/repair-bounds.ts';
import type { Check } from '../../../simulator/invariants/invariant.ts';
import { UNHEALTHY, toldRepair } from '../../builders/told-repair.ts';

const REBOOTS = { actions: [{ type: 'Reboot', timeout: '10m' }, { type: 'Terminate' }] };
const ONE_AN_HOUR = { actions: [{ type: 'Reboot', timeout: '10m', attempts: 1, within: '1h' }] };
const SHOWN = { 'curfew.dev/last-reboot': 'some time' };
const HOUR = 60;

function reboots(repair: object, minutes: readonly number[], answer: unknown = { kind: 'ok' }): readonly string[] {
  const told = toldRepair(checkRepairBounds, repair);
  told.node({ name: 'n', conditions: UNHEALTHY });
  for (const minute of minutes) {
    told.at(minute);
    told.reboot('n', answer);
    told.node({ name: 'n', conditions: UNHEALTHY, annotations: SHOWN });
    told.look();
  }
  return told.found;
}

describe('reboots of a node', () => {
  it.each([
    ['two in a day', REBOOTS, [0, 60], 0],
    ['three in a day', REBOOTS, [0, 60, 120], 1],
    ['three in more than a day', REBOOTS, [0, 60, 25 * HOUR], 0],
    ['one an hour', ONE_AN_HOUR, [0, 61, 122], 0],
    ['two in an hour of which there may be one', ONE_AN_HOUR, [0, 30], 1],
  ])('%s', (_, repair, minutes, count) => {
    expect(reboots(repair, minutes)).toHaveLength(count);
  });

  it('count after the loss of the table, for they stand on the Node, but in a cluster from before them', () => {
    const third = (restore: boolean): readonly string[] => {
      let check: Check = {};
      const told = toldRepair(context => (check = checkRepairBounds(context)), REBOOTS);
      told.node({ name: 'n', conditions: UNHEALTHY, annotations: SHOWN });
      for (const minute of [0, 60]) {
        told.at(minute);
        told.reboot('n');
      }
      told.at(90);
      if (restore) check.onClusterRestored?.();
      told.loseTable();
      told.at(120);
      told.reboot('n');
      return told.found;
    };
    expect(third(false)).toHaveLength(1);
    expect(third(true)).toEqual([]);
  });

  it('do not count where they were refused', () => {
    expect(reboots(REBOOTS, [0, 10, 20, 30], { kind: 'refused' })).toEqual([]);
  });

  it('stand on the Node two minutes later', () => {
    const told = toldRepair(checkRepairBounds, REBOOTS);
    told.node({ name: 'n', conditions: UNHEALTHY });
    told.reboot('n');
    told.at(3);
    told.look();
    expect(told.found).toEqual([expect.stringContaining('was rebooted by repair and does not show it')]);
  });
});

describe('Events', () => {
  it.each([
    [
      'the same after an hour',
      [
        [0, 'why'],
        [60, 'why'],
      ],
      0,
    ],
    [
      'the same after five minutes',
      [
        [0, 'why'],
        [5, 'why'],
      ],
      1,
    ],
    [
      'another cause after five minutes',
      [
        [0, 'why'],
        [5, 'because'],
      ],
      0,
    ],
  ] as const)('%s', (_, said, count) => {
    const told = toldRepair(checkRepairBounds);
    for (const [minute, message] of said) {
      told.at(minute);
      told.event('n', 'NodeRepairBlocked', message);
    }
    expect(told.found).toHaveLength(count);
  });
});

describe('writes of one status', () => {
  const write = (times: number, apart: number, statusOf: (index: number) => object): readonly string[] => {
    const told = toldRepair(checkRepairBounds);
    for (let index = 1; index <= times; index++) {
      told.at(index * apart);
      told.report('p', statusOf(index), statusOf(index - 1));
    }
    return told.found;
  };
  it('are a dozen an hour while only counts change', () => {
    expect(write(24, 5, index => ({ held: index + 1 }))).toEqual([]);
    expect(write(24, 1, index => ({ held: index + 1 }))).not.toEqual([]);
  });

  it('are more where a count becomes zero, or a condition changes', () => {
    expect(write(24, 1, index => ({ held: index % 2 }))).toEqual([]);
    expect(write(24, 1, index => ({ conditions: [{ type: 'Active', status: String(index) }] }))).toEqual([]);
  });
});

describe('deletions of one NodeClaim', () => {
  const tries = (count: number, apart: number): readonly string[] => {
    const told = toldRepair(checkRepairBounds);
    told.node({ name: 'n', conditions: UNHEALTHY });
    told.at(70);
    for (let index = 0; index < count; index++) {
      told.at(70 + index * apart);
      told.terminate('n', { kind: 'conflict', message: '' });
    }
    return told.found;
  };
  it.each([
    ['a few', 6, 5, 0],
    ['one a minute', 30, 1, 1],
  ])('%s', (_, count, apart, least) => {
    expect(Math.min(1, tries(count, apart).length)).toBe(least);
  });
});

it('lets a run that died before it had recorded what it said be repeated', () => {
  const told = toldRepair(checkRepairBounds);
  told.event('n', 'NodeRepairBlocked', 'why', false);
  told.at(5);
  told.event('n', 'NodeRepairBlocked', 'why');
  expect(told.found).toEqual([]);
});
