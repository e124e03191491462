/** What the end of a drain does to the Node and the record. */
import { describe, expect, it } from 'vitest';
import { NO_DRAINS, type ActiveDrain, type DrainRecord, type EndingPhase } from '../../../../functions/drain/record.ts';
import type { DrainOutcome } from '../../../../functions/drain/request-record.ts';
import { endPlanOf, isEndedElsewhere, isLeftOver, withEnding } from '../../../../functions/drain/rule/ending.ts';
import type { DrainedNode } from '../../../../functions/drain/rule/observation.ts';
import { addDuration, minutes, type EpochMs } from '../../../../shared/domain/time.ts';
import { active, finished, NOW, observation, prepared, request, RESOURCE } from '../observations.ts';

const outcomeOf = (status: DrainOutcome['status']): DrainOutcome => ({ status, reason: 'R', message: 'm', left: [] });
const endingOf = (status: DrainOutcome['status'], given: Partial<EndingPhase> = {}): EndingPhase => ({
  kind: 'ending',
  outcome: { ...outcomeOf(status), time: NOW },
  over: [],
  before: { kind: 'draining' },
  ...given,
});
interface Given {
  readonly ending?: Partial<EndingPhase>;
  readonly active?: Partial<ActiveDrain>;
  readonly record?: Partial<DrainRecord>;
  readonly node?: Partial<DrainedNode>;
}
const planOf = (status: DrainOutcome['status'], given: Given = {}) => {
  const ending = endingOf(status, given.ending);
  const drain = active({ ...given.active, phase: ending });
  const node = { ...prepared(drain), ...given.node };
  return endPlanOf(observation({ record: { ...given.record, active: drain }, node }), drain, ending);
};
const OPEN = { unschedulable: false };
const OF_OTHERS = { cordonMark: undefined };

describe('the Node at the end of a drain', () => {
  it.each<[string, DrainOutcome['status'], Given, string]>([
    ['stays cordoned once it is drained', 'Succeeded', {}, 'Succeeded drained'],
    [
      'is not shown as drained by a drain of some pods',
      'Succeeded',
      { active: { scope: { kind: 'entities', entities: ['A'] } } },
      'Succeeded nothing',
    ],
    ['stays cordoned after a failure', 'Failed', {}, 'Failed nothing'],
    ['is opened if the drain was cancelled', 'Cancelled', {}, 'Cancelled nothing, opened'],
    [
      'is opened if its fault is over meanwhile',
      'Succeeded',
      { ending: { over: ['e1'] } },
      'Cancelled nothing, opened',
    ],
    [
      'is opened after a failure whose fault is over',
      'Failed',
      { ending: { over: ['e1'] } },
      'Cancelled nothing, opened',
    ],
    [
      'stays cordoned if one of two faults is over',
      'Succeeded',
      { active: { requests: [request('e1'), request('e2')] }, ending: { over: ['e1'] } },
      'Succeeded drained',
    ],
    [
      'stays cordoned for a request that waits',
      'Cancelled',
      { record: { requests: [request('e2')] } },
      'Cancelled nothing',
    ],
    [
      'stays cordoned for a request that waits, though the fault is over',
      'Succeeded',
      { record: { requests: [request('e2')] }, ending: { over: ['e1'] } },
      'Succeeded drained',
    ],
    [
      'stays cordoned for an earlier drain whose fault is still there',
      'Cancelled',
      { record: { finished: [finished('e0')] } },
      'Cancelled nothing',
    ],
    [
      'is opened if the fault of the earlier drain is over, too',
      'Cancelled',
      { record: { finished: [finished('e0', { recovered: true })] } },
      'Cancelled nothing, opened',
    ],
    ['keeps a cordon of somebody else', 'Cancelled', { node: OF_OTHERS }, 'Cancelled nothing'],
    [
      'tells of the drain while somebody else keeps it cordoned',
      'Succeeded',
      { node: OF_OTHERS, ending: { over: ['e1'] } },
      'Succeeded drained',
    ],
    [
      'tells of no drain if an earlier run has opened it',
      'Succeeded',
      { node: { ...OF_OTHERS, ...OPEN }, ending: { over: ['e1'] } },
      'Cancelled nothing',
    ],
    [
      'tells of the drain if it is open, and the fault is still there',
      'Succeeded',
      { node: OPEN },
      'Succeeded drained',
    ],
  ])('%s', (_, status, given, expected) => {
    const plan = planOf(status, given);
    expect(`${plan.status} ${plan.shown}${plan.uncordon ? ', opened' : ''}`).toBe(expected);
  });
});

describe('the record at the end of a drain', () => {
  it('remembers each request with what its drain did', () => {
    const startTime = addDuration(NOW, minutes(-5));
    const { ended, record } = planOf('Succeeded', {
      active: { requests: [request('e1'), request('e2')], drained: 3, startTime },
      ending: { over: ['e2'] },
    });
    expect(ended.map(({ id, recovered }) => [id, recovered])).toEqual([
      ['e1', false],
      ['e2', true],
    ]);
    expect(ended[0]).toMatchObject({ status: 'Succeeded', drained: 3, startTime, endTime: NOW });
    expect(record).toEqual({ ...NO_DRAINS, finished: ended });
  });

  const custom: EndingPhase['before'] = { kind: 'custom', resource: RESOURCE };
  const left = (count: number) => Array.from({ length: count }, (_, at) => ({ id: `left-${at}`, resource: RESOURCE }));

  it.each<[string, EndingPhase['before'], number, number | 'none']>([
    ['knows of no custom resource without one', { kind: 'draining' }, 0, 'none'],
    ['notes a custom resource that must not be deleted', custom, 0, 1],
    ['notes it as the last that has room', custom, 19, 20],
    ['has no room for one more', custom, 20, 'none'],
  ])('%s', (_, before, leftCount, expected) => {
    const leftResources = left(leftCount);
    const plan = planOf('Succeeded', {
      ending: { before },
      record: leftCount === 0 ? {} : { leftResources },
    });
    expect(plan.record.leftResources ?? []).toEqual(leftResources);
    const noted = plan.recordIfResourceStays?.leftResources;
    expect(noted?.length ?? 'none').toBe(expected);
    if (noted !== undefined) expect(noted).toEqual([...leftResources, { id: 'e1', resource: RESOURCE }]);
  });
});

describe('a drain whose end is decided', () => {
  it('takes requests along that end with it', () => {
    const [own, other] = [request('e1'), request('e2')];
    const seen = observation({ record: { requests: [own, other], active: active() } });
    const { record, active: drain, ending } = withEnding(seen, active({ requests: [own] }), outcomeOf('Cancelled'));
    expect(record.requests).toEqual([other]);
    expect(record.active).toEqual(drain);
    expect(drain.phase).toEqual(ending);
    expect(ending).toEqual(endingOf('Cancelled'));
  });

  it('notes a cordon mark that is left on an open node, before the Node is changed', () => {
    const seen = observation({ node: { cordonMark: 'e1', unschedulable: false } });
    expect(withEnding(seen, active(), outcomeOf('Cancelled')).record.uncordonedMark).toBe('e1');
  });
});

describe('the record of an ended drain', () => {
  const earlier = addDuration(NOW, minutes(-1));
  const later = addDuration(NOW, minutes(1));
  it.each<[string, EpochMs | undefined, string | undefined, boolean]>([
    ['is closed by the run that ended it', later, 'e1', false],
    ['is left to the run that ended it', later, undefined, true],
    ['is left to it by a run that ended another drain', later, 'e0', true],
    ['is closed by the next run if that one died', earlier, undefined, false],
    ['is closed once its timer is due', NOW, undefined, false],
    ['is closed if it has no timer', undefined, undefined, false],
  ])('%s', (_, armed, endedDrainId, expected) => {
    expect(isEndedElsewhere({ now: NOW, armed, endedDrainId }, active())).toBe(expected);
  });
});

describe('marks of an ended drain', () => {
  it.each<[string, Partial<DrainedNode>, boolean]>([
    ['are not on a plain node', {}, false],
    ['are not on a node that somebody else cordoned', { unschedulable: true }, false],
    ['are the annotation of the drain', { underWay: '{}' }, true],
    ['are the label by which its pods are watched', { isWatched: true }, true],
    ['are the state of a drain in progress', { shownDrain: 'inProgress' }, true],
    ['are the state of a drained node that is open', { shownDrain: 'drained' }, true],
    ['are not the state of a drained node that is cordoned', { shownDrain: 'drained', unschedulable: true }, false],
    ['are the cordon of a repair of this node', { cordonMark: 'uid-n1.1', unschedulable: true }, true],
    ['are not the cordon of another drain', { cordonMark: 'e1', unschedulable: true }, false],
    ['are our cordon mark on a node that was opened', { cordonMark: 'e1' }, true],
    ['are the mark of a cordon that was taken back', { uncordonedMark: 'e1', unschedulable: true }, true],
  ])('%s', (_, node, expected) => {
    expect(isLeftOver(observation({ node }).node)).toBe(expected);
  });
});
