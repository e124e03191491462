import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { logFields } from '../../../shared/lambda/log-fields.ts';
import { DEADLINE_RESERVE, endOfCalls, TIME_TO_ANSWER, TIME_TO_HIDE } from '../../../shared/lambda/run-time.ts';
import { processBatch } from '../../../shared/lambda/process-batch.ts';
import { MAX_BUG_RECEIVES, MAX_REPEATED_RECEIVES } from '../../../shared/contract/inbox.ts';
import type { InboxMessage } from '../../../shared/contract/inbox-message.ts';
import { SOURCES, TICK } from '../../../shared/contract/names.ts';
import { toWakeUpEnvelope } from '../../../shared/contract/wake-up.ts';
import { addDuration, toDurationMs, toEpochMs } from '../../../shared/domain/time.ts';
import { RetryableError, TerminalError } from '../../../shared/errors.ts';
import type { Reconcile } from '../../../shared/ports/function-deps.ts';
import { createManualClock } from '../../fakes/manual-clock.ts';
import { lambdaContext, sqsEvent } from './events.ts';

const busEvent = (id: string): string => JSON.stringify({ id, source: 'test', 'detail-type': 'Thing', detail: {} });

function make(reconcile: Reconcile, probe?: () => Promise<void>) {
  const clock = createManualClock();
  const parked: unknown[] = [];
  const counted: unknown[] = [];
  const logged: unknown[] = [];
  const hidden: unknown[] = [];
  const metrics = {
    count: (name: string, value = 1, dimensions = {}) => void counted.push({ name, value, ...dimensions }),
    milliseconds: () => undefined,
  };
  const deps = {
    process: {
      cluster: 'test',
      function: 'repair' as const,
      reconcile,
      clock,
      metrics,
      ...(probe && { probe }),
      deadLetters: { park: async (message: unknown) => void parked.push(message) },
    },
    visibility: {
      hideFor: async (receiptHandle: string, duration: number) => void hidden.push({ receiptHandle, duration }),
    },
    metrics,
    clock,
    log: {
      warn: (message: string, fields: object) => void logged.push({ message, ...logFields(), ...fields }),
      error: (message: string, fields: object) => void logged.push({ message, ...logFields(), ...fields }),
    },
  };
  const run = (bodies: readonly string[], remaining: () => number = () => 30_000, receiveCount = 1) =>
    processBatch(sqsEvent(bodies, receiveCount), lambdaContext(remaining), deps);
  return { run, deps, clock, parked, counted, logged, hidden };
}

const SUPERSEDED = { name: 'MessageSuperseded', value: 1, reason: 'ServerError' };
const idOf = (message: InboxMessage): string | undefined => (message.kind === 'busEvent' ? message.id : undefined);

describe('processBatch', () => {
  it('parks an event of another cluster without a look', async () => {
    let looks = 0;
    const { run, parked } = make(async () => void (looks += 1));
    const event = (cluster: string): string =>
      JSON.stringify({
        source: 'curfew.forwarder',
        'detail-type': 'NodeChanged',
        detail: {
          schemaVersion: 1,
          cluster,
          change: 'Modified',
          subject: { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' },
          resourceVersion: '1',
          changed: [],
          hints: {},
          groupKey: 'n1',
          eventKey: 'k',
          observedTime: '2024-11-01T12:00:00.000Z',
        },
      });
    await run([event('other'), event('test')]);
    expect(looks).toBe(1);
    expect(parked).toMatchObject([
      { reason: 'OtherCluster', explanation: 'an event of cluster "other"; this function is deployed for test' },
    ]);
  });

  it('gives each event the time of its first receipt: trying again keeps it, and sending it again does not', async () => {
    const received: unknown[] = [];
    const { run, deps, clock } = make(async message => {
      if (message.kind === 'busEvent') received.push(message.receivedTime);
    });
    const first = toEpochMs(1_730_473_200_000);
    const again = sqsEvent([busEvent('a')], 7);
    for (const { attributes } of again.Records) attributes.ApproximateFirstReceiveTimestamp = String(first);
    await processBatch(again, lambdaContext(), deps);
    // As `curfew redrive` sends it: a message of its own, with the same body. Where SQS says nothing, it is received now.
    await run([busEvent('a')]);
    expect(received).toEqual([first, clock.now()]);
  });

  it('reports only the records that failed', async () => {
    const { run } = make(async message => {
      if (idOf(message) === 'b') throw new RetryableError('throttled', { reason: 'TooManyRequests' });
    });
    expect(await run(['a', 'b', 'c'].map(busEvent))).toEqual({ batchItemFailures: [{ itemIdentifier: 'm1' }] });
  });

  it('shows a failed record again after a while that doubles, or as the other side asked', async () => {
    const { run, hidden } = make(async message => {
      if (idOf(message) === 'a') throw new RetryableError('conflict');
      if (idOf(message) === 'b') throw new RetryableError('throttled', { retryAfterMs: 42_000 });
    });
    await run(['a', 'b', 'c'].map(busEvent));
    expect(hidden).toEqual([
      { receiptHandle: expect.any(String), duration: 5000 },
      { receiptHandle: expect.any(String), duration: 42_000 },
    ]);
  });

  it('answers with every record when all failed, rather than throwing', async () => {
    const { run } = make(() => Promise.reject(new RetryableError('down')));
    expect(await run(['a', 'b'].map(busEvent))).toEqual({
      batchItemFailures: [{ itemIdentifier: 'm0' }, { itemIdentifier: 'm1' }],
    });
  });

  it('I9: parks what is not valid or terminal, and processes the rest', async () => {
    const seen: unknown[] = [];
    const { run, parked, counted } = make(async message => {
      seen.push(idOf(message));
      if (idOf(message) === 'b') throw new TerminalError('Invalid', 'spec.taints: no');
    });
    expect(await run(['{', busEvent('b'), busEvent('c')])).toEqual({ batchItemFailures: [] });
    expect(seen).toEqual(['b', 'c']);
    expect(parked).toEqual([
      { function: 'repair', body: '{', reason: 'InvalidMessage', explanation: 'the body is not JSON' },
      { function: 'repair', body: busEvent('b'), reason: 'Invalid', explanation: 'spec.taints: no' },
    ]);
    expect(counted).toEqual([
      { name: 'MessageParked', value: 1, reason: 'InvalidMessage' },
      { name: 'MessageParked', value: 1, reason: 'Invalid' },
    ]);
  });

  it('parks a message with its reason that has failed because of a bug for an hour', async () => {
    const { run, parked, counted } = make(() => Promise.reject(new TypeError('x is not a function')));
    expect(await run([busEvent('a')], undefined, MAX_BUG_RECEIVES - 1)).toEqual({
      batchItemFailures: [{ itemIdentifier: 'm0' }],
    });
    expect(parked).toEqual([]);
    expect(await run([busEvent('a')], undefined, MAX_BUG_RECEIVES)).toEqual({ batchItemFailures: [] });
    expect(parked).toEqual([
      { function: 'repair', body: busEvent('a'), reason: 'Bug', explanation: 'x is not a function' },
    ]);
    expect(counted).toContainEqual({ name: 'MessageParked', value: 1, reason: 'Bug' });
  });

  it('never gives up what may pass', async () => {
    const { run, parked } = make(() => Promise.reject(new RetryableError('down')));
    expect(await run([busEvent('a')], undefined, 10 * MAX_BUG_RECEIVES)).toEqual({
      batchItemFailures: [{ itemIdentifier: 'm0' }],
    });
    expect(parked).toEqual([]);
  });

  it('leaves what is sent anew every minute to the next one', async () => {
    const { run, counted } = make(() => Promise.reject(new RetryableError('down', { reason: 'Status503' })));
    const wakeUp = {
      owner: 'repair',
      subject: { apiVersion: 'v1', kind: 'Node', name: 'n1' },
      wakeTime: toEpochMs(0),
    } as const;
    const swept = JSON.stringify(toWakeUpEnvelope({ ...wakeUp, repeated: true }));
    const tick = JSON.stringify({ source: SOURCES.timer, 'detail-type': TICK, detail: {} });
    const failed = { batchItemFailures: [{ itemIdentifier: 'm0' }, { itemIdentifier: 'm1' }] };
    expect(await run([swept, tick], undefined, MAX_REPEATED_RECEIVES - 1)).toEqual(failed);
    expect(counted).not.toContainEqual(expect.objectContaining({ name: 'MessageSuperseded' }));
    expect(await run([swept, tick], undefined, MAX_REPEATED_RECEIVES)).toEqual({ batchItemFailures: [] });
    expect(counted.filter(count => isDeepStrictEqual(count, SUPERSEDED))).toHaveLength(2);
    const once = [JSON.stringify(toWakeUpEnvelope(wakeUp))];
    expect((await run(once, undefined, MAX_REPEATED_RECEIVES)).batchItemFailures).toHaveLength(1);
  });

  it('makes every failure visible, a bug apart from what is worth another try', async () => {
    const { run, counted, logged } = make(message =>
      Promise.reject(
        idOf(message) === 'a' ? new RetryableError('no', { reason: 'Forbidden' }) : new TypeError('x is undefined'),
      ),
    );
    await run(['a', 'b'].map(busEvent));
    expect(counted).toEqual([
      { name: 'Retries', value: 1, reason: 'Forbidden' },
      { name: 'AccessFailures', value: 1 },
      { name: 'MessageFailed', value: 1 },
    ]);
    expect(logged).toEqual([
      {
        message: 'message failed, will be redelivered',
        messageId: 'm0',
        receiveCount: '1',
        reason: 'Forbidden',
        outcomeUnknown: false,
        error: expect.objectContaining({ message: 'no' }),
      },
      {
        message: 'message failed because of a bug, will be redelivered',
        messageId: 'm1',
        receiveCount: '1',
        error: expect.any(TypeError),
      },
    ]);
  });

  it('tells what breaks an installation from what passes by itself', async () => {
    const reasons = ['ECONNREFUSED', 'Unauthorized', 'TooManyRequests', 'AWordOfTomorrow'];
    const { run, counted } = make(message =>
      Promise.reject(new RetryableError('no', { reason: reasons[Number(idOf(message))] ?? '' })),
    );
    await run(['0', '1', '2', '3'].map(busEvent));
    expect(counted).toEqual([
      { name: 'Retries', value: 1, reason: 'Unreachable' },
      { name: 'AccessFailures', value: 1 },
      { name: 'Retries', value: 1, reason: 'Unauthorized' },
      { name: 'AccessFailures', value: 1 },
      { name: 'Retries', value: 1, reason: 'Throttled' },
      { name: 'Retries', value: 1, reason: 'Other' },
    ]);
  });

  it('probes at each tick, and at no other message', async () => {
    let probed = 0;
    const reconciled: string[] = [];
    const { run, counted } = make(
      async message => void reconciled.push(message.kind),
      async () => {
        probed += 1;
        throw new RetryableError('the API server does not allow: get nodes', { reason: 'Forbidden' });
      },
    );
    const tick = JSON.stringify({ source: SOURCES.timer, 'detail-type': TICK, detail: {} });
    expect(await run([busEvent('a'), tick])).toEqual({ batchItemFailures: [{ itemIdentifier: 'm1' }] });
    expect([probed, reconciled]).toEqual([1, ['busEvent']]);
    expect(counted).toContainEqual({ name: 'AccessFailures', value: 1 });
  });

  it('processes one record after the other', async () => {
    let running = 0;
    const seen: string[] = [];
    const { run } = make(async message => {
      running += 1;
      expect(running).toBe(1);
      await new Promise(resolve => setImmediate(resolve));
      running -= 1;
      seen.push(idOf(message) ?? '');
    });
    expect(await run(['a', 'b', 'c'].map(busEvent))).toEqual({ batchItemFailures: [] });
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  it('works on one message after the other, and answers when the last has ended', async () => {
    const { run } = make(async message => {
      working.add(idOf(message) ?? '');
      most = Math.max(most, working.size);
      await new Promise(resolve => setImmediate(resolve));
      working.delete(idOf(message) ?? '');
      if (idOf(message) === 'b') throw new RetryableError('no', { reason: 'Conflict' });
    });
    let most = 0;
    const working = new Set<string>();
    expect(await run(['a', 'b', 'c', 'd'].map(busEvent))).toEqual({ batchItemFailures: [{ itemIdentifier: 'm1' }] });
    expect([most, working.size]).toEqual([1, 0]);
  });

  it('I3: begins no record for which too little time is left, and gives none up that has begun', async () => {
    let remaining: number = DEADLINE_RESERVE;
    const finished: unknown[] = [];
    const { run, counted } = make(async message => {
      remaining = 0;
      await new Promise(resolve => setImmediate(resolve));
      finished.push(idOf(message));
    });
    const answer = await run(['a', 'b'].map(busEvent), () => remaining);
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'm1' }] });
    expect(finished).toEqual(['a']);
    expect(counted).toEqual([{ name: 'Retries', value: 1, reason: 'DeadlineReserve' }]);
  });

  it('shows what it had no time to begin soon again, as often as it was received so far', async () => {
    const { run, hidden } = make(() => Promise.reject(new RetryableError('down')));
    const late = (): number => DEADLINE_RESERVE - 1;
    await run([busEvent('a')], late, 4);
    await run([busEvent('a')], undefined, 4);
    expect(hidden).toMatchObject([{ duration: 5000 }, { duration: 40_000 }]);
  });

  // While the API server answers nothing, a run begins one message or two: those of each minute would add up.
  it('leaves what is sent anew every minute to the next one, also where it is not begun', async () => {
    const { run, counted } = make(() => Promise.reject(new Error('not begun')));
    const subject = { kind: 'Node', apiVersion: 'v1', name: 'n1' };
    const wakeUp = { owner: 'repair', subject, wakeTime: toEpochMs(0) } as const;
    const bodies = [
      JSON.stringify(toWakeUpEnvelope({ ...wakeUp, repeated: true })),
      JSON.stringify({ source: SOURCES.timer, 'detail-type': TICK, detail: {} }),
      JSON.stringify(toWakeUpEnvelope(wakeUp)),
      busEvent('a'),
    ];
    const late = (): number => DEADLINE_RESERVE - 1;
    expect((await run(bodies, late, MAX_REPEATED_RECEIVES - 1)).batchItemFailures).toHaveLength(bodies.length);
    counted.length = 0;
    expect((await run(bodies, late, MAX_REPEATED_RECEIVES)).batchItemFailures).toEqual([
      { itemIdentifier: 'm2' },
      { itemIdentifier: 'm3' },
    ]);
    const superseded = { name: 'MessageSuperseded', value: 1, reason: 'DeadlineReserve' };
    const retried = { name: 'Retries', value: 1, reason: 'DeadlineReserve' };
    expect(counted).toEqual([superseded, superseded, retried, retried]);
  });

  it('cuts the calls of a record before the run ends, then those that hide it, and answers', async () => {
    const begun: number[] = [];
    const lasted: number[] = [];
    const { run, clock, deps } = make(() => {
      const began = clock.now();
      const end = endOfCalls();
      return new Promise((_, reject) => {
        begun.push(began);
        end?.addEventListener('abort', () => {
          lasted.push(clock.now() - began);
          reject(new RetryableError('cut', { reason: 'DeadlineReserve' }));
        });
      });
    });
    const hidden: number[] = [];
    deps.visibility.hideFor = () =>
      new Promise((_, reject) => {
        const cut = (): void => {
          hidden.push(clock.now());
          reject(new RetryableError('cut'));
        };
        if (endOfCalls()?.aborted) return cut();
        endOfCalls()?.addEventListener('abort', cut);
      });
    const start = clock.now();
    const answer = run(['a', 'b'].map(busEvent), () => 30_000 - (clock.now() - start));
    await clock.advance(30_000 - TIME_TO_HIDE);
    expect([begun, lasted, hidden]).toEqual([[start], [30_000 - TIME_TO_HIDE], []]);
    await clock.advance(TIME_TO_HIDE - TIME_TO_ANSWER);
    // The second was never begun; to hide it there is no time either.
    expect(await answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'm0' }, { itemIdentifier: 'm1' }] });
    const end = start + 30_000 - TIME_TO_ANSWER;
    expect([begun, hidden, clock.sleepers()]).toEqual([[start], [end, end], 0]);
  });

  it('waits out the rest of a second of a wake-up that came early', async () => {
    const at: number[] = [];
    const { run, clock } = make(async () => void at.push(clock.now()));
    const wakeTime = addDuration(clock.now(), toDurationMs(700));
    const subject = { kind: 'Node', apiVersion: 'v1', name: 'n1' };
    const answer = run([JSON.stringify(toWakeUpEnvelope({ owner: 'repair', subject, wakeTime }))]);
    await clock.advance(toDurationMs(5_000));
    expect(await answer).toEqual({ batchItemFailures: [] });
    expect(at).toEqual([wakeTime]);
  });

  it('reports what was thrown although it is no error', async () => {
    const { run } = make(() => Promise.reject('text'));
    expect(await run([busEvent('a')])).toEqual({ batchItemFailures: [{ itemIdentifier: 'm0' }] });
  });
});
