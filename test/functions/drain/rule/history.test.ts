/** What is remembered of drains that have ended, and how old news may be. */
import { describe, expect, it } from 'vitest';
import { toFinished } from '../../../../functions/drain/rule/take-request.ts';
import { decide } from '../../../../functions/drain/decide.ts';
import {
  endOf,
  forget,
  hasNoEndKeepingCordon,
  remember,
  REMEMBERED_FOR,
} from '../../../../functions/drain/rule/history.ts';
import { NO_DRAINS, type DrainRecord } from '../../../../functions/drain/record.ts';
import type { DrainOutcome, FinishedDrain } from '../../../../functions/drain/request-record.ts';
import type { DrainedNode, IncomingMessage, RequestMessage } from '../../../../functions/drain/rule/observation.ts';
import { requestOnNode } from '../../../../functions/drain/rule/node-annotations.ts';
import { listedFaults } from '../../../../functions/drain/drained-node.ts';
import { DRAIN_CODEC } from '../../../../functions/drain/record.ts';
import { FULL } from '../../../../functions/drain/rule/pods.ts';
import { INBOX_RETENTION_DAYS, DEAD_LETTER_RETENTION_DAYS } from '../../../../shared/domain/retention.ts';
import { addDuration, hours, minutes } from '../../../../shared/domain/time.ts';
import type { HealthEvent } from '../../../../shared/domain/health-event.ts';
import { active, modes, NOW, observation, request, asking, recovered } from '../observations.ts';

const SUCCEEDED: DrainOutcome = { status: 'Succeeded', reason: 'Drained', message: '0 pods were drained', left: [] };
const SKIPPED: DrainOutcome = { status: 'AlreadyDrained', reason: 'Skipped', message: 'skipped', left: [] };
const NODE = observation().node;
const OURS: DrainedNode = { ...NODE, unschedulable: true, cordonMark: 'e0' };
const DAY = hours(24);
const later = (days: number) => addDuration(NOW, hours(24 * days));

const end = (id: string, event: Partial<HealthEvent> = {}, outcome = SUCCEEDED): FinishedDrain =>
  toFinished({ ...request(id, event), said: { sentTime: NOW } }, outcome, { now: NOW, scope: FULL, drained: 0 });
const skipped = (count: number): readonly FinishedDrain[] =>
  Array.from({ length: count }, (_, index) => end(`skip-${index}`, {}, SKIPPED));
/** One after the other, as they end. */
const all = (ends: readonly FinishedDrain[], node: DrainedNode): DrainRecord =>
  ends.reduce<DrainRecord>((record, each) => remember(record, [each], node), NO_DRAINS);
const bytesOf = (record: DrainRecord): number => Buffer.byteLength(JSON.stringify(DRAIN_CODEC.toState(record)));

describe('of ended drains', () => {
  it('is remembered as long as a message about them can wait, however it waits', () => {
    expect(REMEMBERED_FOR / DAY).toBe(2 * INBOX_RETENTION_DAYS + DEAD_LETTER_RETENTION_DAYS);
  });

  it('each id is known, however many come after it', () => {
    const drained = Array.from({ length: 1000 }, (_, index) => end(`e-${index}`));
    const record = all([end('e1'), ...skipped(500), ...drained], NODE);
    expect(endOf(record, 'e1')).toMatchObject({ status: 'Succeeded', reason: 'AnsweredBefore' });
    expect(endOf(record, 'e-999')).toMatchObject({ reason: 'Drained' });
    // It is answered alike.
    expect(endOf(record, 'skip-0')).toBeUndefined();
    expect(endOf(record, 'e2')).toBeUndefined();
    expect(bytesOf(record)).toBeLessThan(200_000);
    expect(DRAIN_CODEC.parse(DRAIN_CODEC.toState(record))).toEqual(record);
  });

  it.each<[string, Partial<DrainedNode>]>([
    ['asks for it', { requestedId: 'e0' }],
    ['lists it as what keeps the node quarantined', { quarantine: ['e0'] }],
    ['carries our cordon for it', { cordonMark: 'e0', unschedulable: true }],
  ])('what the Node refers to stays whole: it %s', (_, given) => {
    const node = { ...NODE, ...given };
    const record = all([end('e0', { checkName: 'first' }), ...skipped(1500)], node);
    expect(endOf(record, 'e0')).toMatchObject({ reason: 'Drained', recovered: false });
    const kept = forget(record, node, later(400));
    expect(endOf(kept.record, 'e0')).toMatchObject({ reason: 'Drained' });
    expect(kept.until).toEqual(addDuration(later(400), REMEMBERED_FOR));
    expect(endOf(kept.record, 'skip-3')).toBeUndefined();
    expect(forget(kept.record, NODE, later(400)).record.finished).toEqual([]);
  });

  it('every fault under our cordon is known, the last word about each', () => {
    const ends = Array.from({ length: 2000 }, (_, index) => end(`e${index}`, { checkName: `check-${index % 120}` }));
    const record = all(ends, OURS);
    const checks = new Set(record.finished.map(({ fault }) => fault.checkName));
    expect(checks.size).toBe(120);
    expect(bytesOf(record)).toBeLessThan(300_000);
  });

  it('a check stands as a whole when its faults are too many, and none is forgotten', () => {
    const entity = (index: number) => [{ entityType: 'GPU_UUID', entityValue: `GPU-${index}-${'x'.repeat(200)}` }];
    const ends = Array.from({ length: 900 }, (_, index) => end(`e${index}`, { entitiesImpacted: entity(index) }));
    const record = all(ends, OURS);
    expect(hasNoEndKeepingCordon(record)).toBe(false);
    expect(record.finished.some(({ fault }) => fault.entities.length === 0 && fault.codes?.length === 0)).toBe(true);
    expect(bytesOf(record)).toBeLessThan(300_000);
  });
});

describe('our cordon', () => {
  const over = (checkName: string, entitiesImpacted: HealthEvent['entitiesImpacted'] = []): IncomingMessage =>
    recovered(request('h', { isHealthy: true, checkName, entitiesImpacted }).event, {
      sentTime: addDuration(NOW, minutes(1)),
    });
  const releases = (record: Partial<DrainRecord>, incoming: IncomingMessage, node: DrainedNode = OURS): unknown => {
    const decision = decide(observation({ node, record, incoming, now: later(2) }));
    return decision.kind === 'cancel' && decision.releasesNode;
  };

  it('comes off when the fault that it is for is over, however late', () => {
    expect(releases({ finished: [end('e0', { checkName: 'gpu' })] }, over('gpu'))).toBe(true);
  });

  it('stays while another fault stands', () => {
    const finished = [end('e0', { checkName: 'gpu' }), end('e1', { checkName: 'nic' })];
    expect(releases({ finished }, over('nic'))).toBe(false);
  });

  it('stays where nobody knows what it is for: the record is lost', () => {
    expect(releases({ finished: [end('e1', { checkName: 'nic' })] }, over('nic'))).toBe(false);
    expect(releases({}, over('nic'))).toBe(false);
  });

  it('comes off when the last of several entities has recovered', () => {
    const gpus = (...names: readonly string[]) => names.map(entityValue => ({ entityType: 'GPU', entityValue }));
    const fault = end('e0', { checkName: 'gpu', entitiesImpacted: gpus('0', '1') });
    const first = decide(observation({ node: OURS, record: { finished: [fault] }, incoming: over('gpu', gpus('0')) }));
    const record = 'record' in first ? first.record : {};
    expect(record).toMatchObject({
      recoveries: [{ fault: { entities: ['GPU/0'] } }],
      finished: [{ recovered: false }],
    });
    // That the first has recovered is known for as long as the second has not.
    const rest = decide(observation({ node: OURS, record, now: later(300) }));
    const kept = 'record' in rest ? rest.record : {};
    expect(kept).toMatchObject({ recoveries: [{ fault: { entities: ['GPU/0'] } }] });
    expect(releases(kept, over('gpu', gpus('1')))).toBe(true);
  });
});

describe('a request on the Node', () => {
  it('is answered when the Node says so, also without a record', () => {
    expect(requestOnNode({ name: 'n1', requestedId: 'a', answer: { id: 'a' } }, NO_DRAINS)).toBeUndefined();
    expect(requestOnNode({ name: 'n1', requestedId: 'b', answer: { id: 'a' } }, NO_DRAINS)).toMatchObject({
      kind: 'askedOnNode',
    });
  });

  it.each([
    ['Enforce', 'answer'],
    ['Observe', 'idle'],
  ] as const)('is answered again where its answer is gone, in mode %s: %s', (mode, kind) => {
    // etcd was given an earlier state, in which the drain had not ended yet.
    const node: DrainedNode = { ...NODE, requestedId: 'a' };
    const record: DrainRecord = { ...NO_DRAINS, finished: [end('a')] };
    const incoming = requestOnNode(node, record);
    expect(
      decide(observation({ node, record, inForce: { mode }, ...(incoming !== undefined && { incoming }) })),
    ).toMatchObject({
      kind,
      ...(kind === 'answer' && { novelty: 'repeated', answer: { id: 'a', status: 'Succeeded' } }),
    });
  });
});

describe('an event', () => {
  const at = (minutesAgo: number) => addDuration(NOW, minutes(-minutesAgo));
  const event = (said: object, given: object = {}): RequestMessage =>
    asking({ ...request('e1', { agent: 'a', componentClass: 'c', checkName: 'k', ...given }), said }, NOW);
  const reasonOf = (incoming: IncomingMessage, node: Partial<DrainedNode> = {}, more: object = {}): string => {
    const decision = decide(observation({ incoming, node, ...more }));
    return decision.kind === 'answer' ? decision.answer.reason : decision.kind;
  };

  it.each<[string, IncomingMessage, string]>([
    ['as old as may be', event({ generatedTime: at(60) }), 'begin'],
    ['older', event({ generatedTime: at(61), sentTime: at(1) }), 'StaleEvent'],
    ['stored longer ago', event({ createdTime: at(61), sentTime: at(1) }), 'StaleEvent'],
    ['exported longer ago', event({ exportedTime: at(61), sentTime: at(1) }), 'StaleEvent'],
    ['put on the bus longer ago', event({ sentTime: at(61) }), 'StaleEvent'],
    ['that nobody dates', event({}), 'begin'],
    [
      'that drains nothing anyway',
      event({ sentTime: at(61) }, { drainOverrides: { skip: true, force: false } }),
      'Skipped',
    ],
  ])('%s', (_, incoming, expected) => {
    expect(reasonOf(incoming)).toBe(expected);
  });

  it('is as old as when it came first, however often it is tried', () => {
    const tried = asking(event({ sentTime: at(300) }).request, at(299));
    expect(reasonOf(tried)).toBe('begin');
  });

  it.each<[string, Partial<DrainedNode>, string]>([
    ['lists its id', { quarantineFaults: () => listedFaults('[{"id":"e1"}]'), quarantine: ['e1'] }, 'begin'],
    ['lists another event of the same fault', { quarantine: ['e9'], quarantineFaults: () => listedFaults('[{"id":"e9","agent":"a","componentClass":"c","checkName":"k"}]') }, 'begin'], // prettier-ignore
    ['lists a fault of the same check and other entities', { quarantine: ['e9'], quarantineFaults: () => listedFaults('[{"id":"e9","agent":"a","componentClass":"c","checkName":"k","entitiesImpacted":[{"entityType":"GPU","entityValue":"1"}]}]') }, 'StaleEvent'], // prettier-ignore
    ['lists another fault', { quarantine: ['e9'], quarantineFaults: () => listedFaults('[{"id":"e9","agent":"a","componentClass":"c","checkName":"other"}]') }, 'StaleEvent'], // prettier-ignore
    [
      'lists what nobody can read',
      { quarantine: 'unreadable', quarantineFaults: () => listedFaults('[{') },
      'StaleEvent',
    ],
    ['has our cordon for it', { cordonMark: 'e1', unschedulable: true }, 'begin'],
    ['has our cordon for another', { cordonMark: 'e9', unschedulable: true }, 'StaleEvent'],
  ])('begins however old it is, if the Node %s', (_, node, expected) => {
    expect(reasonOf(event({ generatedTime: at(6000) }), node)).toBe(expected);
  });

  it('is never older than what is remembered, whatever the configuration says', () => {
    const maxEventAge = hours(100_000);
    expect(reasonOf(event({ sentTime: later(-21) }), {}, { maxEventAge })).toBe('begin');
    expect(reasonOf(event({ sentTime: later(-23) }), {}, { maxEventAge })).toBe('StaleEvent');
  });

  it('is judged once: what waits, is under way or was answered is not too old', () => {
    const old = event({ sentTime: at(600) });
    const waits = { ...request('e1'), said: {} };
    expect(reasonOf(old, {}, { record: { active: active({ requests: [waits] }) } })).not.toBe('StaleEvent');
    expect(reasonOf(old, {}, { record: { finished: [end('e1')] } })).toBe('Drained');
  });

  it('of a part that waits for its answer has failed', () => {
    const { request: asked } = event({ sentTime: at(61) });
    const incoming = { kind: 'drainRequested', request: asked, receivedTime: NOW } as const;
    expect(decide(observation({ incoming }))).toMatchObject({ answer: { status: 'Failed', reason: 'StaleEvent' } });
  });
});

describe('a deletion that is overdue when its drain begins', () => {
  it.each([
    ['waits ten minutes', 180, 60, 10],
    ['waits as long as the time-out, if that is less', 180, 5, 5],
    ['comes when it is due, if it is not over', 50, 60, 10],
    ['comes in its last minute', 59, 60, 1],
  ])('%s', (_, minutesAgo, timeout, left) => {
    const toml = `deleteAfterTimeoutMinutes = ${timeout}\n`;
    const incoming = asking({ ...request('e1'), time: addDuration(NOW, minutes(-minutesAgo)) });
    const decision = decide(observation({ configuration: modes('DeleteAfterTimeout', toml), incoming }));
    expect(decision).toMatchObject({
      kind: 'begin',
      next: { active: { deleteTime: addDuration(NOW, minutes(left)) } },
    });
  });
});
