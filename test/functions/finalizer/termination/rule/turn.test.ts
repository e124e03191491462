import { describe, expect, it } from 'vitest';
import {
  afterFailedStep,
  hasLostFinalizer,
  nextAnnouncement,
  nextLook,
  waitOfTurn,
  type Announcement,
  type WaitObservation,
} from '../../../../../functions/finalizer/termination/rule/turn.ts';
import type { ReportState } from '../../../../../functions/finalizer/termination/record.ts';
import type { KubernetesObject } from '../../../../../shared/domain/kubernetes-object.ts';
import type { Deadline } from '../../../../../shared/domain/termination.ts';
import { addDuration, hours, minutes, seconds, type EpochMs } from '../../../../../shared/domain/time.ts';
import { at } from '../../../../builders/repair.ts';

const NOW = at('2024-11-01T15:00:00Z');
const later = (count: number): EpochMs => addDuration(NOW, seconds(count));
const said = (text: string, isForced = false): ReportState => ({ kind: 'reported', last: { isForced, text } });

describe('a termination whose object has no finalizer of ours', () => {
  const object = (deletionTimestamp?: string): KubernetesObject => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'n1',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2024-11-01T13:00:00Z',
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
  });
  const deleted = object('2024-11-01T14:00:00Z');
  const begun = { waits: [], reportState: said('started') };
  it.each<[string, Parameters<typeof hasLostFinalizer>[0], boolean]>([
    ['has lost it once it had begun', { stored: begun, object: deleted }, true],
    [
      'has lost it before anything was said',
      { stored: { ...begun, reportState: { kind: 'unreported' } }, object: deleted },
      true,
    ],
    ['never had it without a record', { stored: undefined, object: deleted }, false],
    ['has lost nothing while its object lives', { stored: begun, object: object() }, false],
    [
      'has lost nothing while it was only observed',
      { stored: { ...begun, waits: [{ kind: 'observed' }] }, object: deleted },
      false,
    ],
    [
      'has lost nothing if its record is a note of hooks',
      { stored: { ...begun, reportState: { kind: 'hookOwner', claimUid: 'u' } }, object: deleted },
      false,
    ],
  ])('%s', (_, seen, expected) => {
    expect(hasLostFinalizer(seen)).toBe(expected);
  });
});

describe('before its steps a turn', () => {
  const start = { kind: 'start', report: { isForced: false, text: 'started' } } as const;
  const force = { kind: 'force', report: { isForced: true, text: '' } } as const;
  const before = '2024-11-01T17:00:00Z';
  const now = '2024-11-01T16:00:00Z';
  const deadline: Deadline = { time: at(now), source: 'NodePool default' };
  it.each<
    [
      string,
      ReportState,
      { isForced?: boolean; shown?: string; badTimestamp?: string; reportedDeadline?: string; deadline?: Deadline },
      Announcement | undefined,
    ]
  >([
    ['says that it has begun', { kind: 'unreported' }, {}, start],
    ['says so, too, of a Node whose hooks were left to a NodeClaim', { kind: 'hookOwner', claimUid: 'u' }, {}, start],
    ['says that first', { kind: 'unreported' }, { isForced: true, shown: 'soon' }, start],
    ['says nothing new', said('started'), {}, undefined],
    ['says that its deadline has come', said('Drain: pods'), { isForced: true, shown: 'soon' }, force],
    ['says that once', said('', true), { isForced: true }, undefined],
    [
      'says that its deadline has moved',
      said(''),
      { reportedDeadline: before, deadline },
      { kind: 'deadline', before, now },
    ],
    ['says that it has one now', said(''), { reportedDeadline: '', deadline }, { kind: 'deadline', before: '', now }],
    ['says that it has none', said(''), { reportedDeadline: before }, { kind: 'deadline', before, now: '' }],
    ['says so once', said(''), { reportedDeadline: now, deadline }, undefined],
    ['says nothing of it where an older version said the start', said(''), { deadline }, undefined],
    ['says at the deadline that it has come', said(''), { isForced: true, reportedDeadline: before, deadline }, force],
    ['shows what it cannot read', said(''), { shown: 'soon' }, { kind: 'badTimestamp', shown: 'soon' }],
    ['shows that once', said(''), { shown: 'soon', badTimestamp: 'soon' }, undefined],
    ['shows another one', said(''), { shown: 'later', badTimestamp: 'soon' }, { kind: 'badTimestamp', shown: 'later' }],
  ])('%s', (_, reportState, { isForced = false, shown, deadline: wanted, ...stored }, news) => {
    expect(nextAnnouncement({ reportState, ...stored }, { isForced, shown, deadline: wanted })).toEqual(news);
  });
});

describe('a step that fails', () => {
  it.each([
    [undefined, false, 'stop'],
    ['deletion', false, 'stop'],
    ['instance', false, 'stop'],
    ['end', false, 'stop'],
    [undefined, true, 'passOver'],
    ['deletion', true, 'passUntilEnd'],
    ['instance', true, 'stop'],
    ['end', true, 'stop'],
  ] as const)('with role %s, past the deadline: %s', (role, isForced, expected) => {
    expect(afterFailedStep(role, isForced)).toBe(expected);
  });
});

describe('a turn whose steps wait', () => {
  const seen = (fields: Partial<WaitObservation> = {}): WaitObservation => ({
    now: NOW,
    deletion: NOW,
    deadline: undefined,
    isForced: false,
    record: { reportState: said('started') },
    step: 'Drain',
    on: 'pods are stopping',
    until: later(60),
    ...fields,
  });
  const deadline = (time: EpochMs) => ({ deadline: { time, source: 'NodePool default' } });

  it.each<[string, Partial<WaitObservation>, EpochMs]>([
    ['when its step says', {}, later(60)],
    ['after five minutes at the latest (I5)', { until: later(999) }, later(300)],
    ['after five minutes where its step does not say', { until: undefined }, later(300)],
    ['at its deadline', deadline(later(30)), later(30)],
    ['not for a deadline that has come', deadline(NOW), later(60)],
  ])('looks again %s', (_, fields, wakeTime) => {
    expect(waitOfTurn(seen(fields)).wakeTime).toBe(wakeTime);
  });

  it.each<[string, Partial<WaitObservation>, boolean]>([
    ['that is new', {}, true],
    ['once', { record: { reportState: said('Drain: pods are stopping') } }, false],
    [
      'again when its deadline has come',
      { record: { reportState: said('Drain: pods are stopping') }, isForced: true },
      true,
    ],
    ['again for another step', { record: { reportState: said('Taint: pods are stopping') } }, true],
  ])('says what it waits on %s', (_, fields, isNew) => {
    const turn = waitOfTurn(seen(fields));
    expect(turn.isNew).toBe(isNew);
    expect(turn.report).toEqual({ isForced: fields.isForced ?? false, text: 'Drain: pods are stopping' });
  });

  const reported = { reportState: said('') };
  it.each<[string, Partial<WaitObservation>, boolean]>([
    [
      'not yet a quarter of an hour after a deadline that was before its deletion',
      deadline(addDuration(NOW, minutes(-15))),
      false,
    ],
    [
      'a quarter of an hour after its deadline, which was after the deletion',
      { ...deadline(addDuration(NOW, minutes(-15))), deletion: addDuration(NOW, hours(-1)) },
      true,
    ],
    ['a second before that', { ...deadline(later(1 - 15 * 60)), deletion: addDuration(NOW, hours(-1)) }, false],
    ['a day after its deletion where it has no deadline', { deletion: addDuration(NOW, hours(-24)) }, true],
    ['a second before that', { deletion: addDuration(later(1), hours(-24)) }, false],
    ['never, where nobody knows when it was deleted', { deletion: undefined }, false],
    ['once', { deletion: addDuration(NOW, hours(-24)), record: { ...reported, overdue: true } }, false],
  ])('is overdue %s', (_, fields, becomesOverdue) => {
    expect(waitOfTurn(seen(fields)).becomesOverdue).toBe(becomesOverdue);
  });
});

it.each([
  ['after the least', 3, 1, 8],
  ['after as long as it has taken', 20, 1, 20],
  ['after a share of what it has taken', 20, 0.5, 10],
  ['after the most', 100, 1, 60],
])('the next look is %s', (_, taken, share, wait) => {
  expect(nextLook(later(-taken), NOW, { least: seconds(8), most: seconds(60), share })).toBe(later(wait));
});
