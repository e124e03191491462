/** What a request is told, and what is then remembered: as it comes, as its drain begins, and as it is called off. */
import { describe, expect, it } from 'vitest';
import { answerOrTake, beginNext, toFinished } from '../../../../functions/drain/rule/take-request.ts';
import {
  cancellationOf,
  isCordonKnown,
  withShownQuarantineEnd,
  earlyEndOf,
  quarantineEndOf,
} from '../../../../functions/drain/rule/cancellation.ts';
import { faultOf } from '../../../../functions/drain/rule/faults.ts';
import { readyToBegin, readyToGoOn } from '../../../../functions/drain/rule/pauses.ts';
import type { EndMessage, RequestMessage } from '../../../../functions/drain/rule/observation.ts';
import { FULL } from '../../../../functions/drain/rule/pods.ts';
import type { ActiveDrain } from '../../../../functions/drain/record.ts';
import type { DrainRequest } from '../../../../functions/drain/request-record.ts';
import { NO_DRAIN_LIMITS } from '../../../../shared/domain/drain-limits.ts';
import { addDuration, hours, minutes } from '../../../../shared/domain/time.ts';
import {
  active,
  finished,
  modes,
  NOW,
  observation,
  readyObservation,
  request,
  reset,
  asking,
  recovered,
} from '../observations.ts';

type Given = NonNullable<Parameters<typeof observation>[0]>;
const PARTIAL = modes('Immediate', 'partialDrainEnabled = true');
const skipped = { drainOverrides: { force: false, skip: true } };
const forced = { drainOverrides: { force: true, skip: false } };
const byPerson = (id: string): DrainRequest => ({ ...request(id), requestedBy: 'node-annotation' });

describe('a request that comes', () => {
  const on = (asked: DrainRequest, given: Given = {}, incoming: RequestMessage = asking(asked)) =>
    answerOrTake(observation(given), incoming);

  it('and needs no drain is answered, and remembered with its fault and when it was sent', () => {
    const answer = {
      id: 'e2',
      status: 'AlreadyDrained',
      reason: 'Skipped',
      message: 'drainOverrides.skip is set',
      left: [],
      scope: FULL,
      drained: 0,
      startTime: NOW,
      endTime: NOW,
      fault: faultOf(request('e2').event),
      recovered: false,
      said: { sentTime: NOW },
    };
    expect(on(request('e2', skipped))).toEqual({
      kind: 'answer',
      novelty: 'new',
      answer,
      record: observation({ record: { finished: [answer] } as object }).record,
    });
  });

  it.each<[string, string, DrainRequest, Given]>([
    ['a recovery', 'the event reports a recovery', request('e2', { isHealthy: true }), {}],
    ['no entity', 'no supported entities for a partial drain found', reset('e2', []), { configuration: PARTIAL }],
    [
      'a release',
      'somebody took the quarantine of the node back',
      request('e2', {}, 'Quarantined'),
      { node: { isReleased: true } },
    ],
    ['a quarantine that is over', 'the node is not quarantined any more', request('e2', {}, 'AlreadyQuarantined'), {}],
    [
      'a drain of all pods before',
      'drain e1 of this quarantine drained all pods',
      request('e2', {}, 'AlreadyQuarantined'),
      { node: { quarantine: ['e1', 'e2'] }, record: { finished: [finished('e1')] } },
    ],
    [
      'a drain of the same GPU before',
      'drain e1 of this quarantine drained pods on A',
      reset('e2', ['A'], 'AlreadyQuarantined'),
      {
        configuration: PARTIAL,
        node: { quarantine: ['e1', 'e2'] },
        record: { finished: [finished('e1', { scope: { kind: 'entities', entities: ['A'] } })] },
      },
    ],
  ])('is told of %s in words', (_, message, asked, given) => {
    expect(on(asked, given)).toMatchObject({ kind: 'answer', novelty: 'new', answer: { message } });
  });

  it('again is answered as before; on the Node, which is not written to in mode Observe, not', () => {
    const record = { finished: [finished('e1')] };
    const again = (asked: DrainRequest, mode: 'Enforce' | 'Observe') => on(asked, { record, inForce: { mode } });
    for (const mode of ['Enforce', 'Observe'] as const)
      expect(again(request('e1'), mode)).toMatchObject({ kind: 'answer', novelty: 'repeated', answer: { id: 'e1' } });
    expect(again(byPerson('e1'), 'Enforce')).toMatchObject({ novelty: 'repeated' });
    expect(again(byPerson('e1'), 'Observe')).toBeUndefined();
  });

  it('too late is told so and not remembered, but for one that asks for nothing', () => {
    const old = { ...request('e2'), said: { createdTime: addDuration(NOW, hours(-2)) } };
    const answer = on(old, {}, asking(old, NOW));
    expect(answer).toMatchObject({
      kind: 'answer',
      novelty: 'tooOld',
      answer: {
        status: 'Cancelled',
        reason: 'StaleEvent',
        message: 'it is from 2024-11-01T13:00:00Z and came 2h0m0s later; after 1h0m0s nothing begins (maxEventAge)',
      },
      record: { finished: [] },
    });
    expect(on(old, {}, { kind: 'drainRequested', request: old, receivedTime: NOW })).toMatchObject({
      answer: { status: 'Failed' },
    });
    const skip = { ...request('e2', skipped), said: old.said };
    expect(on(skip, {}, asking(skip, NOW))).toMatchObject({ novelty: 'new', answer: { reason: 'Skipped' } });
  });

  it('waits for the next drain, or follows those that wait or are under way', () => {
    const how = (given: Given) => on(request('e2'), given);
    expect(how({})).toMatchObject({
      kind: 'take',
      position: 'next',
      replacedEnds: [],
      record: { requests: [{ id: 'e2' }] },
    });
    expect(how({ record: { requests: [request('e1')] } })).toMatchObject({ position: 'follows' });
    expect(how({ record: { active: active() } })).toMatchObject({ position: 'joins' });
    expect(how({ record: { active: active() }, configuration: undefined })).toMatchObject({ position: 'follows' });
    const ending = active({
      phase: {
        kind: 'ending',
        outcome: { status: 'Succeeded', reason: 'Drained', message: '', left: [], time: NOW },
        over: [],
        before: { kind: 'draining' },
      },
    });
    expect(how({ record: { active: ending } })).toMatchObject({ position: 'follows' });
  });

  it('and joins has the time of an overdue deletion begin anew, unless the drain itself waits', () => {
    const time = addDuration(NOW, hours(-5));
    const joined = (drain: ActiveDrain) => on({ ...request('e2'), time }, { record: { active: drain } });
    expect(joined(active())).toMatchObject({
      record: { active: { requests: [{ id: 'e1' }, { id: 'e2', time: addDuration(NOW, minutes(-50)) }] } },
    });
    expect(joined(active({ phase: { kind: 'waiting', since: NOW, takesSlot: false } }))).toMatchObject({
      record: { active: { requests: [{ id: 'e1' }, { id: 'e2', time }] } },
    });
  });
});

describe('the drain that begins', () => {
  const on = (requests: readonly DrainRequest[], given: Given = {}) =>
    beginNext(readyObservation({ ...given, record: { requests } }));
  const fresh = (requests: readonly DrainRequest[], more: Partial<ActiveDrain> = {}): ActiveDrain => {
    const { cordon: _, ...rest } = active({ requests, ...more });
    return rest;
  };

  it('is that of all that wait, and has done nothing yet', () => {
    const requests = [request('e1'), request('e2', forced)];
    const drain = fresh(requests, { force: true });
    expect(on(requests)).toEqual({
      kind: 'begin',
      active: drain,
      record: observation({ record: { requests: [], active: drain } }).record,
    });
  });

  it('waits for its turn where the pool has a limit', () => {
    const limits = { ...NO_DRAIN_LIMITS, maxConcurrent: { count: 1 } };
    const time = addDuration(NOW, hours(-5));
    const [asked] = [{ ...request('e1'), time }];
    const phase = { kind: 'waiting', since: NOW, takesSlot: false } as const;
    expect(on([asked], { inForce: { limits } })).toMatchObject({ active: fresh([asked], { phase }) });
    // What does not wait has the time of its deletion begin anew.
    expect(on([asked])).toMatchObject({ active: { requests: [{ time: addDuration(NOW, minutes(-50)) }] } });
  });

  it('is begun by what still needs one: the others are answered first, one by one', () => {
    const left = { ...request('e2'), time: NOW };
    const answer = toFinished(
      request('e1', skipped),
      { status: 'AlreadyDrained', reason: 'Skipped', message: 'drainOverrides.skip is set', left: [] },
      { now: NOW, scope: FULL, drained: 0 },
    );
    expect(answer).not.toHaveProperty('said');
    expect(on([request('e1', skipped), left])).toEqual({
      kind: 'answer',
      novelty: 'new',
      answer,
      record: observation({ record: { requests: [left], finished: [answer] } }).record,
    });
  });

  it('is none where no request waits', () => {
    expect(() => on([])).toThrow('a drain begins for a request that waits');
  });
});

describe('what pauses a drain', () => {
  const pauseIn = (ready: ReturnType<typeof readyToBegin>) => (ready.kind === 'pause' ? ready : undefined);
  const none = {
    kind: 'pause',
    reason: 'NoConfiguration',
    message:
      'no key of a valid config.toml in ConfigMap curfew/curfew-config says how nodes are drained: the drain waits for userNamespaces, podDrainPolicies or customDrain',
  };
  const NOT_SERVED = { kind: 'notServed', message: 'NodeClaims are not served' } as const;
  const kindNotServed = { kind: 'pause', reason: 'KindNotServed', message: 'NodeClaims are not served' };
  const observed = { kind: 'pause', reason: 'ObserveMode', message: 'mode is Observe: nothing is drained' };
  const unreadable = { kind: 'pause', reason: 'UnreadableLimits', message: 'block limits' };
  const limits = { kind: 'unreadable', message: 'block limits' } as const;
  const policy = {
    kind: 'pause',
    reason: 'UnreadablePolicy',
    message: 'policy p; whether it holds drains is not known: nothing begins until it can be read',
  };
  const coverage = {
    kind: 'pause',
    reason: 'UnreadableQuarantine',
    message: 'the annotation quarantineHealthEvent cannot be read: whether an earlier drain covers this one is unknown',
  };
  const covered = [request('e1', {}, 'AlreadyQuarantined')];

  it.each<[string, Given, unknown]>([
    ['nothing', {}, undefined],
    ['a kind that is not served', { inForce: NOT_SERVED, configuration: undefined }, kindNotServed],
    ['no configuration', { configuration: undefined, inForce: { mode: 'Observe' } }, none],
    ['the mode', { inForce: { mode: 'Observe', unreadable: 'policy p' } }, observed],
    ['a policy that cannot be read', { inForce: { unreadable: 'policy p', limits } }, policy],
    ['limits that cannot be read', { inForce: { limits } }, unreadable],
    [
      'limits that cannot be read, unless somebody asks who waits for nobody',
      { inForce: { limits }, record: { requests: [request('e1'), byPerson('e2')] } },
      undefined,
    ],
    ['a list that cannot be read', { node: { quarantine: 'unreadable' }, record: { requests: covered } }, coverage],
    [
      'a list that cannot be read, unless one request needs none',
      { node: { quarantine: 'unreadable' }, record: { requests: [...covered, request('e2')] } },
      undefined,
    ],
    ['no list that can be read', { node: { quarantine: ['e0'] }, record: { requests: covered } }, undefined],
  ])('from its begin: %s', (_, given, pause) => {
    expect(pauseIn(readyToBegin(observation({ record: { requests: [request('e1')] }, ...given })))).toEqual(pause);
  });

  it.each<[string, Given, unknown, unknown]>([
    ['nothing', { inForce: { unreadable: 'policy p' } }, undefined, undefined],
    ['a kind that is not served', { inForce: NOT_SERVED }, kindNotServed, kindNotServed],
    ['no configuration', { configuration: undefined }, none, none],
    ['the mode', { inForce: { mode: 'Observe' } }, undefined, observed],
    ['limits that cannot be read', { inForce: { limits } }, undefined, unreadable],
  ])('under way, or in the queue: %s', (_, given, underWay, queued) => {
    expect(pauseIn(readyToGoOn(observation(given), active()))).toEqual(underWay);
    const waiting = active({ phase: { kind: 'waiting', since: NOW, takesSlot: false } });
    expect(pauseIn(readyToGoOn(observation(given), waiting))).toEqual(queued);
  });
});

const ITS_CORDON = { unschedulable: true, cordonMark: 'e1' } as const;

describe('a drain whose cordon somebody takes back', () => {
  const of = (given: ActiveDrain['cordon'], node: Given['node']): unknown => {
    const { cordon: _, ...rest } = active();
    return earlyEndOf(
      { ...rest, ...(given !== undefined && { cordon: given }) },
      observation({ ...(node && { node }) }).node,
    );
  };
  const cancelled = (reason: string, message: string): unknown => ({ status: 'Cancelled', reason, message, left: [] });

  it('ends, and says who took what back', () => {
    const quarantined = { quarantined: true, by: 'none' } as const;
    expect(of(quarantined, {})).toEqual(cancelled('UnQuarantined', 'the quarantine is over'));
    expect(of(quarantined, { isReleased: true })).toEqual(
      cancelled('ManuallyReleased', 'somebody took the quarantine of the node back'),
    );
    expect(of(quarantined, { quarantine: ['e1'] })).toBeUndefined();
    const uncordoned = { own: 'somebody uncordoned the node', other: 'the node was uncordoned' };
    for (const by of ['own', 'other'] as const) {
      const given = { quarantined: false, by };
      expect(of(given, {})).toEqual(cancelled('Uncordoned', uncordoned[by]));
      expect(of(given, { unschedulable: true, cordonMark: 'e1' })).toBeUndefined();
    }
    const ours = { quarantined: false, by: 'own' } as const;
    expect(of(ours, { unschedulable: true, underWay: '{}' })).toBeUndefined();
    expect(of(ours, { unschedulable: true })).toEqual(cancelled('Uncordoned', uncordoned.own));
    expect(of({ quarantined: false, by: 'other' }, { unschedulable: true })).toBeUndefined();
    expect(of({ quarantined: false, by: 'none' }, {})).toBeUndefined();
    expect(of(undefined, {})).toBeUndefined();
  });

  it('goes on for a person, and for a repair, where the quarantine alone is over', () => {
    const asked = request('maintenance', { agent: 'curfew', checkName: 'DrainRequested' });
    const after = (requests: readonly ReturnType<typeof request>[], node: Given['node'] = ITS_CORDON) => {
      const drain = active({ requests, cordon: { quarantined: true, by: 'own' } });
      const seen = observation({ record: { active: drain }, ...(node && { node }) });
      return { cancelled: quarantineEndOf(seen, drain), ended: earlyEndOf(drain, seen.node)?.reason };
    };
    expect(after([asked])).toEqual({ cancelled: undefined, ended: undefined });
    expect(after([asked], {})).toEqual({ cancelled: undefined, ended: 'Uncordoned' });
    expect(after([request('e1')])).toEqual({ cancelled: undefined, ended: 'UnQuarantined' });
    expect(after([request('e1'), asked], { ...ITS_CORDON, quarantine: ['e1'] }).cancelled).toBeUndefined();
    expect(after([request('e1'), asked]).cancelled).toMatchObject({
      answers: [{ id: 'e1', status: 'Cancelled', reason: 'UnQuarantined' }],
      record: { active: { id: 'e1', requests: [asked] } },
      releasesNode: false,
    });
  });

  it('needs a cordon of its own for a person, where that of the quarantine goes with it', () => {
    const asked = request('maintenance', { agent: 'curfew', checkName: 'DrainRequested' });
    const drain = active({ requests: [request('e1'), asked], cordon: { quarantined: true, by: 'other' } });
    const left = (node: Given['node']) =>
      quarantineEndOf(observation({ record: { active: drain }, ...(node && { node }) }), drain)?.record.active;
    expect(left({})).toMatchObject({ requests: [asked] });
    expect(left({})).not.toHaveProperty('cordon');
    expect(left({ unschedulable: true })).toMatchObject({ cordon: { by: 'other' } });
  });

  it('knows its cordon by the drain under way, by one of its requests, by one that has ended, or as that of a repair', () => {
    const node = { uid: 'u1', quarantine: undefined };
    const known = (record: Given['record'], cordonMark: string | undefined = 'e1'): boolean =>
      isCordonKnown(observation({ ...(record && { record }) }).record, { ...node, cordonMark });
    expect(known(undefined, 'u1.1730474100000')).toBe(true);
    expect(known(undefined, 'u2.1730474100000')).toBe(false);
    const quarantined = { ...node, cordonMark: 'u1.1730474100000', quarantine: ['e1'] };
    expect(isCordonKnown(observation({}).record, quarantined)).toBe(false);
    expect(known({ active: active() })).toBe(true);
    expect(known({ active: active({ id: 'e9', requests: [request('e9'), request('e1')] }) })).toBe(true);
    expect(known({ finished: [finished('e1')] })).toBe(true);
    expect(known({ active: active({ id: 'e9', requests: [request('e9')] }), finished: [finished('e8')] })).toBe(false);
    const unmarked = { ...node, cordonMark: undefined };
    expect(isCordonKnown(observation({ record: { active: active() } }).record, unmarked)).toBe(false);
  });
});

describe('requests that are called off', () => {
  const on = (incoming: EndMessage, given: Given = {}) => cancellationOf(observation(given), incoming);
  const all = { kind: 'unQuarantined' } as const;

  it('before they came have their answer ready', () => {
    const answer = {
      id: 'e9',
      status: 'Cancelled',
      reason: 'ManuallyReleased',
      message: 'it was taken back before it came',
      left: [],
      scope: FULL,
      drained: 0,
      startTime: NOW,
      endTime: NOW,
      fault: { agent: '', componentClass: '', checkName: '', entities: [] },
      recovered: false,
    };
    expect(on({ kind: 'cancelled', id: 'e9' })).toEqual({
      record: observation({ record: { finished: [answer] } as object }).record,
      because: 'it was taken back before it came',
      answers: [answer],
      releasesNode: false,
      answersMessage: false,
    });
    const outcome = { status: 'Succeeded', reason: 'Drained', message: '', left: [], time: NOW } as const;
    const ending = active({ phase: { kind: 'ending', outcome, over: [], before: { kind: 'draining' } } });
    for (const record of [{ active: ending }, { finished: [finished('e1', { recovered: true })] }])
      expect(on({ kind: 'cancelled', id: 'e1' }, { record })).toBeUndefined();
  });

  it('are answered where they wait or leave others, and end with the drain where all of its do', () => {
    const record = { active: active({ requests: [request('e1'), request('e2')] }), requests: [request('e3')] };
    expect(on(all, { record })).toMatchObject({
      because: 'the quarantine is over',
      answers: [{ id: 'e3', drained: 0, scope: FULL, startTime: NOW }],
      releasesNode: false,
      answersMessage: false,
      record: { requests: [], active: { phase: { kind: 'ending', outcome: { status: 'Cancelled' } } } },
    });
    expect(on({ kind: 'cancelled', id: 'e2' }, { record })).toMatchObject({
      answers: [{ id: 'e2', message: 'somebody took the quarantine of the node back' }],
      record: { requests: [{ id: 'e3' }], active: { requests: [{ id: 'e1' }], phase: { kind: 'draining' } } },
    });
    expect(on({ kind: 'cancelled', id: 'e3' }, { record })).toMatchObject({
      answers: [{ id: 'e3' }],
      record: { requests: [], active: { requests: [{ id: 'e1' }, { id: 'e2' }], phase: { kind: 'draining' } } },
    });
  });

  it('are told that repair withdrew its own drain', () => {
    const own = { ...request('e1'), requestedBy: 'curfew.repair' };
    const because = (incoming: EndMessage, record: NonNullable<Given['record']>): unknown =>
      on(incoming, { record })?.because;
    const taken = { kind: 'cancelled', id: 'e1' } as const;
    const called = { ...taken, requestedBy: 'curfew.repair' };
    expect(because(called, { requests: [own] })).toBe('repair withdrew its drain');
    expect(because(called, { active: active({ requests: [own] }) })).toBe('repair withdrew its drain');
    expect(because(called, { finished: [finished('e1')] })).toBe('repair withdrew its drain');
    expect(because(taken, { requests: [request('e1')] })).toBe('somebody took the quarantine of the node back');
    expect(because({ kind: 'withdrawn', id: 'e1' }, { requests: [own] })).toBe('the request was withdrawn');
    expect(because(all, { requests: [own] })).toBe('the quarantine is over');
  });

  it('free the node where it is ours and nothing else stands or waits', () => {
    const ours = { cordonMark: 'e1', unschedulable: true };
    const ended = { finished: [finished('e1')] };
    expect(on(all, { node: ours, record: ended })).toMatchObject({
      releasesNode: true,
      record: { finished: [{ recovered: true }] },
    });
    expect(on(all, { record: ended })).toMatchObject({ releasesNode: false });
    const more = { ...ended, requests: [request('e2')] };
    expect(on({ kind: 'cancelled', id: 'e1' }, { node: ours, record: more })).toMatchObject({ releasesNode: false });
    expect(on({ kind: 'cancelled', id: 'e1' }, { node: ours, record: ended })).toMatchObject({ releasesNode: true });
    expect(on({ kind: 'cancelled', id: 'e1' }, { node: { ...ours, cordonMark: 'e7' }, record: ended })).toMatchObject({
      releasesNode: false,
    });
    const running = { ...ended, active: active({ id: 'e2', requests: [request('e2')] }) };
    expect(on({ kind: 'cancelled', id: 'e1' }, { node: ours, record: running })).toMatchObject({ releasesNode: false });
  });

  it('take the label of their drain off a node without a cordon of ours, and leave any other label', () => {
    const labels = { 'dgxc.nvidia.com/nvsentinel-state': 'drain-failed' };
    const taken = { kind: 'cancelled', id: 'e1' } as const;
    const ended = { finished: [finished('e1', { status: 'Failed', recovered: true })] };
    const releases = (node: Given['node'], record: Given['record'] = ended) =>
      on(taken, { node: node ?? {}, record: record ?? {} })?.releasesNode;
    expect(releases({ labels })).toBe(true);
    expect(releases({ labels, unschedulable: true })).toBe(true);
    expect(releases({ labels: { 'dgxc.nvidia.com/nvsentinel-state': 'remediating' } })).toBeUndefined();
    expect(releases({ labels, cordonMark: 'e7', unschedulable: true })).toBeUndefined();
    expect(releases({ labels }, { finished: [...ended.finished, finished('e2')] })).toBeUndefined();
    expect(releases({ labels }, { finished: [finished('e1'), finished('e2')] })).toBe(false);
    // Of another request nobody knows whose label it is.
    expect(releases({ labels }, { finished: [finished('e3', { recovered: true })] })).toBe(false);
  });

  it('by the annotation alone are those of a drain that is over', () => {
    const of = (given: Given) => withShownQuarantineEnd(observation(given)).incoming;
    const ended = { finished: [finished('e1', { quarantined: true })] };
    expect(of({ record: ended })).toEqual({ kind: 'unQuarantined' });
    expect(of({ record: ended, node: { quarantine: ['e1'] } })).toBeUndefined();
    expect(of({ record: ended, node: { quarantine: 'unreadable' } })).toBeUndefined();
    expect(of({ record: { finished: [finished('e1')] } })).toBeUndefined();
    expect(of({ record: { finished: [finished('e1', { quarantined: true, recovered: true })] } })).toBeUndefined();
    expect(of({ record: { ...ended, requests: [request('e2')] } })).toBeUndefined();
    expect(of({ record: { ...ended, active: active() } })).toBeUndefined();
    const message = { kind: 'cancelled', id: 'e9' } as const;
    expect(of({ record: ended, incoming: message })).toBe(message);
  });

  it('by a recovery that somebody asks about leave the answer to the message itself', () => {
    const { event } = request('e1');
    const over = recovered({ ...event, isHealthy: true });
    const record = { requests: [request('e1')] };
    expect(on(over, { record })).toMatchObject({ because: 'the fault is over', answersMessage: false });
    expect(on({ ...over, drainRequest: request('e5') }, { record })).toMatchObject({ answersMessage: true });
  });
});
