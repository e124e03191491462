/** How far a drain is: what its deadline does, what counts as progress, and for how long it was paused. */
import { describe, expect, it } from 'vitest';
import type { Observation } from '../../../../functions/drain/rule/observation.ts';
import type { PodAct, PodPlan, PodWait } from '../../../../functions/drain/rule/pod-plan.ts';
import {
  deleteTimeOf,
  laterDeletion,
  withCounts,
  withSafetyNet,
  forcedEndTime,
  nextByDeadline,
  withTimeLeft,
  pastDeadline,
  stuckReportTime,
  withoutPause,
  withProgress,
  withTriedPods,
} from '../../../../functions/drain/rule/progress.ts';
import { NO_DRAIN_LIMITS, type KnownLimits, type DrainLimitsInForce } from '../../../../shared/domain/drain-limits.ts';
import type { PodView } from '../../../../shared/domain/pod.ts';
import {
  addDuration,
  hours,
  minutes,
  seconds,
  toDurationMs,
  type DurationMs,
  type EpochMs,
} from '../../../../shared/domain/time.ts';
import { active, configurationOf, NOW, observation, pod, request, RESOURCE } from '../observations.ts';

const at = (count: number): EpochMs => addDuration(NOW, minutes(count));
const limits: KnownLimits = { ...NO_DRAIN_LIMITS, deadline: minutes(30) };
const force: KnownLimits = { ...limits, onDeadline: 'Force' };
const UNREADABLE: DrainLimitsInForce = { kind: 'unreadable', message: 'nobody can read it' };
const evict = (name: string): PodAct => ({
  kind: 'evict',
  pod: pod(name),
  gracePeriodSeconds: undefined,
  overriddenProtection: undefined,
});
const remove = (name: string): PodAct => ({
  kind: 'delete',
  pod: pod(name),
  gracePeriodSeconds: 1,
  overriddenProtection: undefined,
});
const warn = (name: string): PodAct => ({ kind: 'warn', pod: pod(name), deleteTime: NOW, onceUnprotected: false });
const wait = (name: string, because: Exclude<PodWait['because'], 'Unknown'> = 'Protected'): PodWait => ({
  pod: pod(name),
  because,
  until: undefined,
});
const plan = (acts: readonly PodAct[], waits: readonly PodWait[] = []): PodPlan => ({
  acts,
  waits,
  leftPods: [],
  returnedPods: [],
  isDrained: false,
  nextTime: undefined,
});

describe('the deadline', () => {
  it('deletes pods only where the policy says so, and none of a custom drain', () => {
    expect(forcedEndTime(active(), force, false)).toBe(at(30));
    expect(forcedEndTime(active({ pausedFor: minutes(5) }), force, false)).toBe(at(35));
    expect(forcedEndTime(active(), force, true)).toBeUndefined();
    expect(forcedEndTime(active(), limits, false)).toBeUndefined();
    expect(forcedEndTime(active(), UNREADABLE, false)).toBeUndefined();
  });

  const past = (now: EpochMs, of: PodPlan, by: DrainLimitsInForce = limits, isCustom = false): unknown =>
    pastDeadline(active({ tried: [pod('a').uid] }), { limits: by, now, isCustom }, of);

  it('ends the drain with the pods that are left, each once', () => {
    expect(past(at(30), plan([evict('a')], [wait('b'), wait('a')]))).toEqual({
      status: 'Failed',
      reason: 'DeadlineExceeded',
      message: 'not over within drain.deadline, 2 pods are left',
      left: ['ml/a (Protected)', 'ml/b (Protected)'],
    });
    expect(past(at(30), plan([evict('a')]))).toMatchObject({
      message: 'not over within drain.deadline, 1 pod is left',
      left: ['ml/a (Running)'],
    });
    expect(past(addDuration(at(30), seconds(-1)), plan([evict('a')]))).toBeUndefined();
    expect(past(at(600), plan([evict('a')]), NO_DRAIN_LIMITS)).toBeUndefined();
    expect(past(at(600), plan([evict('a')]), UNREADABLE)).toBeUndefined();
  });

  it('leaves pods that it has deleted two seconds to go, and says of others that they must not be forced', () => {
    const end = addDuration(at(30), seconds(2));
    for (const going of [plan([remove('a')]), plan([], [wait('a', 'Terminating'), wait('b')])]) {
      expect(past(addDuration(end, seconds(-1)), going, force)).toBeUndefined();
      expect(past(end, going, force)).toMatchObject({
        reason: 'DeadlineExceeded',
        message: expect.stringMatching(/ left$/),
      });
      expect(past(at(30), going)).toMatchObject({ reason: 'DeadlineExceeded' });
      expect(past(at(30), going, force, true)).toMatchObject({ reason: 'DeadlineExceeded' });
    }
    expect(past(at(30), plan([evict('c')], [wait('b')]), force)).toMatchObject({
      message: 'not over within drain.deadline, 2 pods are left that must not be forced',
    });
  });

  it('deletes pods before it ends also where Curfew is late, and waits for none that came after it', () => {
    const [late, goes] = [at(45), addDuration(at(45), seconds(1))];
    const [old, young] = [{ creationTime: at(30) }, { creationTime: at(31) }];
    const deletes = (name: string, more: Partial<PodView>) =>
      plan([{ ...remove(name), pod: { ...pod(name), ...more } }]);
    const stops = (more: Partial<PodView>) =>
      plan([], [{ ...wait('a', 'Terminating'), pod: { ...pod('a'), ...more } }]);
    for (const going of [
      deletes('b', {}),
      deletes('b', old),
      deletes('b', { creationTime: undefined }),
      stops({ ...old, deletionTime: goes }),
    ]) {
      expect(past(late, going, force)).toBeUndefined();
      expect(past(late, going)).toMatchObject({ reason: 'DeadlineExceeded' });
    }
    for (const left of [deletes('a', old), deletes('b', young), stops({ ...young, deletionTime: goes })])
      expect(past(late, left, force)).toMatchObject({ reason: 'DeadlineExceeded' });
    expect(past(addDuration(goes, seconds(2)), stops({ ...old, deletionTime: goes }), force)).toBeDefined();
    expect(nextByDeadline(active(), force, late)).toBe(addDuration(late, seconds(2)));
  });

  it('is looked at when it comes, and when the last pods have had their time', () => {
    const end = addDuration(at(30), seconds(2));
    expect(nextByDeadline(active(), limits, at(29))).toBe(at(30));
    expect(nextByDeadline(active(), limits, at(30))).toBe(end);
    expect(nextByDeadline(active(), limits, end)).toBe(addDuration(end, seconds(2)));
    expect(nextByDeadline(active(), NO_DRAIN_LIMITS, NOW)).toBe(at(240));
  });
});

describe('progress', () => {
  it('is made with the first look, and then whenever fewer pods are left than ever before', () => {
    const two = plan([evict('a')], [wait('b'), wait('a')]);
    const first = withProgress(active(), two, at(5));
    expect(first.progress).toEqual({ pods: 2, time: NOW });
    expect(withProgress(first, two, at(6))).toBe(first);
    expect(withProgress(first, plan([evict('a'), evict('b'), evict('c')]), at(6))).toBe(first);
    const said = { ...first, progress: { pods: 2, time: NOW, saidTime: at(6) } };
    expect(withProgress(said, plan([evict('a')]), at(7)).progress).toEqual({ pods: 1, time: at(7) });
  });

  it('that is missing for four hours is said, and again a day later', () => {
    const moved = (progress: Partial<{ time: EpochMs; saidTime: EpochMs }>): EpochMs | undefined =>
      stuckReportTime(active({ progress: { pods: 1, time: at(10), ...progress } }), NO_DRAIN_LIMITS);
    expect(stuckReportTime(active(), NO_DRAIN_LIMITS)).toBe(at(240));
    expect(moved({})).toBe(at(250));
    expect(moved({ saidTime: at(250) })).toBe(addDuration(at(250), hours(24)));
    expect(moved({ saidTime: at(10) })).toBe(addDuration(at(10), hours(24)));
    expect(moved({ saidTime: at(5) })).toBe(at(250));
    expect(stuckReportTime(active(), limits)).toBeUndefined();
    expect(stuckReportTime(active(), UNREADABLE)).toBe(at(240));
  });

  it('of a custom drain is that of its resource', () => {
    const resource = { ...RESOURCE, seen: { since: at(20), resourceVersion: '7' } };
    const drain = active({ phase: { kind: 'custom', resource }, progress: { pods: 1, time: at(10) } });
    expect(stuckReportTime(drain, NO_DRAIN_LIMITS)).toBe(at(260));
  });

  it('names the pods that it has set out to end, once each, and those not that are only warned', () => {
    const drain = active({ tried: ['uid-a'] });
    expect(withTriedPods(drain, plan([evict('a'), remove('b'), warn('c')], [wait('d')]))).toEqual(['uid-a', 'uid-b']);
    expect(withTriedPods(drain, plan([evict('a'), warn('c')]))).toBe(drain.tried);
  });

  it('counts tried pods that are gone or about to go, and never fewer than before', () => {
    const drain = active({ tried: ['uid-a', 'uid-b', 'uid-c'], warned: ['uid-b', 'uid-x'], goneCount: 2 });
    const pods = [pod('b', { deletionTimestamp: '2024-11-01T15:00:00Z' }), pod('c')];
    expect(withCounts(drain, pods)).toMatchObject({
      tried: ['uid-b', 'uid-c'],
      warned: ['uid-b'],
      goneCount: 3,
      drained: 4,
    });
    expect(withCounts({ ...drain, drained: 9 }, pods)).toMatchObject({ drained: 9 });
  });
});

describe('a deletion that is overdue when its drain begins', () => {
  const left = (time: EpochMs | undefined, timeout = minutes(60)): EpochMs | undefined =>
    withTimeLeft({ ...request('e1'), ...(time !== undefined && { time }) }, timeout, NOW).time;

  it('has ten minutes left, or the whole time-out if that is less', () => {
    expect(left(at(-60))).toBe(at(-50));
    expect(left(at(-90))).toBe(at(-50));
    expect(left(at(-59))).toBe(at(-59));
    expect(left(at(-90), minutes(5))).toBe(NOW);
    expect(left(undefined)).toBeUndefined();
  });
});

describe('the instant at which pods are deleted', () => {
  it.each<[string, { told?: number; timeout: number; now: number }, number]>([
    ['is the time-out after the request', { timeout: 60, now: 70 }, 60],
    ['moves away with a longer time-out', { told: 50, timeout: 60, now: 55 }, 60],
    ['moves away even where the longer time-out is over', { told: 50, timeout: 60, now: 70 }, 60],
    ['comes nearer with a shorter time-out', { told: 120, timeout: 60, now: 30 }, 60],
    ['leaves ten minutes where the shorter time-out is over', { told: 120, timeout: 60, now: 70 }, 80],
    ['leaves that time-out if it is less', { told: 120, timeout: 5, now: 70 }, 75],
    ['comes no later than the owners were told', { told: 72, timeout: 60, now: 70 }, 72],
    ['stays where it is over itself', { told: 65, timeout: 60, now: 70 }, 65],
  ])('%s', (_, { told, timeout, now }, expected) => {
    const drain = active(told === undefined ? {} : { deleteTime: at(told) });
    expect(deleteTimeOf(drain, minutes(timeout), at(now))).toBe(at(expected));
  });
});

describe('a deletion of which the owner would be warned too late', () => {
  const late = (name: string): PodAct => ({ ...warn(name), pod: { ...pod(name), creationTime: at(10) } });
  const later = (acts: readonly PodAct[], timeout: DurationMs, now = at(20)): EpochMs | undefined =>
    laterDeletion(plan(acts), active(), timeout, now);

  it.each<[string, readonly PodAct[], DurationMs, DurationMs]>([
    ['comes ten minutes later', [warn('a')], minutes(60), minutes(10)],
    ['comes after the time-out if that is less', [warn('a')], minutes(5), minutes(5)],
    ['comes ten seconds later for pods that are late themselves', [late('a'), late('b')], minutes(60), seconds(10)],
    ['comes ten minutes later if only some are late', [late('a'), warn('b')], minutes(60), minutes(10)],
  ])('%s', (_, acts, timeout, expected) => {
    expect(later(acts, timeout)).toBe(addDuration(at(20), expected));
  });

  it('is none where the warning is in time, or the act another one', () => {
    expect(later([warn('a')], minutes(60), addDuration(NOW, seconds(-1)))).toBeUndefined();
    expect(later([evict('a'), remove('b')], minutes(60))).toBeUndefined();
  });
});

describe('a drain is looked at again', () => {
  const POLICY = configurationOf(`[[podDrainPolicies]]\nname = "a"\npodSelector = "app=x"\nmode = "Immediate"\n`);
  const ofDevices = { active: active({ scope: { kind: 'entities', entities: ['A'] } }) };
  const { now, node, record } = observation();
  const deferred = { event: request('e1').event, since: at(-8) };

  it.each<[string, Observation, EpochMs | undefined, EpochMs]>([
    ['after five minutes', observation({ record: { active: active() } }), undefined, at(5)],
    ['after five minutes without a configuration', observation({ configuration: undefined }), undefined, at(5)],
    [
      'after five minutes where nothing is asked',
      { kind: 'idle', now, node, record, incoming: undefined },
      undefined,
      at(5),
    ],
    ['after a minute where pods are chosen by their labels', observation({ configuration: POLICY }), undefined, at(1)],
    ['after a minute where pods are chosen by their devices', observation({ record: ofDevices }), undefined, at(1)],
    ['at the instant that it waits for', observation(), at(4), at(4)],
    ['before a later instant that it waits for', observation(), at(6), at(5)],
    ['when a recovery has lasted', observation({ record: { deferredRecoveries: [deferred] } }), at(4), at(2)],
  ])('%s', (_, observed, time, expected) => {
    expect(withSafetyNet(observed, time)).toBe(expected);
  });
});

describe('a drain that was paused', () => {
  const record = { requests: [], finished: [] };
  const waiting = { ...request('e2'), time: at(-40) };

  it('is as it was where it was not', () => {
    const idle = { ...record, requests: [waiting] };
    expect(withoutPause(idle, NOW)).toBe(idle);
  });

  it('moves on what waits where no drain is under way', () => {
    const paused = { ...record, requests: [waiting], pausedSince: at(-30) };
    expect(withoutPause(paused, NOW)).toEqual({ ...record, requests: [{ ...waiting, time: at(-10) }] });
  });

  it.each<[string, number, number, number]>([
    ['before it', -60, -45, -30],
    ['in the middle of it', -20, -10, 0],
  ])('moves on the time-outs of a custom resource that was made %s', (_, created, seen, expected) => {
    const resource = { ...RESOURCE, createdTime: at(created), seen: { resourceVersion: '1', since: at(seen) } };
    const held = { ...record, active: active({ phase: { kind: 'custom', resource } }), pausedSince: at(-30) };
    const phase = withoutPause(held, NOW).active?.phase;
    expect(phase).toMatchObject({
      resource: { createdTime: at(expected), seen: { since: at(expected === 0 ? 0 : seen + 30) } },
    });
  });

  it('moves all its instants on by as long as that lasted, and warns anew', () => {
    const drain = active({ startTime: at(-50), requests: [{ ...request('e1'), time: at(-50) }], warned: ['uid-a'] });
    const paused = {
      ...record,
      requests: [waiting, request('e3')],
      active: drain,
      pausedSince: at(-30),
      reported: 'x',
    };
    expect(withoutPause(paused, NOW)).toEqual({
      ...record,
      requests: [
        { ...waiting, time: at(-10) },
        { ...request('e3'), time: NOW },
      ],
      active: {
        ...drain,
        requests: [{ ...request('e1'), time: at(-20) }],
        warned: [],
        pausedFor: minutes(30),
      },
    });
  });

  it('was not paused before it began, or before it had its turn to wait for', () => {
    const drain = active({ startTime: at(-10), pausedFor: minutes(1) });
    const since = (of: typeof drain): unknown =>
      withoutPause({ ...record, active: of, pausedSince: at(-30) }, NOW).active?.pausedFor;
    expect(since(drain)).toBe(minutes(11));
    expect(since({ ...drain, phase: { kind: 'waiting', since: at(-5), takesSlot: false } })).toBe(minutes(6));
    expect(since({ ...drain, startTime: at(10) })).toBe(toDurationMs(60_000));
  });

  it('forgets what was said of it, where a record of before does not know since when', () => {
    const drain = active({ warned: ['uid-a'] });
    const paused = { ...record, requests: [waiting], active: drain, reported: 'x' };
    expect(withoutPause(paused, NOW)).toEqual({ ...record, requests: [{ ...waiting, time: NOW }], active: drain });
    expect(withoutPause({ ...record, requests: [waiting], reported: 'x' }, NOW)).toEqual({
      ...record,
      requests: [{ ...waiting, time: NOW }],
    });
  });
});
