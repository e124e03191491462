/** When an incident starts, by which entry, and when it ends. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aCondition, aNode, someSettings, T, unhealthyConditionsOf } from '../../../../builders/repair.ts';
import type { Incident, Onset } from '../../../../../functions/repair/node/record.ts';
import { type Health, judgeHealth } from '../../../../../functions/repair/node/rule/health.ts';
import { incidentAt } from '../../../../../functions/repair/node/rule/incident.ts';
import { onsetsOf } from '../../../../../functions/repair/node/rule/onset.ts';
import type { NodeCondition } from '../../../../../shared/domain/node.ts';
import type { RepairSettings } from '../../../../../shared/domain/repair-policy.ts';
import { addDuration, type EpochMs, minutes, seconds, toDurationMs } from '../../../../../shared/domain/time.ts';

/** Minutes after T. */
const at = (minute: number): EpochMs => addDuration(T, toDurationMs(minute * 60_000));
const minutesOf = (time: EpochMs | undefined): number | undefined =>
  time === undefined ? undefined : (time - T) / 60_000;
const PLAIN = someSettings();
const OF_REASON = someSettings({ conditions: [{ type: 'Disk', status: 'True', reason: 'Ssd', toleration: '20m' }] });

interface Given {
  readonly condition?: NodeCondition;
  readonly creation?: number;
  readonly now: number;
  /** Of the clock that is kept: start, stated, first. */
  readonly kept?: readonly [start: number, stated: number, first?: number];
  /** When the forwarder saw the change of this very node. */
  readonly own?: number;
  readonly settings?: RepairSettings;
}

const ready = (since: number): NodeCondition => aCondition('Ready', 'False', at(since));
const disk = (since: number): NodeCondition => ({ ...aCondition('Disk', 'True', at(since)), reason: 'SsdSlow' });

function unhealthyAt({ condition = ready(0), creation, now, kept, own, settings = PLAIN }: Given) {
  const [start, stated, first] = kept ?? [];
  const onset: Onset | undefined =
    start === undefined || stated === undefined
      ? undefined
      : { start: at(start), stated: at(stated), ...(first !== undefined && { first: at(first) }) };
  const key = condition.type === 'Disk' ? 'Disk=True~Ssd' : 'Ready=False';
  const node = aNode([condition], creation === undefined ? {} : { creationTime: at(creation) });
  const observed = own === undefined ? undefined : at(own);
  const [unhealthy] = unhealthyConditionsOf(node, {
    now: at(now),
    settings,
    record: { onsets: onset === undefined ? {} : { [key]: onset } },
    observedTime: onset === undefined ? observed : undefined,
    ownTime: observed,
  });
  return { start: minutesOf(unhealthy?.onset?.start), clockSkew: unhealthy?.clockSkew };
}

describe('an incident starts', () => {
  it.each<[string, Given, number, ('behind' | 'ahead')?]>([
    ['at its transition', { now: 3 }, 0],
    ['(a) never before the Node was made', { now: 30, condition: ready(-60), creation: 10 }, 10],
    [
      '(b) at the first look where the change is told of more than 10 min after it',
      { now: 11, own: 10.1 },
      11,
      'behind',
    ],
    ['(b) at its transition where it is told of 10 min after it', { now: 11, own: 10 }, 0],
    ['(b) at its transition where nobody told of a change', { now: 600 }, 0],
    [
      '(c) where it did while its time moves and the change is told of at once',
      { now: 20, kept: [0, 0], condition: ready(20), own: 20 },
      0,
    ],
    ['(c) where it did when its time moves back', { now: 20, kept: [10, 10], condition: ready(0) }, 10],
    [
      '(c) anew where its time moved unseen: it may have been well',
      { now: 20, kept: [0, 0], condition: ready(15) },
      15,
    ],
    [
      '(c) anew where what is told of is a change before that: it may have been well there',
      { now: 20, kept: [0, 0], condition: ready(20), own: 19.5 },
      20,
    ],
    [
      '(c) where it did where the clocks differ by 5 s',
      { now: 20, kept: [0, 0], condition: ready(20), own: 20 - 5 / 60 },
      0,
    ],
    [
      '(c) where it did once such a move is told of after all',
      { now: 20.5, kept: [20, 20, 0], condition: ready(20), own: 20.1 },
      0,
    ],
    ['(d) at the first look where its time lies in the future', { now: 0, condition: ready(60) }, 0, 'ahead'],
    ['(d) at its transition where the clocks differ by 5 s', { now: 0, condition: ready(5 / 60) }, 5 / 60],
    ['(d) where it did, when that future is past', { now: 70, kept: [0, 60], condition: ready(60) }, 0],
    ['(e) when its reason was first seen', { now: 40, condition: disk(0), settings: OF_REASON }, 40],
    ['(e) where it did, at a later look', { now: 50, kept: [40, 0], condition: disk(0), settings: OF_REASON }, 40],
    [
      '(e) at its transition where that is told of within a second',
      { now: 1 / 60, condition: disk(0), settings: OF_REASON },
      0,
    ],
  ])('%s', (_, given, start, clockSkew) => {
    expect(unhealthyAt(given)).toEqual({ start, clockSkew });
  });

  it.each<[string, readonly (readonly [now: number, own?: number])[], number]>([
    ['where it did if only the move is told of', [[20], [20.2, 20.1]], 0],
    [
      'anew if a change before it is told of first',
      [
        [20, 19.5],
        [20.2, 20.1],
      ],
      20,
    ],
    ['anew if a change before it is told of in between', [[20], [20.1, 19.5], [20.2, 20.1]], 20],
  ])('(c) when its time has moved to the minute 20: %s', (_, looks, start) => {
    let onsets: Readonly<Record<string, Onset>> = { 'Ready=False': { start: at(0), stated: at(0) } };
    for (const [now, own] of looks) {
      const context = { now: at(now), settings: PLAIN, record: { onsets } };
      const ownTime = own === undefined ? undefined : at(own);
      onsets = onsetsOf(unhealthyConditionsOf(aNode([ready(20)]), { ...context, ownTime }));
    }
    expect(minutesOf(onsets['Ready=False']?.start)).toBe(start);
  });

  it('at no time that anybody knows where its condition has none', () => {
    const condition = { ...ready(0), lastTransitionTime: undefined };
    expect(unhealthyAt({ condition, now: 60 })).toEqual({ start: undefined, clockSkew: undefined });
  });

  it.each<[string, string, number, number | undefined, number]>([
    ['at its transition where it has no reason', 'Other', 20, 20, 0],
    ['(e) when its reason was first seen where it has one', 'SsdSlow', 20, 20, 20],
    ['at its transition, too, where a pass sees the reason before its change is told', 'Other', 20, undefined, 0],
  ])('of which only the reason has changed %s, and no clock is doubted', (_, reason, now, own, start) => {
    const settings = someSettings({
      conditions: [
        { type: 'Disk', status: 'True', toleration: '20m' },
        { type: 'Disk', status: 'True', reason: 'Ssd', toleration: '20m' },
      ],
    });
    const reasons = reason === 'Other' ? ['SsdSlow', 'Other'] : ['Other', 'SsdSlow'];
    const look = (minute: number, index: number, onsets: Readonly<Record<string, Onset>>, seen?: number) =>
      unhealthyConditionsOf(aNode([{ ...disk(0), reason: reasons[index % 2] ?? '' }]), {
        now: at(minute),
        settings,
        record: { onsets },
        ...(seen === undefined ? { isUnprompted: true } : { ownTime: at(seen), observedTime: at(seen) }),
      });
    let onsets = onsetsOf(look(0, 0, {}, 0));
    const changed = look(now, 1, onsets, own);
    expect(changed).toMatchObject([{ onset: { start: at(start) }, clockSkew: undefined }]);
    onsets = onsetsOf(look(now + 0.1, 1, onsetsOf(changed), now));
    expect(Object.values(onsets)).toMatchObject([{ start: at(start) }]);
    // There and back again: its status has stayed all the time.
    for (const index of [2, 3, 4, 5]) onsets = onsetsOf(look(now + index, index, onsets, now + index));
    expect(Object.values(onsets)).toMatchObject([{ start: at(reason === 'Other' ? 0 : now + 5) }]);
  });

  it.each<[string, number, readonly (readonly [stated: number, now: number, own?: number])[], number]>([
    [
      'at its first look where its clock stays as far ahead',
      0,
      [
        [185, 5, 5],
        [190, 10, 10],
      ],
      0,
    ],
    [
      'at its first time where its clock stays as far behind',
      -3,
      [
        [2, 5, 5],
        [5, 8, 8.5],
      ],
      -3,
    ],
    [
      'there also where a pass comes before the event',
      0,
      [
        [185, 5],
        [185, 5.5, 5],
      ],
      0,
    ],
    ['anew where the clock is another one', 0, [[200, 5, 5]], 5],
    ['anew where the event comes late', 0, [[185, 7, 5]], 7],
  ])('%s', (_, first, reports, start) => {
    const look = (stated: number, now: number, own: number | undefined, onsets: Readonly<Record<string, Onset>>) => {
      const observed = own === undefined ? undefined : at(own);
      const times = { observedTime: observed, ownTime: observed };
      const context = { now: at(now), settings: PLAIN, record: { onsets }, ...times };
      return unhealthyConditionsOf(aNode([ready(stated)]), context);
    };
    let onsets = onsetsOf(look(first === 0 ? 180 : first, 0, 0, {}));
    for (const [stated, now, own] of reports) onsets = onsetsOf(look(stated, now, own, onsets));
    expect(Object.values(onsets)).toMatchObject([{ start: at(start) }]);
  });

  it('for each repair condition by itself, and anew each time that it begins to be true', () => {
    const node = aNode([ready(0), disk(0)]);
    const settings = OF_REASON;
    const first = onsetsOf(unhealthyConditionsOf(node, { now: at(0), settings, record: undefined }));
    const other = { ...disk(0), reason: 'Firmware' };
    const between = unhealthyConditionsOf(aNode([ready(0), other]), {
      now: at(10),
      settings,
      record: { onsets: first },
    });
    const onsets = onsetsOf(between);
    expect(Object.keys(onsets)).toEqual(['Ready=False']);
    const again = unhealthyConditionsOf(node, { now: at(15), settings, record: { onsets } });
    expect(again.map(({ key, onset }) => [key, minutesOf(onset?.start)])).toEqual([
      ['Ready=False', 0],
      ['Disk=True~Ssd', 15],
    ]);
  });

  const numbers = fc.integer({ min: 0, max: 120 });
  const drawn = fc.record({
    since: numbers,
    creation: fc.option(numbers, { nil: undefined }),
    findings: fc.array(numbers, { minLength: 1, maxLength: 6 }).map(list => list.toSorted((a, b) => a - b)),
    own: fc.option(numbers, { nil: undefined }),
    reason: fc.boolean(),
  });

  it('property: I3 never before the transition, the Node, nor what was remembered, and looks that see the same change nothing', () => {
    fc.assert(
      fc.property(drawn, ({ since, creation = 0, findings, own, reason }) => {
        const [firstLook = 0] = findings;
        // Nothing is told, and nothing made, after it was seen.
        fc.pre(creation <= firstLook && (own ?? 0) <= firstLook);
        const settings = reason ? OF_REASON : PLAIN;
        const node = aNode([reason ? disk(since) : ready(since)], { creationTime: at(creation) });
        let onsets: Readonly<Record<string, Onset>> = {};
        const starts = findings.map((look, index) => {
          const observedTime = own === undefined || index > 0 ? undefined : at(own);
          const [unhealthy] = unhealthyConditionsOf(node, {
            now: at(look),
            settings,
            record: { onsets },
            observedTime,
          });
          onsets = onsetsOf(unhealthy === undefined ? [] : [unhealthy]);
          return unhealthy?.onset?.start ?? at(-1);
        });
        const [first = at(-1)] = starts;
        expect(new Set(starts).size).toBe(1);
        expect(first).toBeLessThanOrEqual(at(firstLook));
        if (since <= firstLook) expect(first).toBeGreaterThanOrEqual(Math.max(at(since), at(creation)));
      }),
      { numRuns: 400 },
    );
  });
});

describe('a condition that a pass sees by chance', () => {
  /** Looks in their order: each minute, whether by chance, and when the change of this node was seen. */
  function looks(since: number, ...each: readonly (readonly [now: number, isUnprompted: boolean, own?: number])[]) {
    let onsets: Readonly<Record<string, Onset>> = {};
    let health: Health = { kind: 'healthy', unhealthy: [] };
    for (const [now, isUnprompted, own] of each) {
      const observed = own === undefined ? undefined : at(own);
      health = judgeHealth(aNode([ready(since)]), {
        now: at(now),
        repair: { settings: PLAIN },
        episodes: [],
        record: { onsets },
        observedTime: observed,
        ownTime: observed,
        isUnprompted,
      });
      onsets = onsetsOf(health.unhealthy);
    }
    const dueTime = health.kind === 'unhealthy' ? minutesOf(health.dueCondition.dueTime) : undefined;
    return { dueTime, clockSkew: health.unhealthy[0]?.clockSkew };
  }

  it('is due a minute later at the earliest: its event may be on its way', () => {
    expect(looks(0, [40, true])).toEqual({ dueTime: 41, clockSkew: undefined });
    expect(looks(0, [40, true], [41, true])).toEqual({ dueTime: 41, clockSkew: undefined });
    expect(looks(15, [40, true])).toEqual({ dueTime: 45, clockSkew: undefined });
  });

  it('begins at the look where its event shows that its time is wrong', () => {
    expect(looks(0, [40, true], [40.1, false, 40])).toEqual({ dueTime: 70.1, clockSkew: 'behind' });
  });

  it('keeps its time where something else tells of the node', () => {
    expect(looks(0, [40, true], [40.1, false])).toEqual({ dueTime: 30, clockSkew: undefined });
    expect(looks(0, [40, true], [50, false, 50])).toEqual({ dueTime: 30, clockSkew: undefined });
  });

  it('is as any other where something has told of it, or where its time is that of a change that is just seen', () => {
    expect(looks(0, [40, false])).toEqual({ dueTime: 30, clockSkew: undefined });
    expect(looks(31, [40, true])).toEqual({ dueTime: 61, clockSkew: undefined });
    expect(looks(0, [1, true], [40, true])).toEqual({ dueTime: 30, clockSkew: undefined });
  });
});

describe('an incident', () => {
  const incident: Incident = { type: 'Ready', taken: ['Reboot||600000'] };
  const well: Incident = { ...incident, healthySince: at(0) };

  it('ends when no rule has been unhealthy for five minutes', () => {
    expect(incidentAt(incident, 'healthy', at(0))).toEqual(well);
    expect(incidentAt(well, 'healthy', addDuration(at(5), seconds(-1)))).toEqual(well);
    expect(incidentAt(well, 'healthy', at(5))).toBeUndefined();
    // Unhealthy again by then: it is another one.
    expect(incidentAt(well, 'unhealthy', at(5))).toBeUndefined();
  });

  it('goes on where it comes back sooner', () => {
    expect(incidentAt(well, 'unhealthy', at(4))).toEqual(incident);
  });

  it('does not end while nobody can say how the node is', () => {
    const later: Incident = { ...well, healthySince: at(6) };
    expect(incidentAt(well, 'unknown', at(6))).toEqual(later);
    expect(incidentAt(later, 'unhealthy', at(10))).toEqual(incident);
    expect(incidentAt(incident, 'unknown', at(6))).toEqual(later);
  });

  it('goes on without an action that still had time when the node was well', () => {
    const taken = [...incident.taken, 'Drain||1200000'];
    const interrupted: Incident = { ...well, taken, interrupted: 'Drain||1200000' };
    expect(incidentAt(interrupted, 'healthy', at(4))).toEqual(interrupted);
    expect(incidentAt(interrupted, 'unhealthy', at(4))).toEqual(incident);
  });

  it('of which nothing was done leaves nothing; one that others have blocked for a while does', () => {
    expect(incidentAt({ type: 'Ready', taken: [] }, 'healthy', at(0))).toBeUndefined();
    const settled: Incident = { type: 'Ready', taken: [], recovering: { totalMs: minutes(3) } };
    expect(incidentAt(settled, 'healthy', at(0))).toEqual({ ...settled, healthySince: at(0) });
  });
});
