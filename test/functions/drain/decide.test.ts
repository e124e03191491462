/** The rule of drains, row by row of NVSentinel's decision table, and its properties. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { narrowed } from '../../../functions/drain/rule/cancellation.ts';
import { decide } from '../../../functions/drain/decide.ts';
import { isRequest, isForceful } from '../../../functions/drain/rule/phase.ts';
import { REMEMBERED_FOR } from '../../../functions/drain/rule/history.ts';
import { NO_DRAINS, type ActiveDrain, type DrainRecord } from '../../../functions/drain/record.ts';
import type { DrainOutcome, FinishedDrain, Timestamps } from '../../../functions/drain/request-record.ts';
import type { DrainObservation, IncomingMessage } from '../../../functions/drain/rule/observation.ts';
import { isOnlyObserved } from '../../../functions/drain/rule/pauses.ts';
import { covers, FULL, scopeOf } from '../../../functions/drain/rule/pods.ts';
import { addDuration, hours, minutes, seconds } from '../../../shared/domain/time.ts';
import {
  active,
  finished,
  modes,
  NOW,
  observation,
  pod,
  prepared,
  request,
  reset,
  configurationOf,
  asking,
  recovered,
} from './observations.ts';

const ending = (outcome: DrainOutcome): ActiveDrain['phase'] => ({
  kind: 'ending',
  outcome: { ...outcome, time: NOW },
  over: [],
  before: { kind: 'draining' },
});
const GPU_A = { kind: 'entities', entities: ['A'] } as const;
const PARTIAL = modes('Immediate', 'partialDrainEnabled = true');

describe('a request that needs no drain', () => {
  const answerOf = (given: Parameters<typeof observation>[0], asked: ReturnType<typeof request>): unknown => {
    const decision = decide(observation({ ...given, incoming: asking(asked) }));
    return decision.kind === 'answer' ? `${decision.answer.status} ${decision.answer.reason}` : decision.kind;
  };
  const listed = (...ids: string[]) => ({ node: { unschedulable: true, quarantine: ids } });

  it.each([
    ['E5 a recovery', {}, request('e2', { isHealthy: true }, 'AlreadyQuarantined'), 'AlreadyDrained Recovered'],
    ['E6 skip', {}, request('e2', { drainOverrides: { force: true, skip: true } }), 'AlreadyDrained Skipped'],
    [
      'E5 before E7',
      { configuration: PARTIAL },
      request('e2', { isHealthy: true, recommendedAction: 2 }),
      'AlreadyDrained Recovered',
    ],
    ['E7 no usable entity', { configuration: PARTIAL }, reset('e2', []), 'Failed NoSupportedEntity'],
    ['E7 an empty UUID', { configuration: PARTIAL }, reset('e2', ['']), 'Failed NoSupportedEntity'],
    ['partial drains switched off', {}, reset('e2', []), 'begin'],
    ['E8b no annotation', {}, request('e2', {}, 'AlreadyQuarantined'), 'Cancelled StaleEvent'],
    [
      'released by a person',
      { node: { isReleased: true } },
      request('e2', {}, 'Quarantined'),
      'Cancelled ManuallyReleased',
    ],
    ['released by a person, asked for by somebody else', { node: { isReleased: true } }, request('e2'), 'begin'],
    [
      'quarantined anew after a release',
      { node: { isReleased: true, quarantine: ['e2'] } },
      request('e2', {}, 'Quarantined'),
      'begin',
    ],
    ['Quarantined, annotation or not', {}, request('e2', {}, 'Quarantined'), 'begin'],
    [
      'a list that cannot be read',
      { node: { quarantine: 'unreadable' as const } },
      request('e2', {}, 'AlreadyQuarantined'),
      'take',
    ],
  ])('%s', (_, given, asked, expected) => {
    expect(answerOf(given, asked)).toBe(expected);
  });

  it.each([
    ['full covers full', finished('e1'), request('e2', {}, 'AlreadyQuarantined'), 'AlreadyDrained Covered'],
    [
      'of a node that was opened since',
      finished('e1', { recovered: true }),
      request('e2', {}, 'AlreadyQuarantined'),
      'begin',
    ],
    ['full covers a GPU', finished('e1'), reset('e2', ['A'], 'AlreadyQuarantined'), 'AlreadyDrained Covered'],
    [
      'a GPU covers itself',
      finished('e1', { scope: GPU_A }),
      reset('e2', ['A'], 'AlreadyQuarantined'),
      'AlreadyDrained Covered',
    ],
    ['a GPU covers no other', finished('e1', { scope: GPU_A }), reset('e2', ['B'], 'AlreadyQuarantined'), 'begin'],
    ['a GPU covers no two', finished('e1', { scope: GPU_A }), reset('e2', ['A', 'B'], 'AlreadyQuarantined'), 'begin'],
    ['a GPU covers not all', finished('e1', { scope: GPU_A }), request('e2', {}, 'AlreadyQuarantined'), 'begin'],
    ['failed covers nothing', finished('e1', { status: 'Failed' }), request('e2', {}, 'AlreadyQuarantined'), 'begin'],
    [
      'AlreadyDrained covers nothing',
      finished('e1', { status: 'AlreadyDrained' }),
      request('e2', {}, 'AlreadyQuarantined'),
      'begin',
    ],
    ['another quarantine covers nothing', finished('e0'), request('e2', {}, 'AlreadyQuarantined'), 'begin'],
    ['Quarantined is never covered', finished('e1'), request('e2', {}, 'Quarantined'), 'begin'],
  ])('E8c %s', (_, before, asked, expected) => {
    const given = { ...listed('e1', asked.id), configuration: PARTIAL, record: { finished: [before] } };
    expect(answerOf(given, asked)).toBe(expected);
  });

  it('waits for a configuration, without which nothing says what covers it', () => {
    const asked = request('e2', {}, 'AlreadyQuarantined');
    const given = { ...listed('e1', 'e2'), configuration: undefined, record: { finished: [finished('e1')] } };
    expect(answerOf(given, asked)).toBe('take');
  });

  it('is not paused by an unreadable list if one of the waiting requests needs none', () => {
    const requests = [request('e1'), request('e2', {}, 'AlreadyQuarantined')];
    const decision = decide(observation({ node: { quarantine: 'unreadable' }, record: { requests } }));
    expect(decision).toMatchObject({ kind: 'begin' });
  });

  it('has its coverage looked at again when it waited', () => {
    const asked = request('e2', {}, 'AlreadyQuarantined');
    const record = { requests: [asked], finished: [finished('e1')] };
    expect(decide(observation({ ...listed('e1'), record }))).toMatchObject({
      kind: 'answer',
      answer: { reason: 'Covered' },
    });
    expect(decide(observation({ ...listed(), record }))).toMatchObject({ kind: 'begin' });
    const unreadable = { node: { unschedulable: true, quarantine: 'unreadable' as const }, record };
    expect(decide(observation(unreadable))).toMatchObject({ kind: 'pause', reason: 'UnreadableQuarantine' });
  });
});

describe('a request that nothing stands in the way of', () => {
  const asked = request('e1');

  it('begins in the write that takes it', () => {
    const decision = decide(observation({ incoming: asking(asked) }));
    expect(decision).toMatchObject({
      kind: 'begin',
      takenRequest: { id: 'e1', time: NOW },
      active: { id: 'e1', requests: [{ id: 'e1' }] },
      record: { requests: [], active: { id: 'e1' } },
    });
  });

  it.each([
    ['an hour ago', hours(-1), hours(-1)],
    ['by a clock that is a little ahead of this one: never early', seconds(2), seconds(2)],
    ['by a clock that is wrong', minutes(30), seconds(0)],
  ])('counts from when it was made: %s', (_, made, start) => {
    const decision = decide(observation({ incoming: asking({ ...asked, time: addDuration(NOW, made) }) }));
    expect(decision).toMatchObject({ takenRequest: { time: addDuration(NOW, start) } });
  });

  it('is only taken without a configuration, or where the mode is Observe', () => {
    expect(decide(observation({ incoming: asking(asked), configuration: undefined }))).toMatchObject({ kind: 'take' });
    expect(decide(observation({ incoming: asking(asked), inForce: { mode: 'Observe' } }))).toMatchObject({
      kind: 'take',
    });
  });
});

describe('two requests', () => {
  const under = active({ scope: GPU_A, requests: [reset('e1', ['A'])] });
  const on = (asked: ReturnType<typeof request>) =>
    decide(observation({ configuration: PARTIAL, record: { active: under }, incoming: asking(asked) }));

  it('join where the second asks for no more, and follow where it does', () => {
    expect(on(reset('e2', ['A']))).toMatchObject({ kind: 'take', position: 'joins' });
    expect(on(reset('e2', ['B']))).toMatchObject({ kind: 'take', position: 'follows' });
    expect(on(request('e2'))).toMatchObject({ kind: 'take', position: 'follows' });
  });

  it('leave a forced drain forced, and make one that is not forced so', () => {
    const forced = { drainOverrides: { force: true, skip: false } };
    const forceAfter = (force: boolean, asked: ReturnType<typeof request>): unknown => {
      const record = { active: active({ force }) };
      const decision = decide(observation({ record, incoming: asking(asked) }));
      return decision.kind === 'take' && decision.record.active?.force;
    };
    expect(forceAfter(true, request('e2'))).toBe(true);
    expect(forceAfter(false, request('e2', forced))).toBe(true);
    expect(forceAfter(false, request('e2'))).toBe(false);
  });

  it('that wait become one drain, wide enough for each', () => {
    const record = { requests: [reset('e1', ['B']), reset('e2', ['A'])] };
    expect(decide(observation({ configuration: PARTIAL, record }))).toMatchObject({
      kind: 'begin',
      active: { id: 'e1', scope: { kind: 'entities', entities: ['A', 'B'] } },
    });
    const wide = { requests: [...record.requests, request('e3', { drainOverrides: { force: true, skip: false } })] };
    expect(decide(observation({ configuration: PARTIAL, record: wide }))).toMatchObject({
      active: { scope: FULL, force: true },
    });
  });

  it('with one id are one', () => {
    expect(on(reset('e1', ['A'])).kind).not.toBe('take');
    const again = { record: { finished: [finished('e2')] }, incoming: asking(request('e2')) };
    expect(decide(observation(again))).toMatchObject({
      kind: 'answer',
      novelty: 'repeated',
      answer: { status: 'Succeeded' },
    });
  });
});

describe('a drain that is asked for', () => {
  const record = { requests: [request('e1')] };

  it('is paused without a configuration, and in Observe', () => {
    expect(decide(observation({ record, configuration: undefined }))).toMatchObject({
      kind: 'pause',
      reason: 'NoConfiguration',
    });
    expect(decide(observation({ record, inForce: { mode: 'Observe' } }))).toMatchObject({
      kind: 'pause',
      reason: 'ObserveMode',
    });
  });

  it('counts from when it came, but not the time that it was paused', () => {
    const time = addDuration(NOW, minutes(-50));
    const waited = { requests: [{ ...request('e1'), time }] };
    expect(decide(observation({ record: waited }))).toMatchObject({ active: { requests: [{ time }] } });
    const paused = { ...waited, reported: 'ObserveMode' };
    expect(decide(observation({ record: paused }))).toMatchObject({ active: { requests: [{ time: NOW }] } });
  });

  it('is told before it is forgotten', () => {
    const outcome: DrainOutcome = { status: 'Succeeded', reason: 'Drained', message: '', left: [] };
    const ended = active({ phase: ending(outcome) });
    expect(decide(observation({ record: { active: ended } }))).toMatchObject({ kind: 'close', ending: { outcome } });
  });
});

describe('the drain under way', () => {
  const step = (given: Parameters<typeof observation>[0] = {}, drained = active()) =>
    decide(observation({ pods: [pod('a')], node: prepared(drained), record: { active: drained }, ...given }));

  it('prepares the node first: cordoned by us unless it is cordoned, also under a quarantine by taint', () => {
    const fresh = active();
    const { cordon: _, ...uncordoned } = fresh;
    const first = (node: object) => decide(observation({ pods: [pod('a')], node, record: { active: uncordoned } }));
    expect(first({})).toMatchObject({
      kind: 'prepare',
      cordon: { by: 'own', quarantined: false },
      showDraining: true,
    });
    expect(first({ unschedulable: true })).toMatchObject({ cordon: { by: 'other' } });
    expect(first({ quarantine: ['e1'] })).toMatchObject({ cordon: { by: 'own', quarantined: true } });
    // By a run that died before it could note that down.
    expect(first({ unschedulable: true, cordonMark: 'e1' })).toMatchObject({ cordon: { by: 'own' } });
  });

  it('goes on in a quarantine without a cordon', () => {
    const quarantined = active({ cordon: { quarantined: true, by: 'none' } });
    const node = { ...prepared(quarantined), unschedulable: false, cordonMark: undefined, quarantine: ['e1'] };
    expect(decide(observation({ node, pods: [pod('a')], record: { active: quarantined } })).kind).toBe('drain');
  });

  it('I2: names the protection that it overrides, and none that is not there or is over', () => {
    const annotated = (value: string): object => ({ annotations: { 'karpenter.sh/do-not-disrupt': value } });
    const pods = [pod('a'), pod('b', annotated('1h')), pod('c', annotated('true'))];
    const decision = step({ pods, inForce: { isProtectionOverridden: true } });
    const acts = decision.kind === 'drain' ? decision.plan.acts : [];
    expect(acts).toEqual([
      expect.objectContaining({ kind: 'evict', overriddenProtection: undefined }),
      expect.objectContaining({ kind: 'evict', overriddenProtection: undefined }),
      expect.objectContaining({ kind: 'evict', overriddenProtection: expect.objectContaining({ kind: 'indefinite' }) }),
    ]);
  });

  it('goes on in Observe, which pauses what would begin: of those under way the one that waits for its turn', () => {
    expect(step({ inForce: { mode: 'Observe' } })).toMatchObject({ kind: 'drain' });
    const waiting = active({ phase: { kind: 'waiting', since: NOW, takesSlot: false } });
    expect(step({ inForce: { mode: 'Observe' } }, waiting)).toMatchObject({ kind: 'pause', reason: 'ObserveMode' });
    const following = { active: active(), requests: [request('e2')] };
    expect(step({ inForce: { mode: 'Observe' }, record: following })).toMatchObject({ kind: 'drain' });
  });

  it('goes on after a pause: later by its length, and with new warnings', () => {
    const time = addDuration(NOW, minutes(-50));
    const late = { ...request('e2'), time: addDuration(NOW, minutes(-10)) };
    const drained = active({ requests: [{ ...request('e1'), time }, late], warned: ['a'] });
    const record = {
      active: drained,
      requests: [],
      finished: [],
      reported: 'NoConfiguration',
      pausedSince: addDuration(NOW, minutes(-30)),
    };
    expect(step({ record, configuration: undefined })).toMatchObject({ kind: 'pause' });
    const resumed = step({ record });
    expect(resumed).toMatchObject({
      kind: 'note',
      record: {
        active: { requests: [{ time: addDuration(NOW, minutes(-20)) }, { time: NOW }], warned: [] },
      },
    });
    expect(resumed).not.toHaveProperty('record.reported');
    expect(resumed).not.toHaveProperty('record.pausedSince');
  });

  it('E12b to E12d: does each mode for itself', () => {
    const configuration = configurationOf(`
[[userNamespaces]]
name = "ml"
mode = "Immediate"
[[userNamespaces]]
name = "web"
mode = "AllowCompletion"
[[userNamespaces]]
name = "db"
mode = "DeleteAfterTimeout"`);
    const pods = [pod('a'), pod('b', { namespace: 'web' }), pod('c', { namespace: 'db' })];
    expect(step({ configuration, pods })).toMatchObject({
      kind: 'drain',
      plan: {
        acts: [
          { kind: 'warn', pod: { name: 'c' } },
          { kind: 'evict', pod: { name: 'a' } },
        ],
        waits: [{ because: 'Deadline' }, { because: 'Completion' }],
      },
    });
  });

  it('warns nobody of a deletion where it ends at once', () => {
    const configuration = modes('DeleteAfterTimeout', 'deleteAfterTimeoutMinutes = 60');
    const notReady = {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2024-11-01T12:00:00Z' }],
    };
    const given = { configuration, pods: [pod('a', {}, notReady)] };
    expect(step(given)).toMatchObject({ kind: 'finish', plan: { acts: [] } });
    const { cordon: _, ...uncordoned } = active();
    const first = decide(observation({ ...given, record: { active: uncordoned } }));
    expect(first).toMatchObject({ kind: 'prepare', plan: { acts: [] } });
  });

  describe('when deleteAfterTimeoutMinutes has changed', () => {
    const ago = (count: number) => [{ ...request('e1'), time: addDuration(NOW, minutes(-count)) }];
    const told = active({ requests: ago(40), warned: ['uid-a'], deleteTime: addDuration(NOW, minutes(20)) });
    const on = (count: number, drain = told) =>
      step({ configuration: modes('DeleteAfterTimeout', `deleteAfterTimeoutMinutes = ${count}`) }, drain);

    it('warns of a sooner instant, ten minutes before where that is over, or the time-out if that is less', () => {
      const cases = [[50, 10], [45, 5], [30, 10], [4, 4]] as const; // prettier-ignore
      for (const [count, left] of cases) {
        const deleteTime = addDuration(NOW, minutes(left));
        expect(on(count)).toMatchObject({
          active: { warned: [], deleteTime },
          plan: { acts: [{ kind: 'warn', deleteTime }], waits: [{ because: 'Deadline', until: deleteTime }] },
        });
      }
      const warnedAnew = { ...told, deleteTime: addDuration(NOW, minutes(-10)) };
      expect(on(30, warnedAnew)).toMatchObject({ plan: { acts: [{ kind: 'delete' }] } });
    });

    it('never puts off what was said, and says one instant until it comes', () => {
      const soon = { ...told, deleteTime: addDuration(NOW, minutes(7)) };
      expect(on(30, soon)).toMatchObject({
        active: { warned: ['uid-a'], deleteTime: soon.deleteTime },
        plan: { acts: [] },
      });
      const now = { ...told, deleteTime: NOW };
      expect(on(30, now)).toMatchObject({ active: { deleteTime: NOW }, plan: { acts: [{ kind: 'delete' }] } });
    });

    it('warns ten minutes before of a pod whose mode is the time-out from now on, and ten seconds before of one that came late', () => {
      const ofAnotherMode = { ...told, warned: [], deleteTime: addDuration(NOW, minutes(-10)) };
      const deleteTime = addDuration(NOW, minutes(10));
      expect(on(30, ofAnotherMode)).toMatchObject({
        active: { deleteTime },
        plan: { acts: [{ kind: 'warn', deleteTime }] },
      });
      const late = pod('a', { creationTimestamp: '2024-11-01T14:59:00Z' });
      const configuration = modes('DeleteAfterTimeout', 'deleteAfterTimeoutMinutes = 30');
      const begun = { ...ofAnotherMode, startTime: addDuration(NOW, minutes(-40)) };
      expect(step({ configuration, pods: [late] }, begun)).toMatchObject({
        active: { deleteTime: addDuration(NOW, seconds(10)) },
        plan: { acts: [{ kind: 'warn', deleteTime: addDuration(NOW, seconds(10)) }] },
      });
    });

    it('warns nobody of the same instant or a later one', () => {
      for (const count of [60, 90]) expect(on(count)).toMatchObject({ plan: { acts: [], waits: [{}] } });
    });
  });

  it('E12e: ends when nothing is left, and names what was not waited for', () => {
    expect(step({ pods: [] })).toMatchObject({ kind: 'finish', outcome: { status: 'Succeeded', reason: 'Drained' } });
    const since = { type: 'Ready', status: 'False', lastTransitionTime: '2024-11-01T14:50:00Z' };
    const unready = pod('a', {}, { phase: 'Running', conditions: [since] });
    expect(step({ pods: [unready], configuration: modes('AllowCompletion') })).toMatchObject({
      kind: 'finish',
      outcome: { reason: 'DrainedWithPodsLeft', left: ['ml/a (NotReady)'] },
    });
  });

  it.each([
    ['an uncordon', { unschedulable: false }, active(), 'Uncordoned'],
    ['the end of the quarantine', {}, active({ cordon: { quarantined: true, by: 'none' } }), 'UnQuarantined'],
    [
      'a release by hand',
      { isReleased: true },
      active({ cordon: { quarantined: true, by: 'other' } }),
      'ManuallyReleased',
    ],
  ])('is cancelled by %s', (_, node, under, reason) => {
    expect(step({ node: { ...prepared(under), ...node } }, under)).toMatchObject({
      kind: 'finish',
      outcome: { status: 'Cancelled', reason },
    });
  });
});

describe('what a drain counts', () => {
  const tried = ['uid-a', 'uid-b', 'uid-c'];

  it('is what it set out to evict and what goes, whichever run noted it', () => {
    const drain = active({ tried });
    const node = prepared(drain);
    expect(decide(observation({ record: { active: drain }, node }))).toMatchObject({
      kind: 'finish',
      active: { drained: 3 },
      outcome: { message: '3 pods were drained' },
    });
    const pods = [pod('a', { deletionTimestamp: '2024-11-01T15:00:30Z' }), pod('b')];
    expect(decide(observation({ record: { active: drain }, node, pods }))).toMatchObject({
      kind: 'drain',
      active: { drained: 2 },
    });
  });

  it('forgets the pods that are not there any more, and not how many they were', () => {
    const drain = active({ tried, warned: ['uid-b', 'uid-c'], goneCount: 7 });
    const pods = [pod('a', { deletionTimestamp: '2024-11-01T15:00:30Z' }), pod('b')];
    const next = decide(observation({ record: { active: drain }, node: prepared(drain), pods }));
    expect(next).toMatchObject({ active: { tried: ['uid-a', 'uid-b'], warned: ['uid-b'], goneCount: 8, drained: 9 } });
  });

  it('goes on from what a record of before says', () => {
    const drain = active({ drained: 4 });
    const decision = decide(observation({ record: { active: drain }, node: prepared(drain) }));
    expect(decision).toMatchObject({ active: { drained: 4 }, outcome: { message: '4 pods were drained' } });
  });
});

describe('what calls a drain off', () => {
  const on = (incoming: IncomingMessage, given: Parameters<typeof observation>[0] = {}) =>
    decide(
      observation({ record: { active: active({ requests: [request('e1'), request('e2')] }) }, incoming, ...given }),
    );

  it('ends the request that it names, or all of them', () => {
    expect(on({ kind: 'cancelled', id: 'e2' })).toMatchObject({
      kind: 'cancel',
      answers: [{ id: 'e2', status: 'Cancelled' }],
    });
    expect(on({ kind: 'withdrawn', id: 'e2' })).toMatchObject({ kind: 'cancel', answers: [{ reason: 'Withdrawn' }] });
    expect(on({ kind: 'unQuarantined' })).toMatchObject({
      kind: 'cancel',
      answers: [],
      record: { active: { phase: { kind: 'ending', outcome: { reason: 'UnQuarantined' } } } },
    });
    // It may come later, and is answered then; the drain under way goes on.
    expect(on({ kind: 'cancelled', id: 'e9' })).toMatchObject({
      kind: 'cancel',
      releasesNode: false,
      answers: [{ id: 'e9', status: 'Cancelled', reason: 'ManuallyReleased' }],
      record: { active: { id: 'e1' } },
    });
    expect(on({ kind: 'withdrawn', id: 'e9' }).kind).not.toBe('cancel');
  });

  it('that somebody sends by uncordoning the node of an ended drain ends what waits for another one', () => {
    const node = { unschedulable: false, cordonMark: 'e1' };
    const record = { requests: [request('e2')], finished: [finished('e1')] };
    const mode = { mode: 'Observe' } as const;
    const asked = asking(request('e3'));
    const opened = decide(observation({ record, node, inForce: mode, incoming: asked }));
    expect(opened).toMatchObject({
      kind: 'cancel',
      answers: [{ id: 'e2', reason: 'Uncordoned' }],
      record: { requests: [], uncordonedMark: 'e1' },
    });
    const noted = { ...record, finished: [], uncordonedMark: 'e1' };
    const later = { unschedulable: false, uncordonedMark: 'e1' };
    expect(decide(observation({ record: noted, node: later, inForce: mode })).kind).toBe('pause');
  });

  describe('that somebody sends by uncordoning the node while the end of a drain is carried out', () => {
    const waiting = request('e2');
    const seen = (status: DrainOutcome['status'], by: 'own' | 'other' | 'none', uncordonedMark?: string): unknown => {
      const cordon = { quarantined: false, by };
      const drain = active({ cordon, phase: ending({ status, reason: 'R', message: 'm', left: [] }) });
      const node = { ...prepared(drain), unschedulable: false, cordonMark: undefined, uncordonedMark };
      const record = { active: drain, requests: [waiting], ...(uncordonedMark !== undefined && { uncordonedMark }) };
      const decision = decide(observation({ record, node }));
      return decision.kind === 'cancel' ? decision.answers.map(({ id, reason }) => `${id} ${reason}`) : decision.kind;
    };

    it.each([
      ['with our mark', 'Succeeded', 'own', 'e1', ['e2 Uncordoned']],
      ['without it', 'Succeeded', 'own', undefined, ['e2 Uncordoned']],
      ['that others have cordoned', 'Failed', 'other', undefined, ['e2 Uncordoned']],
      ['of a drain that was cancelled, with our mark', 'Cancelled', 'own', 'e1', ['e2 Uncordoned']],
      ['that the end of a cancelled drain may have opened', 'Cancelled', 'own', undefined, 'close'],
      ['that was never cordoned', 'Succeeded', 'none', undefined, 'close'],
    ] as const)('a node %s', (_, status, by, mark, expected) => {
      expect(seen(status, by, mark)).toEqual(expected);
    });
  });

  describe('takes with it what only the request asked for', () => {
    const forced = { drainOverrides: { force: true, skip: false } };
    const after = (
      requests: readonly ReturnType<typeof request>[],
      scope: ActiveDrain['scope'] = FULL,
      given: Pick<DrainObservation, 'configuration'> = { configuration: PARTIAL },
    ) => {
      const record = { active: active({ requests, scope, force: requests.some(isForceful) }) };
      const decision = on({ kind: 'cancelled', id: 'e2' }, { record, ...given });
      const left = decision.kind === 'cancel' ? decision.record.active : undefined;
      const next = left && given.configuration ? narrowed(left, given.configuration) : left;
      return next && { requests: next.requests.map(({ id }) => id), scope: next.scope, force: next.force };
    };

    it('the force, unless another one asks for it', () => {
      expect(after([request('e1'), request('e2', forced)])).toMatchObject({ requests: ['e1'], force: false });
      const others = [request('e1', forced), request('e2', forced), request('e3')];
      expect(after(others)).toMatchObject({ requests: ['e1', 'e3'], force: true });
    });

    it('the pods beyond the GPU of the other one', () => {
      expect(after([reset('e1', ['A']), request('e2')])).toMatchObject({ scope: GPU_A });
    });

    it('the pods of all that wait for nobody, as soon as the configuration is known', () => {
      const drain = active({ requests: [reset('e1', ['A'])], scope: FULL });
      const node = prepared(drain);
      const decided = decide(observation({ record: { active: drain }, node, configuration: PARTIAL }));
      expect(decided).toMatchObject({ kind: 'prepare', active: { scope: GPU_A } });
    });

    it('no pods where nothing says which ones the other one is about, or it is about more by now', () => {
      expect(after([reset('e1', []), request('e2')])).toMatchObject({ scope: FULL });
      expect(after([reset('e1', ['A']), request('e2')], FULL, { configuration: undefined })).toMatchObject({
        scope: FULL,
      });
      expect(after([request('e1'), reset('e2', ['A'])], GPU_A)).toMatchObject({ scope: GPU_A });
    });
  });

  it('said twice is said once', () => {
    const cancelled = on({ kind: 'cancelled', id: 'e9' }, { record: {} });
    expect(cancelled).toMatchObject({ kind: 'cancel' });
    const record = cancelled.kind === 'cancel' ? cancelled.record : {};
    expect(on({ kind: 'cancelled', id: 'e9' }, { record }).kind).toBe('idle');
    const recovered = { record: { finished: [finished('e1', { recovered: true })] } };
    expect(on({ kind: 'cancelled', id: 'e1' }, recovered).kind).toBe('idle');
  });

  it('takes our cordon back when nothing else keeps the node closed', () => {
    const record = { finished: [finished('e1')] };
    const cordoned = { node: { cordonMark: 'e1', unschedulable: true }, record };
    expect(on({ kind: 'unQuarantined' }, cordoned)).toMatchObject({ releasesNode: true });
    expect(
      on({ kind: 'cancelled', id: 'e1' }, { ...cordoned, record: { finished: [finished('e1'), finished('e2')] } }),
    ).toMatchObject({ releasesNode: false });
  });

  it('takes a state of ours off that nothing stands for any more', () => {
    const labels = { 'dgxc.nvidia.com/nvsentinel-state': 'drain-succeeded' };
    expect(on({ kind: 'unQuarantined' }, { node: { labels }, record: {} })).toMatchObject({
      releasesNode: true,
    });
    expect(on({ kind: 'unQuarantined' }, { record: {} })).toEqual({
      kind: 'idle',
      record: expect.anything(),
      until: undefined,
    });
  });
});

describe('a node that a drain has left as it was', () => {
  const tidied = (cordonMark: string | undefined, finishedDrain: FinishedDrain) =>
    decide(
      observation({
        node: { isWatched: true, unschedulable: true, cordonMark },
        record: { finished: [finishedDrain] },
      }),
    );

  it('is remembered for no later cordon once somebody has opened the node', () => {
    const record = { finished: [finished('e1')] };
    expect(decide(observation({ node: { unschedulable: true }, record }))).toMatchObject({ kind: 'idle', record });
    for (const cordonMark of ['e1', undefined]) {
      const open = observation({ node: { cordonMark }, record, incoming: asking(request('e2')) });
      expect(decide(open)).toMatchObject({ record: { finished: [{ id: 'e1', recovered: true }] } });
    }
  });

  it('is remembered for no cordon of a drain that had begun, and had not cordoned, when somebody opened the node', () => {
    const { cordon: _, ...begun } = active({ id: 'e2', requests: [request('e2')] });
    const record = { active: begun, finished: [finished('e1')] };
    for (const cordonMark of ['e1', undefined]) {
      const decision = decide(observation({ node: { cordonMark }, record, pods: [pod('a')] }));
      expect(decision).toMatchObject({ kind: 'note', record: { active: begun, finished: [{ recovered: true }] } });
    }
    const cordoned = observation({ node: { cordonMark: 'e1', unschedulable: true }, record, pods: [pod('a')] });
    expect(decide(cordoned).kind).toBe('prepare');
  });

  it('is uncordoned where the cordon is ours, and no fault stands behind it any more', () => {
    expect(tidied('e1', finished('e1', { recovered: true }))).toMatchObject({ kind: 'tidy', uncordon: true });
    expect(tidied('e1', finished('e1', { status: 'Cancelled' }))).toMatchObject({ kind: 'tidy', uncordon: true });
    expect(tidied('e1', finished('e1'))).toMatchObject({ kind: 'tidy', uncordon: false });
    expect(tidied(undefined, finished('e1', { recovered: true }))).toMatchObject({ kind: 'tidy', uncordon: false });
  });

  it.each([
    { what: 'the fault is over', ended: { recovered: true }, node: {}, kind: 'tidy' },
    { what: 'the fault stands', ended: {}, node: {}, kind: 'idle' },
    { what: 'a quarantine is on it', ended: { recovered: true }, node: { quarantine: ['e9'] }, kind: 'idle' },
    {
      what: 'the cordon is of nothing that is known',
      ended: { recovered: true },
      node: { cordonMark: 'e7' },
      kind: 'idle',
    },
    { what: 'somebody else cordoned it', ended: { recovered: true }, node: { cordonMark: undefined }, kind: 'idle' },
  ])('is opened later where that was refused when the fault ended: $what', ({ ended, node, kind }) => {
    const seen = { unschedulable: true, cordonMark: 'e1', ...node };
    const decision = decide(observation({ node: seen, record: { finished: [finished('e1', ended)] } }));
    expect(decision.kind).toBe(kind);
    if (decision.kind === 'tidy') expect(decision.uncordon).toBe(true);
  });
});

describe('the end of a quarantine', () => {
  const minutesAgo = (count: number) => addDuration(NOW, minutes(-count));
  const quarantineEnd = { said: { sentTime: minutesAgo(10) }, time: minutesAgo(9) };

  it('is remembered as long as a message can wait, whether or not a drain ends by it', () => {
    const over: IncomingMessage = { kind: 'unQuarantined', timestamps: { sentTime: minutesAgo(1) } };
    expect(decide(observation({ record: {}, incoming: over }))).toMatchObject({
      kind: 'idle',
      record: { quarantineEnd: { said: { sentTime: minutesAgo(1) }, time: NOW } },
      until: addDuration(NOW, REMEMBERED_FOR),
    });
    const earlier: IncomingMessage = { ...over, timestamps: { sentTime: minutesAgo(11) } };
    expect(decide(observation({ record: { quarantineEnd }, incoming: earlier }))).toMatchObject({
      record: { quarantineEnd },
    });
    expect(decide(observation({ record: { quarantineEnd }, incoming: over }))).toMatchObject({
      record: { quarantineEnd: { said: { sentTime: minutesAgo(1) }, time: NOW } },
    });
    const late = addDuration(NOW, REMEMBERED_FOR);
    expect(decide(observation({ now: late, record: { quarantineEnd } }))).toEqual({
      kind: 'idle',
      record: expect.not.objectContaining({ quarantineEnd }),
      until: undefined,
    });
  });

  it.each([
    ['said before it', 11, 'Quarantined', undefined, 'answer'],
    ['said at the same time', 10, 'Quarantined', undefined, 'answer'],
    ['said after it', 9, 'Quarantined', undefined, 'begin'],
    ['said nobody knows when', undefined, 'Quarantined', undefined, 'begin'],
    ['said before it, of a Node that is quarantined anew', 11, 'Quarantined', ['e9'], 'begin'],
    ['said before it, of no quarantine', 11, undefined, undefined, 'begin'],
  ] as const)('an event %s', (_, ago, quarantine, listed, kind) => {
    const said = ago !== undefined && { said: { sentTime: minutesAgo(ago) } };
    const incoming = asking({ ...request('e1'), quarantine, ...said });
    const node = listed === undefined ? {} : { quarantine: listed };
    const decision = decide(observation({ node, record: { quarantineEnd }, incoming }));
    expect(decision).toMatchObject({ kind, ...(kind === 'answer' && { answer: { reason: 'StaleEvent' } }) });
  });
});

describe('the end of an earlier quarantine, which comes late', () => {
  const minutesAgo = (count: number) => addDuration(NOW, minutes(-count));
  const labels = { 'dgxc.nvidia.com/nvsentinel-state': 'drain-succeeded' };
  const end = (timestamps: Timestamps): IncomingMessage => ({ kind: 'unQuarantined', timestamps });
  const on = (incoming: IncomingMessage, said: Timestamps) =>
    decide(
      observation({
        incoming,
        node: { labels, cordonMark: 'e1', unschedulable: true },
        record: { finished: [finished('e1', { said })] },
      }),
    );

  it('leaves what the drain of a later one says on the Node, and its cordon (NV29, NV109)', () => {
    const said = { createdTime: minutesAgo(5), sentTime: minutesAgo(5) };
    expect(on(end({ createdTime: minutesAgo(6), sentTime: minutesAgo(1) }), said)).toMatchObject({
      kind: 'idle',
      record: { finished: [{ recovered: false }] },
    });
    expect(on(end({ sentTime: minutesAgo(6) }), { sentTime: minutesAgo(5) }).kind).toBe('idle');
  });

  it('ends the requests of its own quarantine, and the drain goes on for those of the later one (NV29)', () => {
    const [old, fresh] = [request('e1'), request('e2')].map((each, index) => ({
      ...each,
      said: { createdTime: minutesAgo(9 - index * 4) },
    }));
    const under = active({ requests: [old, fresh].filter(each => each !== undefined) });
    const incoming = end({ createdTime: minutesAgo(6) });
    expect(decide(observation({ incoming, node: prepared(under), record: { active: under } }))).toMatchObject({
      kind: 'cancel',
      answers: [{ id: 'e1', status: 'Cancelled' }],
      record: { active: { requests: [{ id: 'e2' }] } },
    });
  });

  it.each([
    ['of the same instant', { createdTime: minutesAgo(5) }, { createdTime: minutesAgo(5) }],
    ['of nobody knows when', {}, { createdTime: minutesAgo(5) }],
    ['by another clock', { sentTime: minutesAgo(6) }, { createdTime: minutesAgo(5) }],
  ])('does not count as earlier %s', (_, over, said) => {
    expect(on(end(over), said)).toMatchObject({ kind: 'cancel', releasesNode: true });
  });
});

describe('the end of a fault', () => {
  const minutesAgo = (count: number) => addDuration(NOW, minutes(-count));
  const said = { createdTime: minutesAgo(10), sentTime: minutesAgo(9) };
  const over = recovered(request('h', { isHealthy: true }).event, said);
  const { agent, componentClass, checkName } = over.event;
  const fault = { agent, componentClass, checkName, entities: [] };
  const recoveries = [{ fault, said, time: minutesAgo(9) }];

  it('is remembered as long as a message can wait, the latest word alone, whether or not anything was asked for', () => {
    expect(decide(observation({ record: {}, incoming: over }))).toMatchObject({
      kind: 'idle',
      record: { recoveries: [{ fault, said, time: NOW }] },
      until: addDuration(NOW, REMEMBERED_FOR),
    });
    const earlier: IncomingMessage = { ...over, timestamps: { createdTime: minutesAgo(11) } };
    expect(decide(observation({ record: { recoveries }, incoming: earlier }))).toMatchObject({
      record: { recoveries },
    });
    const later = { ...over, timestamps: { createdTime: minutesAgo(9) } } as const;
    expect(decide(observation({ record: { recoveries }, incoming: later }))).toMatchObject({
      record: { recoveries: [{ fault, said: later.timestamps, time: NOW }] },
    });
    expect(decide(observation({ now: addDuration(NOW, REMEMBERED_FOR), record: { recoveries } }))).toEqual({
      kind: 'idle',
      record: expect.not.objectContaining({ recoveries }),
      until: undefined,
    });
  });

  it('of a part leaves the earlier end of the whole as it is: that still tells which events are stale', () => {
    const { event } = reset('h', ['A']);
    const part: IncomingMessage = {
      ...over,
      event: { ...event, isHealthy: true },
      timestamps: { createdTime: minutesAgo(5) },
    };
    const decision = decide(observation({ record: { recoveries }, incoming: part }));
    const record = 'record' in decision ? decision.record : {};
    const stale = asking({ ...reset('e1', ['B']), said: { createdTime: minutesAgo(11) } });
    expect(decide(observation({ record, incoming: stale }))).toMatchObject({
      kind: 'answer',
      answer: { reason: 'StaleEvent' },
    });
  });

  // With the drains and the requests that wait, 131,072 bytes each, it has to fit into an item of 400 KB.
  it('is remembered of the newest faults only, when they name very many entities', () => {
    const entitiesImpacted = Array.from({ length: 300 }, (_, index) => ({
      entityType: 'GPU_UUID',
      entityValue: `GPU-${index}-${'x'.repeat(32)}`,
    }));
    let record: DrainRecord = NO_DRAINS;
    for (let check = 0; check < 50; check += 1) {
      const { event } = request('h', { isHealthy: true, checkName: `check-${check}`, entitiesImpacted });
      const decision = decide(observation({ record, incoming: recovered(event, said) }));
      record = 'record' in decision ? decision.record : record;
    }
    const { recoveries: kept = [] } = record;
    expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThan(66_000);
    expect(kept.length).toBeGreaterThan(1);
    expect(kept.at(-1)?.fault.checkName).toBe('check-49');
  });

  it('is noted while the end of its drain is on its way, once, and that of each request of it', () => {
    const outcome: DrainOutcome = { status: 'Succeeded', reason: 'Drained', message: '', left: [] };
    const requests = [request('e1'), request('e2', { checkName: 'another' })];
    const ended = active({ requests, phase: ending(outcome) });
    const noted = decide(observation({ record: { active: ended }, incoming: over }));
    expect(noted).toMatchObject({ kind: 'note', record: { active: { phase: { over: ['e1'] } } } });
    const record = 'record' in noted ? noted.record : {};
    expect(decide(observation({ record, incoming: over }))).toMatchObject({ kind: 'close', ending: { over: ['e1'] } });
    const released: IncomingMessage = { kind: 'unQuarantined', timestamps: said };
    expect(decide(observation({ record, incoming: released }))).toMatchObject({
      kind: 'note',
      record: { active: { phase: { over: ['e1', 'e2'] } } },
    });
  });

  it('is noted while another drain is under way, which goes on', () => {
    const under = active({ requests: [request('e1', { checkName: 'another' })] });
    const node = prepared(under);
    const noted = decide(observation({ node, pods: [pod('a')], record: { active: under }, incoming: over }));
    expect(noted).toMatchObject({ kind: 'note', record: { active: under, recoveries: [{ fault, said }] } });
    const record = { active: under, recoveries };
    expect(decide(observation({ node, pods: [pod('a')], record, incoming: over }))).toMatchObject({ kind: 'drain' });
  });

  it.each([
    ['stored before it', { createdTime: minutesAgo(11), sentTime: minutesAgo(1) }, 'answer'],
    ['stored at the same time', { createdTime: minutesAgo(10), sentTime: minutesAgo(11) }, 'begin'],
    ['stored after it', { createdTime: minutesAgo(9), sentTime: minutesAgo(11) }, 'begin'],
    ['sent before it', { sentTime: minutesAgo(10) }, 'answer'],
    ['sent after it', { sentTime: minutesAgo(8) }, 'begin'],
    ['generated before it, which does not say when it was', { generatedTime: minutesAgo(30) }, 'begin'],
    ['said nobody knows when', {}, 'begin'],
  ] as const)('an event of that fault %s', (_, of, kind) => {
    const incoming = asking({ ...request('e1'), said: of });
    const decision = decide(observation({ record: { recoveries }, incoming }));
    expect(decision).toMatchObject({ kind, ...(kind === 'answer' && { answer: { reason: 'StaleEvent' } }) });
    const other = asking({ ...request('e1', { checkName: 'another' }), said: of });
    expect(decide(observation({ record: { recoveries }, incoming: other }))).toMatchObject({ kind: 'begin' });
  });

  it('ends no drain that was asked for after it, under way or ended', () => {
    const later = { createdTime: minutesAgo(9) };
    const under = active({ requests: [{ ...request('e1'), said: later }] });
    const node = prepared(under);
    expect(decide(observation({ node, pods: [pod('a')], record: { active: under }, incoming: over }))).toMatchObject({
      kind: 'note',
      record: { active: under },
    });
    const ended = [finished('e1', { fault, said: later })];
    const cordoned = { node: { unschedulable: true }, record: { finished: ended } };
    expect(decide(observation({ ...cordoned, incoming: over }))).toMatchObject({
      kind: 'idle',
      record: { finished: ended },
    });
  });
});

describe('ended drains', () => {
  it('are forgotten when no message about them can come any more, unless the Node lists or asks for them', () => {
    const late = addDuration(NOW, REMEMBERED_FOR);
    const at = (node: object) => decide(observation({ now: late, node, record: { finished: [finished('e1')] } }));
    expect(at({})).toEqual({ kind: 'idle', record: expect.objectContaining({ finished: [] }), until: undefined });
    for (const node of [{ quarantine: ['e1'] }, { requestedId: 'e1' }]) {
      expect(at(node)).toMatchObject({
        kind: 'idle',
        record: { finished: [{ id: 'e1' }] },
        until: addDuration(late, REMEMBERED_FOR),
      });
    }
  });
});

describe('whatever comes', () => {
  const id = fc.constantFrom('e1', 'e2', 'e3', 'e4');
  const quarantine = fc.constantFrom(undefined, 'Quarantined', 'AlreadyQuarantined');
  const asked = fc.oneof(
    fc
      .tuple(id, quarantine, fc.boolean())
      .map(([each, status, force]) =>
        request(each, { drainOverrides: { force, skip: false } }, status as 'Quarantined'),
      ),
    fc
      .tuple(id, fc.subarray(['A', 'B']), quarantine)
      .map(([each, gpus, status]) => reset(each, gpus, status as 'Quarantined')),
  );
  const incoming: fc.Arbitrary<IncomingMessage | undefined> = fc.oneof(
    asked.map(each => asking(each)),
    fc
      .tuple(fc.constantFrom('cancelled', 'withdrawn', 'unQuarantined'), id)
      .map(([kind, each]) => ({ kind: kind as 'cancelled', id: each })),
    asked.map(each => recovered(each.event)),
    fc.constant(undefined),
  );
  const any: fc.Arbitrary<DrainObservation> = fc
    .record({
      incoming,
      requests: fc.uniqueArray(asked, { selector: each => each.id, maxLength: 2 }),
      ended: fc.uniqueArray(id, { maxLength: 2 }),
      hasActive: fc.boolean(),
      mode: fc.constantFrom('Enforce' as const, 'Observe' as const),
      hasConfiguration: fc.boolean(),
      listed: fc.option(fc.subarray(['e1', 'e2', 'e3']), { nil: undefined }),
      unschedulable: fc.boolean(),
      isPrepared: fc.boolean(),
    })
    .map(
      ({
        incoming: message,
        requests,
        ended,
        hasActive,
        mode,
        hasConfiguration,
        listed,
        unschedulable,
        isPrepared,
      }) => {
        const under = active({ id: 'e4', requests: [request('e4')] });
        const free = requests.filter(each => each.id !== 'e4');
        return observation({
          incoming: message,
          inForce: { mode },
          configuration: hasConfiguration ? PARTIAL : undefined,
          pods: [pod('a')],
          node: { ...(isPrepared && prepared(under)), quarantine: listed, unschedulable },
          record: {
            requests: free,
            finished: ended
              .filter(each => each !== 'e4' && !free.some(waiting => waiting.id === each))
              .map(each => finished(each)),
            ...(hasActive && { active: under }),
          },
        });
      },
    );

  it('of an idle node the same is decided, whether or not its surroundings are read', () => {
    fc.assert(
      fc.property(any, ({ now, node, record: { finished: ends } }) => {
        const record = { ...NO_DRAINS, finished: ends };
        const seen = { now, node, record, incoming: undefined };
        expect(decide({ kind: 'idle', ...seen })).toEqual(decide({ ...observation(), ...seen }));
      }),
    );
  });

  it('nothing is begun while it is paused, and nothing prepared or drained that has not begun', () => {
    fc.assert(
      fc.property(any, seen => {
        const { kind } = decide(seen);
        const acts = ['begin', 'prepare', 'drain'].includes(kind);
        const mayAct = !isOnlyObserved(seen) || seen.record.active !== undefined;
        return !acts || (seen.configuration !== undefined && mayAct);
      }),
    );
  });

  it('no request is lost: each is waiting, under way, or has an end', () => {
    fc.assert(
      fc.property(any, seen => {
        const decision = decide(seen);
        const after = 'record' in decision ? decision.record : seen.record;
        const idsOf = ({ active: under, requests, finished: over }: typeof after) =>
          new Set([...(under?.requests ?? []), ...requests, ...over].map(each => each.id));
        const kept = idsOf(after);
        const answered = decision.kind === 'answer' ? [decision.answer.id] : [];
        return [...idsOf(seen.record)].every(each => kept.has(each) || answered.includes(each));
      }),
    );
  });

  it('a drain that begins is wide enough for all that it answers', () => {
    fc.assert(
      fc.property(any, seen => {
        const decision = decide(seen);
        if (decision.kind !== 'begin') return true;
        const { scope, requests } = decision.active;
        return requests.every(({ event }) => {
          const wanted = scopeOf(event, true);
          return wanted.kind !== 'unusable' && covers(scope, wanted);
        });
      }),
    );
  });

  it('the same message twice is the same as once', () => {
    fc.assert(
      fc.property(any, seen => {
        const first = decide(seen);
        if (!isRequest(seen.incoming) || first.kind !== 'take') return true;
        const again = decide({ ...seen, record: first.record });
        return again.kind !== 'take' && !(again.kind === 'answer' && again.novelty === 'repeated');
      }),
    );
  });
});
