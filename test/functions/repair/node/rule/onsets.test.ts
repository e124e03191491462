/** The start of a repair condition: what a record keeps of it, and the reports of clocks that cannot be right. */
import { describe, expect, it } from 'vitest';
import { at, remembered } from '../../../../builders/pool.ts';
import { aCondition, anAttempt, aNode, someSettings, unhealthyConditionsOf } from '../../../../builders/repair.ts';
import type { Onset } from '../../../../../functions/repair/node/record.ts';
import type { HealthContext } from '../../../../../functions/repair/node/rule/health.ts';
import {
  clockSkewsOf,
  isStillUnhealthy,
  onsetsOf,
  onsetsStill,
} from '../../../../../functions/repair/node/rule/onset.ts';
import type { NodeCondition } from '../../../../../shared/domain/node.ts';
import type { RepairSettings } from '../../../../../shared/domain/repair-policy.ts';
import type { EpochMs } from '../../../../../shared/domain/time.ts';

type Onsets = Readonly<Record<string, Onset>>;
const PLAIN = someSettings();
const DISKS = someSettings({
  conditions: [
    { type: 'Disk', status: 'True', toleration: '20m' },
    { type: 'Disk', status: 'True', reason: 'Ssd', toleration: '20m' },
  ],
});
const ready = (since: number): NodeCondition => aCondition('Ready', 'False', at(since));
const disk = (since: number, reason: string): NodeCondition => ({ ...aCondition('Disk', 'True', at(since)), reason });
const timeless: NodeCondition = { ...ready(0), lastTransitionTime: undefined };

interface Look extends Partial<Omit<HealthContext, 'now' | 'rules'>> {
  readonly settings?: RepairSettings;
  readonly now: number;
  /** When the forwarder saw the change of this very node. */
  readonly own?: number;
}

function see(condition: NodeCondition, onsets: Onsets, { now, own, ...more }: Look) {
  const told: EpochMs | undefined = own === undefined ? undefined : at(own);
  const record = { onsets };
  const times = { observedTime: told, ownTime: told };
  return unhealthyConditionsOf(aNode([condition]), { settings: PLAIN, record, ...times, ...more, now: at(now) });
}

/** The onset after these looks at one condition, each at its time. */
function onsetAfter(looks: readonly (readonly [condition: NodeCondition, look: Look])[], first: Onsets = {}) {
  const onsets = looks.reduce((before, [condition, look]) => onsetsOf(see(condition, before, look)), first);
  return Object.values(onsets)[0];
}
const CHANCE = { isUnprompted: true };
const KEPT: Onsets = { 'Ready=False': { start: at(0), stated: at(0) } };

describe('I3 an event that says whether a status changed', () => {
  const stayed = { statusChanged: false };
  const changed = { statusChanged: true };
  it.each<[string, number, readonly (readonly [NodeCondition, Look])[]]>([
    ['keeps the start where none did, however late it is told', 0, [[ready(20), { now: 25, own: 19, ...stayed }]]],
    ['starts anew where one did, however soon it is told', 20, [[ready(20), { now: 20.1, own: 20, ...changed }]]],
    [
      'gives the first start back where a pass has looked before it',
      0,
      [
        [ready(20), { now: 20 }],
        [ready(20), { now: 21, own: 19, ...stayed }],
      ],
    ],
    [
      'gives no first start back where a status changed',
      20,
      [
        [ready(20), { now: 20 }],
        [ready(20), { now: 20.1, own: 20, ...changed }],
      ],
    ],
    ['changes nothing where the time is the same', 0, [[ready(0), { now: 20, own: 20, ...changed }]]],
  ])('%s', (_, start, looks) => {
    expect(onsetAfter(looks, KEPT)?.start).toBe(at(start));
  });
});

describe('I3 a condition whose time moves', () => {
  it.each<[string, number, readonly (readonly [NodeCondition, Look])[]]>([
    ['starts where it did where that is told within a minute', 0, [[ready(20), { now: 21, own: 21 }]]],
    ['starts anew where the look comes later', 20, [[ready(20), { now: 21.1, own: 20.5 }]]],
    ['starts anew where what is told is of a later minute', 20, [[ready(20), { now: 20.9, own: 21.1 }]]],
    [
      'starts where it did where a pass looks before that is told',
      0,
      [
        [ready(20), { now: 20 }],
        [ready(20), { now: 20.1 }],
        [ready(20), { now: 20.2, own: 20.15 }],
      ],
    ],
    [
      'starts anew where it moves on unseen',
      50,
      [
        [ready(20), { now: 20, own: 20 }],
        [ready(50), { now: 60 }],
      ],
    ],
  ])('%s', (_, start, looks) => {
    expect(onsetAfter(looks, KEPT)?.start).toBe(at(start));
  });

  it('starts anew where a pass came upon it by chance, and no event has confirmed its first time', () => {
    const found = [ready(0), { now: 40, ...CHANCE }] as const;
    expect(onsetAfter([found])).toMatchObject({ start: at(0), seenTime: at(40) });
    expect(onsetAfter([found, [ready(50), { now: 60, ...CHANCE }]])?.start).toBe(at(50));
    const moved = [ready(50), { now: 50.2, ...CHANCE }] as const;
    expect(onsetAfter([found, moved, [ready(50), { now: 50.5, own: 50.1 }]])?.start).toBe(at(50));
  });

  it('is confirmed by any look that an event has asked for', () => {
    const onsets = { 'Ready=False': { start: at(0), stated: at(0), seenTime: at(40) } };
    expect(onsetAfter([[ready(0), { now: 40.1 }]], onsets)).not.toHaveProperty('seenTime');
  });

  it('starts where it did where no time is recorded of it, as by an earlier version', () => {
    const onsets = { 'Ready=False': { start: at(0) } };
    expect(onsetAfter([[ready(5), { now: 20 }]], onsets)?.start).toBe(at(0));
    const [seen] = see(timeless, onsets, { now: 20 });
    expect(seen?.onset?.start).toBeUndefined();
  });

  it('has no onset that is remembered where it states no time', () => {
    expect(Object.keys(onsetsOf(see(timeless, {}, { now: 20 })))).toEqual([]);
  });
});

describe('a clock is wrong', () => {
  it('when it differs by more than a minute from the event of its change', () => {
    const offset = (stated: number) => onsetAfter([[ready(stated), { now: 0, own: 0 }]])?.clockOffset;
    expect([offset(1), offset(1.5), offset(-1), offset(-1.5)]).toEqual([undefined, 90_000, undefined, -90_000]);
  });

  it.each<[string, number, readonly (readonly [stated: number, now: number, own?: number])[]]>([
    ['as before, by a minute more or less', 0, [[186, 5, 5]]],
    ['in another way, by more than that', 5, [[186.1, 5, 5]]],
    ['as before, which is told a minute later', 0, [[185, 6, 5]]],
    ['and moves on unseen: the condition starts anew', 20, [[185, 5, 5], [195, 20]]], // prettier-ignore
  ])('%s', (_, start, reports) => {
    const looks = reports.map(
      ([stated, now, own]) => [ready(stated), { now, ...(own !== undefined && { own }) }] as const,
    );
    expect(onsetAfter([[ready(180), { now: 0, own: 0 }], ...looks])?.start).toBe(at(start));
  });

  it('is said with its time, of each condition by itself', () => {
    const behind = see(ready(0), {}, { now: 11, own: 10.1 });
    const ahead = see(ready(60), {}, { now: 0 });
    expect(clockSkewsOf([...behind, ...ahead, ...see(ready(0), {}, { now: 1 })])).toEqual([
      'the clock that wrote Ready is behind: its time is 2024-11-01T15:32:48Z',
      'the clock that wrote Ready is ahead: its time is 2024-11-01T16:32:48Z',
    ]);
  });

  it('is not said where only a reason may have changed', () => {
    const [seen] = see(disk(0, 'Ssd'), {}, { now: 40, own: 39, settings: DISKS });
    expect(seen?.onset?.start).toBe(at(40));
    expect(seen?.clockSkew).toBeUndefined();
  });
});

describe('the start of a status whose reason changes', () => {
  const look = { now: 50, settings: DISKS, ...CHANCE };
  it.each<[string, NodeCondition, Onsets, number]>([
    ['is that of the transition where the status has begun anew, too', disk(45, 'Other'), { 'Disk=True~Ssd': { start: at(0), stated: at(0) } }, 45], // prettier-ignore
    ['is none of another condition that began at that time', disk(45, 'Other'), { 'Ready=False': { start: at(0), stated: at(45) } }, 45], // prettier-ignore
    ['is none of a type whose name begins alike', disk(45, 'Other'), { 'Disk=TrueX': { start: at(0), stated: at(45) } }, 45], // prettier-ignore
    ['is that of the first of its repair conditions', disk(45, 'Other'), { 'Disk=True~Ssd': { start: at(48), stated: at(45), statusStart: at(46) } }, 46], // prettier-ignore
  ])('%s', (_, condition, onsets, start) => {
    expect(see(condition, onsets, look)[0]?.onset?.start).toBe(at(start));
  });
});

describe('while no settings can be read, a node', () => {
  const node = aNode([ready(0), aCondition('Disk', 'False')]);
  const onset = { start: at(0), stated: at(0) };
  const left = { 'Disk=True': onset, 'Network=False': onset };

  it('keeps the onsets whose conditions still have their status', () => {
    expect(onsetsStill(node, remembered({ onsets: { 'Ready=False': onset, ...left } }))).toEqual({
      'Ready=False': onset,
    });
  });

  it.each<[string, Parameters<typeof remembered>[0], boolean]>([
    ['is still unhealthy by one of them', { onsets: { 'Ready=False': onset } }, true],
    ['is still unhealthy by the condition of its attempt', { onsets: {}, attempt: anAttempt('n1') }, true],
    ['is not by a condition of another status', { onsets: left }, false],
    ['is not by an attempt for another condition', { onsets: {}, attempt: anAttempt('n1', { dueCondition: { ...anAttempt('n1').dueCondition, conditionType: 'Network' } }) }, false], // prettier-ignore
    ['is not where nothing is remembered', { onsets: {} }, false],
  ])('%s', (_, record, expected) => {
    expect(isStillUnhealthy(node, remembered(record))).toBe(expected);
  });
});
