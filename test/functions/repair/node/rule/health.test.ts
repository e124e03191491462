/** The entry that decides about a node, its report, and how long the node's record is kept. */
import { describe, expect, it } from 'vitest';
import { at, NOW, remembered } from '../../../../builders/pool.ts';
import { aCondition, anAttempt, aNode, someSettings } from '../../../../builders/repair.ts';
import type { Episode, NodeRecord } from '../../../../../functions/repair/node/record.ts';
import { judgeHealth, withoutDueClause } from '../../../../../functions/repair/node/rule/health.ts';
import { endOf, isRecordNeeded, type SeenNode } from '../../../../../functions/repair/node/rule/incident.ts';
import type { JsonObject } from '../../../../../shared/domain/kubernetes-object.ts';

/** Disk since 15:17:48, and Slow since 15:22:48, each tolerated for so many minutes. */
function judged(disk: JsonObject, slow: JsonObject = {}, more: JsonObject = {}, episodes: readonly Episode[] = []) {
  const settings = someSettings({
    conditions: [
      { type: 'Slow', status: 'True', toleration: '1h', ...slow },
      { type: 'Disk', status: 'True', toleration: '1h', ...disk },
    ],
    ...more,
  });
  const node = aNode([aCondition('Disk', 'True', at(-15)), aCondition('Slow', 'True', at(-10))]);
  const health = judgeHealth(node, { now: NOW, repair: { settings }, record: undefined, episodes });
  if (health.kind !== 'unhealthy') throw new Error('the node is healthy');
  return health;
}

describe('of several entries', () => {
  it.each<[string, JsonObject, JsonObject, string]>([
    ['the one decides that is due', { toleration: '5m' }, {}, 'Disk'],
    ['that are due the one of the highest priority decides', { toleration: '5m' }, { toleration: '9m', priority: 1 }, 'Slow'], // prettier-ignore
    ['a priority of 0 is none', { toleration: '5m', priority: 1 }, { toleration: '1m', priority: 0 }, 'Disk'],
    ['of one priority the one decides that was due first', { toleration: '5m' }, { toleration: '1m' }, 'Disk'],
    ['that were due at once the first listed decides', { toleration: '10m' }, { toleration: '5m' }, 'Slow'],
    ['a priority counts only once its entry is due', { toleration: '5m' }, { priority: 9 }, 'Disk'],
    ['none of which is due the one decides that is due first, whatever its priority', { toleration: '30m' }, { toleration: '30m', priority: 9 }, 'Disk'], // prettier-ignore
  ])('%s', (_, disk, slow, type) => {
    expect(judged(disk, slow).dueCondition.conditionType).toBe(type);
  });

  it('the node has been due since the first one was, and each makes it worse', () => {
    const health = judged({ toleration: '5m' }, { toleration: '5m', priority: 1 });
    expect(health).toMatchObject({ dueSince: at(-10), unhealthy: { length: 2 }, dueCondition: { dueTime: at(-5) } });
  });

  it('the one that decides says its field, and its priority where it has one', () => {
    const { dueCondition } = judged({ toleration: '5m', priority: 7 });
    expect(dueCondition).toEqual({
      conditionType: 'Disk',
      conditionStatus: 'True',
      lastTransitionTime: at(-15),
      dueTime: at(-10),
      field: 'spec.repair.conditions[1]',
      priority: 7,
    });
    for (const disk of [{ toleration: '5m' }, { toleration: '5m', priority: 0 }])
      expect(judged(disk).dueCondition).not.toHaveProperty('priority');
  });

  it('one of the provider has no field', () => {
    const settings = someSettings();
    const node = aNode([aCondition('Ready', 'False', at(-15))]);
    expect(judgeHealth(node, { now: NOW, repair: { settings }, record: undefined, episodes: [] })).toMatchObject({
      dueCondition: expect.not.objectContaining({ field: expect.anything() }),
    });
  });

  it('none decides where the node has been unhealthy for too long in all, unless it is due as soon', () => {
    const flapping = { flapping: { window: '6h', unhealthyFor: '20m' } };
    const episodes = [{ startTime: at(-60), endTime: at(-50) }];
    const by = (toleration: string) => judged({ toleration }, {}, flapping, episodes);
    expect(by('11m')).toMatchObject({
      dueCondition: { dueTime: at(-5), field: 'spec.repair.flapping' },
      message:
        'Disk=True since 2024-11-01T15:17:48Z, unhealthy for 20m0s in all within 6h0m0s, repair is due at 2024-11-01T15:27:48Z',
      dueSince: at(-5),
    });
    expect(by('10m').dueCondition).toMatchObject({ dueTime: at(-5), field: 'spec.repair.conditions[1]' });
  });

  it('a message can do without its end', () => {
    const { message, dueCondition } = judged({ toleration: '5m' });
    expect(message).toBe('Disk=True since 2024-11-01T15:17:48Z, tolerated 5m0s, repair is due at 2024-11-01T15:22:48Z');
    expect(withoutDueClause(message, dueCondition)).toBe('Disk=True since 2024-11-01T15:17:48Z, tolerated 5m0s');
  });
});

describe('the record of a node is kept', () => {
  const GONE: SeenNode = { kind: 'gone' };
  const UNSAID: SeenNode = { kind: 'present', isReported: false };
  const SAID: SeenNode = { kind: 'present', isReported: true };
  const none: Partial<NodeRecord> = { onsets: {} };
  const attempt = anAttempt('n1');
  const act = { key: 'Reboot||600000', action: 'Reboot', time: NOW } as const;
  const reported = { code: 'a', time: NOW, times: {} };

  it.each<[string, Partial<NodeRecord>, SeenNode, boolean]>([
    ['I7 with what is to be taken back, although it is gone', { leftovers: { drain: 'r1' } }, GONE, true],
    ['while an attempt is under way, although it is gone', { attempt }, GONE, true],
    ['not of a node that is gone, whatever it says', { incident: { type: 'Ready', taken: ['a'] }, acts: [act] }, GONE, false], // prettier-ignore
    ['with its incident', { ...none, incident: { type: 'Ready', taken: [] } }, SAID, true],
    ['with who else is at work on it', { ...none, otherWork: { what: 'a', time: NOW } }, SAID, true],
    ['with an unhealthy time', { ...none, episodes: [{ startTime: NOW }] }, SAID, true],
    ['with an act', { ...none, acts: [act] }, SAID, true],
    ['with what was reported', { ...none, reported }, SAID, true],
    ['with its onsets until that is said', {}, UNSAID, true],
    ['not for what the Node says itself', {}, SAID, false],
    ['not where there is nothing', none, UNSAID, false],
  ])('%s', (_, more, seen, expected) => {
    expect(isRecordNeeded(remembered(more), seen)).toBe(expected);
  });

  it('after an incident with its type and its last act, and of none with nothing', () => {
    const incident = { type: 'Ready', taken: ['a', 'b'] };
    expect(endOf(remembered({ incident, acts: [act] }))).toEqual({
      lastIncident: { type: 'Ready', key: 'b', time: NOW },
    });
    expect(endOf(remembered({ acts: [act] }))).toBeUndefined();
    expect(endOf(remembered({ incident }))).toBeUndefined();
    expect(endOf(remembered({ incident: { ...incident, taken: [] }, acts: [act] }))).toBeUndefined();
  });
});
