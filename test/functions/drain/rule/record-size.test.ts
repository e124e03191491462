import { describe, expect, it } from 'vitest';
import { answerOrTake, toFinished } from '../../../../functions/drain/rule/take-request.ts';
import { remember } from '../../../../functions/drain/rule/history.ts';
import { fittingJson, newestEntries } from '../../../../functions/drain/rule/record-size.ts';
import type { DrainRecord } from '../../../../functions/drain/record.ts';
import type { DrainOutcome } from '../../../../functions/drain/request-record.ts';
import { DRAIN_CODEC } from '../../../../functions/drain/record.ts';
import { active, modes, NOW, observation, request, asking } from '../observations.ts';

/** DynamoDB refuses an item above it, and with it each further step of the drain. */
const ITEM_BYTES = 400 * 1024;
const bytesOf = (record: DrainRecord): number => Buffer.byteLength(JSON.stringify(DRAIN_CODEC.toState(record)));

const FULL_NODE: DrainOutcome = {
  status: 'Succeeded',
  reason: 'PodsLeft',
  message: '250 pods are left',
  left: Array.from({ length: 250 }, (_, pod) => `team-with-a-long-name/workload-with-a-long-name-${pod} (Terminating)`),
};
const LONG_NAMES = Array.from({ length: 3000 }, (_, pod) => `${'n'.repeat(63)}/${'p'.repeat(240)}-${pod}`);
const UIDS = Array.from({ length: 6000 }, (_, pod) => `5abfcae9-d235-476f-baf7-${String(pod).padStart(12, '0')}`);
const end = (id: string) => toFinished(request(id), FULL_NODE, { now: NOW, scope: { kind: 'full' }, drained: 0 });

describe('the record of the drains of a node', () => {
  it('forgets the oldest ends when those of fifty requests name all pods of a large node', () => {
    const ended = Array.from({ length: 50 }, (_, index) => end(`e${index}`));
    const record = remember({ requests: [], finished: [] }, ended, observation().node);
    expect(bytesOf(record)).toBeLessThan(ITEM_BYTES / 2);
    expect(record.finished.at(-1)).toEqual(ended.at(-1));
    expect(record.finished).toEqual(ended.slice(-record.finished.length));
  });

  it('keeps no further request that is covered when those that wait are long', () => {
    const long = (id: string) => request(id, { message: 'x'.repeat(60_000) });
    const waiting = observation({
      configuration: modes('Immediate'),
      record: { active: active(), requests: [], finished: [] },
    });
    let { record } = waiting;
    const answers: string[] = [];
    for (let index = 2; index < 12; index++) {
      const decision = answerOrTake({ ...waiting, record }, asking(long(`e${index}`)));
      if (decision === undefined) continue;
      record = decision.record;
      if (decision.kind === 'answer') answers.push(decision.answer.reason);
    }
    expect(answers).toContain('Covered');
    expect(bytesOf(record)).toBeLessThan(ITEM_BYTES / 2);
  });

  it('takes a long request when none waits', () => {
    const alone = observation({ configuration: modes('Immediate'), record: { requests: [], finished: [] } });
    expect(answerOrTake(alone, asking(request('e2', { message: 'x'.repeat(60_000) })))).toMatchObject({
      kind: 'take',
    });
  });

  it('fits into an item as it is written down, with all that nobody stated', () => {
    const requests = Array.from({ length: 500 }, (_, index) => request(`e${index}`));
    const bare: DrainRecord = { requests, finished: [], reported: '' };
    const room = 390_000 - Buffer.byteLength(JSON.stringify(bare));
    const record = { ...bare, reported: 'x'.repeat(room) };
    expect(bytesOf(record)).toBeLessThan(ITEM_BYTES);
    expect(DRAIN_CODEC.parse(DRAIN_CODEC.toState(record)).requests).toEqual(requests);
  });

  it('fits into an item whatever is in it, and keeps each request and the newest ends', () => {
    const long = (id: string) => request(id, { message: 'x'.repeat(60_000) });
    const { finished } = remember(
      { requests: [], finished: [] },
      Array.from({ length: 50 }, (_, index) => end(`e${index}`)),
      observation().node,
    );
    const fault = { agent: 'a', componentClass: 'c', checkName: 'k', entities: ['x'.repeat(60_000)] };
    const record: DrainRecord = {
      active: {
        ...active({ requests: [long('r1'), long('r2')], tried: UIDS, warned: UIDS, reported: LONG_NAMES.join(' ') }),
        phase: {
          kind: 'ending',
          outcome: { status: 'Succeeded', reason: 'Drained', message: 'm', left: LONG_NAMES, time: NOW },
          over: [],
          before: { kind: 'draining' },
        },
      },
      requests: [request('r3')],
      finished,
      reported: LONG_NAMES.join(' '),
      recoveries: [{ fault, said: {}, time: NOW }],
    };
    const read = DRAIN_CODEC.parse(DRAIN_CODEC.toState(record));
    expect(bytesOf(record)).toBeLessThan(ITEM_BYTES);
    expect(read.active?.requests).toEqual(record.active?.requests);
    expect(read.requests).toEqual(record.requests);
    expect(read.active?.phase).toMatchObject({ kind: 'ending', outcome: { status: 'Succeeded' } });
    expect(read.finished.at(-1)?.id).toBe('e49');
    // Pods whose owners were warned are deleted: some must be known.
    expect(read.active?.warned.length).toBeGreaterThan(0);
  });

  it('stays as it is while it fits', () => {
    const record: DrainRecord = { active: active({ tried: UIDS, warned: [] }), requests: [], finished: [end('e1')] };
    expect(DRAIN_CODEC.parse(DRAIN_CODEC.toState(record))).toEqual(record);
  });
});

describe('the newest of a list', () => {
  it.each<[number, number, readonly string[]]>([
    [5, 100, ['aa', 'bb', 'cc']],
    [2, 100, ['bb', 'cc']],
    [5, 8, ['bb', 'cc']],
    [5, 7, ['cc']],
    [5, 3, []],
  ])('%i at most, in %i bytes of JSON: %j', (count, maxBytes, expected) => {
    expect(newestEntries(['aa', 'bb', 'cc'], { count, maxBytes })).toEqual(expected);
  });
});

it('a record that fits is written down as it is, and one that does not without what is said again', () => {
  const record = { reported: 'x'.repeat(300_000), finished: [] };
  expect(JSON.parse(fittingJson(record))).toEqual(record);
  expect(JSON.parse(fittingJson({ ...record, reported: 'x'.repeat(400_000) }))).toEqual({ finished: [] });
});

it('a record of as many bytes as fit is written down as it is', () => {
  const record = { reported: 'x'.repeat(393_187), finished: [] };
  expect(fittingJson(record)).toHaveLength(393_216);
  expect(fittingJson({ ...record, reported: `${record.reported}x` })).toBe('{"finished":[]}');
});

describe('a record that does not fit is written down', () => {
  const MANY_UIDS = Array.from({ length: 12_000 }, (_, index) => `5abfcae9-d235-476f-baf7-${index + 100_000_000_000}`);
  const FEW = { reported: '', warned: ['uid-a'], tried: ['uid-a'] };
  const END = { status: 'Succeeded', reason: 'PodsLeft', message: '3000 pods are left' } as const;

  it.each<[string, Parameters<typeof fittingJson>[0], unknown]>([
    [
      'without the pods that ended drains left',
      { finished: [{ ...END, left: LONG_NAMES }] },
      { finished: [{ ...END, left: [] }] },
    ],
    [
      'without the pods that the end of the drain under way leaves',
      { active: { ...FEW, end: { ...END, left: LONG_NAMES } }, finished: [] },
      { active: { warned: ['uid-a'], tried: ['uid-a'], end: { ...END, left: [] } }, finished: [] },
    ],
    [
      'with the last thousand of the pods that were tried, and all that were warned',
      { active: { ...FEW, tried: MANY_UIDS }, finished: [] },
      { active: { warned: ['uid-a'], tried: MANY_UIDS.slice(11_000) }, finished: [] },
    ],
    [
      'with the last thousand of the pods that were warned, where none was tried',
      { active: { warned: MANY_UIDS }, finished: [] },
      { active: { warned: MANY_UIDS.slice(11_000) }, finished: [] },
    ],
    [
      'without the messages of ended drains',
      { finished: [{ ...END, message: 'x'.repeat(400_000), left: [] }] },
      { finished: [{ ...END, message: '', left: [] }] },
    ],
  ])('%s', (_, record, expected) => {
    expect(JSON.parse(fittingJson(record))).toEqual(expected);
  });
});
