/** The ladder, incident by incident: hand-made days of one node. */
import { describe, expect, it } from 'vitest';
import { checkLadder } from '../../../simulator/invariants/ladder-order.ts';
import { RetryableError } from '../../../shared/errors.ts';
import { TERMINATION_TIMESTAMP } from '../../../simulator/invariants/reading.ts';
import { UNHEALTHY, OK, toldRepair, type NodeTold } from '../../builders/told-repair.ts';

const LADDER = { actions: [{ type: 'Reboot', timeout: '10m' }, { type: 'Terminate' }] };

type Told = ReturnType<typeof toldRepair>;

function day(happens: (told: Told) => void, repair: object = LADDER): readonly string[] {
  const told = toldRepair(checkLadder, repair);
  told.node({ name: 'n', conditions: UNHEALTHY });
  happens(told);
  return told.found;
}

const reboot = (told: Told, minute: number, answer?: unknown): void => {
  told.at(minute);
  told.reboot('n', answer);
};
const terminate = (told: Told, minute: number): void => {
  told.at(minute);
  told.terminate('n');
};
/** Well for so many minutes, then unhealthy again. */
const well = (told: Told, minute: number, length: number, bootID?: string): void => {
  const boot = bootID === undefined ? {} : { bootID };
  told.at(minute);
  told.node({ name: 'n', conditions: OK, ...boot });
  told.at(minute + length);
  told.node({ name: 'n', conditions: UNHEALTHY, ...boot });
};

describe('the actions of an incident', () => {
  it.each<readonly [string, (told: Told) => void]>([
    ['follow each other', told => (reboot(told, 1), terminate(told, 11))],
    ['follow at once where one is refused', told => (reboot(told, 1, { kind: 'refused' }), terminate(told, 1))],
    ['are tried again where they were refused', told => (reboot(told, 1, { kind: 'refused' }), reboot(told, 3))],
    [
      'may begin anew after five minutes in which the node was well',
      told => (reboot(told, 1), well(told, 3, 7), reboot(told, 20)),
    ],
    [
      'may begin anew after a reboot that helped',
      told => (reboot(told, 1), well(told, 3, 2, 'another'), reboot(told, 20)),
    ],
    ['may go on in the next incident', told => (reboot(told, 1), well(told, 3, 7), terminate(told, 20))],
    [
      'leave out what has no attempt left',
      told => (reboot(told, 1), well(told, 3, 7), reboot(told, 20), terminate(told, 31)),
    ],
  ])('%s', (_, happens) => {
    expect(day(happens)).toEqual([]);
  });

  it.each<readonly [string, (told: Told) => void, RegExp]>([
    [
      'none twice',
      told => (reboot(told, 1), reboot(told, 15)),
      /^I4: repair begins Reboot of Node n .*: it was taken 1 times/,
    ],
    [
      'none twice after three minutes in which the node was well',
      told => (reboot(told, 1), well(told, 3, 3), reboot(told, 20)),
      /^I4/,
    ],
    [
      'none before the time of the one before',
      told => (reboot(told, 1), terminate(told, 9)),
      /^I3: .* Reboot has time until/,
    ],
    ['none left out', told => terminate(told, 1), /^I3: .* Reboot comes before it in Reboot, Terminate/],
  ])('but %s', (_, happens, complaint) => {
    expect(day(happens)).toEqual([expect.stringMatching(complaint)]);
  });

  it('count an answer that was lost', () => {
    expect(day(told => (reboot(told, 1, undefined), reboot(told, 15)))).toHaveLength(1);
  });

  it('count a custom resource whose answer was lost if it was made, and only then', () => {
    const ask = { actions: [{ type: 'CustomResource', template: 'fix.yaml', timeout: '10m' }, { type: 'Terminate' }] };
    const lost = new RetryableError('no answer', { reason: 'Timeout', outcomeUnknown: true });
    const askedTwice = (isMade: boolean): readonly string[] =>
      day(told => {
        told.at(1);
        told.ask('n', lost);
        if (isMade) told.fix('n');
        told.at(15);
        told.ask('n');
      }, ask);
    expect(askedTwice(true)).toEqual([expect.stringMatching(/^I4/)]);
    expect(askedTwice(false)).toEqual([]);
  });

  it('are as many as differ', () => {
    const two = {
      actions: [
        { type: 'Reboot', timeout: '5m' },
        { type: 'Reboot', timeout: '10m' },
      ],
    };
    const same = {
      actions: [
        { type: 'Reboot', timeout: '5m' },
        { type: 'Reboot', timeout: '5m' },
      ],
    };
    const twice = (told: Told): void => (reboot(told, 1), reboot(told, 20));
    expect(day(twice, two)).toEqual([]);
    expect(day(twice, same)).toHaveLength(1);
  });

  it('are not judged by a list that was edited in between', () => {
    expect(
      day(told => {
        reboot(told, 1);
        told.setPool({ actions: [{ type: 'Reboot', timeout: '12m' }] });
        reboot(told, 5);
      }),
    ).toEqual([]);
  });

  it('are begun again where the times of all conditions have moved: the node was well in between', () => {
    const ask = { actions: [{ type: 'CustomResource', template: 'fix.yaml', timeout: '10m' }, { type: 'Terminate' }] };
    const askedTwice = (moved: NodeTold['conditions']): readonly string[] =>
      day(told => {
        told.at(1);
        told.ask('n');
        told.node({ name: 'n', conditions: moved ?? UNHEALTHY });
        told.at(3);
        told.ask('n');
      }, ask);
    expect(askedTwice([['Ready', 'False', 1]])).toEqual([]);
    const others = [['Ready', 'Unknown', 1]] as const;
    const more = [...UNHEALTHY, ['KernelReady', 'False', 1]] as const;
    for (const goesOn of [others, more]) expect(askedTwice(goesOn)).toEqual([expect.stringMatching(/^I4/)]);
  });

  it('do not wait for a custom resource that the recovery of its node has ended', () => {
    const ask = { actions: [{ type: 'CustomResource', template: 'fix.yaml', timeout: '10m' }, { type: 'Terminate' }] };
    const terminatedAfter = (happens: (told: Told) => void): readonly string[] =>
      day(told => {
        told.at(1);
        told.ask('n');
        happens(told);
        terminate(told, 9);
      }, ask);
    expect(terminatedAfter(told => well(told, 3, 2))).toEqual([]);
    expect(terminatedAfter(() => {})).toEqual([expect.stringMatching(/^I3: .* CustomResource has time until/)]);
  });

  it('go on where a termination was called off before anything of it was carried out', () => {
    const first = { actions: [{ type: 'Terminate', timeout: '10m' }, { type: 'Reboot' }] };
    const terminatedThenRebooted = (claim: NonNullable<NodeTold['claim']>): readonly string[] =>
      day(told => {
        terminate(told, 1);
        told.node({ name: 'n', conditions: UNHEALTHY, claim });
        reboot(told, 3);
      }, first);
    expect(terminatedThenRebooted({})).toEqual([]);
    expect(terminatedThenRebooted({ deleted: 1 })).toEqual([expect.stringMatching(/^I3: .* Terminate has time until/)]);
    const forceful = { [TERMINATION_TIMESTAMP]: '2024-11-01T15:01:00Z' };
    expect(terminatedThenRebooted({ annotations: forceful })).toHaveLength(1);
  });
});
