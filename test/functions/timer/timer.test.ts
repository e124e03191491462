import { describe, expect, it } from 'vitest';
import { createReconciler, createSweep } from '../../../functions/timer/route.ts';
import { decide, SWEEP_AHEAD } from '../../../functions/timer/decide.ts';
import { createMemoryRecordStore } from '../../../runtime/memory/record-store.ts';
import { seconds, toEpochMs, type DurationMs } from '../../../shared/domain/time.ts';
import { messageOf, RetryableError } from '../../../shared/errors.ts';
import type { AuditLog, AuditRecord } from '../../../shared/ports/audit-log.ts';
import type { DeadLetters } from '../../../shared/ports/dead-letters.ts';
import type { WakeUp } from '../../../shared/contract/wake-up.ts';

const NOW = toEpochMs(1_000_000_000);
const SUBJECT = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' };
const NO_AUDIT: AuditLog = { write: () => undefined };
const NO_DEAD_LETTERS: DeadLetters = { park: () => Promise.reject(new Error('nothing is parked here')) };

describe('the rule of the sweep', () => {
  it.each([
    [-3_600_000, 0],
    [0, 0],
    [1, 1],
    [90_000, 90_000],
  ])('a record due in %i ms gets a delay of %i ms', (offset, delay) => {
    expect(decide({ nextWakeTime: toEpochMs(NOW + offset) }, NOW)).toEqual({ kind: 'wake', delay });
  });

  it.each([
    [60_000, 'leave'],
    [0, 'leave'],
    [-29_999, 'leave'],
    [-30_000, 'wake'],
  ])('a record due in %i ms whose owner sent its own wake-up: %s', (offset, kind) => {
    expect(decide({ nextWakeTime: toEpochMs(NOW + offset), hasOwnMessage: true }, NOW).kind).toBe(kind);
  });

  it('looks half a minute further than the next tick', () => {
    expect(SWEEP_AHEAD).toBe(90_000);
  });
});

describe('a tick', () => {
  async function sweep(dueOffsets: readonly number[]) {
    const store = createMemoryRecordStore();
    for (const [index, offset] of dueOffsets.entries()) {
      await store.put(
        {
          owner: 'repair',
          id: `node/${index}`,
          subject: { apiVersion: 'v1', kind: 'Node', name: `n${index}`, uid: String(index) },
          state: {},
          nextWakeTime: toEpochMs(NOW + offset),
        },
        0,
      );
    }
    const sent: { wakeUp: WakeUp; delay: DurationMs }[] = [];
    const gauges: Record<string, number> = {};
    const reconcile = createSweep({
      dueIndex: store,
      records: store,
      deadLetters: NO_DEAD_LETTERS,
      audit: NO_AUDIT,
      wakeUps: {
        send: async batch => {
          sent.push(...batch);
        },
      },
      clock: { now: () => NOW, sleep: async () => undefined },
      metrics: { count: () => undefined, milliseconds: (name, value) => (gauges[name] = value) },
    });
    await reconcile({ kind: 'tick' });
    return { sent, gauges };
  }

  it('wakes the owners of overdue and near records, with the delay that is left, and no others', async () => {
    const { sent } = await sweep([-86_400_000, -1, 30_000, 90_000, 90_001]);
    const delays = Object.fromEntries(sent.map(({ wakeUp, delay }) => [wakeUp.subject.name, delay]));
    expect(delays).toEqual({ n0: 0, n1: 0, n2: 30_000, n3: 90_000 });
  });

  it('reaches every record of every shard, over as many pages as it takes', async () => {
    const { sent } = await sweep(Array.from({ length: 5000 }, (_, index) => index));
    expect(new Set(sent.map(({ wakeUp }) => wakeUp.subject.uid)).size).toBe(5000);
  });

  it('reports how late the oldest record is', async () => {
    expect((await sweep([-7000, 5000])).gauges).toEqual({ OldestOverdueTimer: seconds(7) });
    expect((await sweep([5000])).gauges).toEqual({ OldestOverdueTimer: 0 });
  });

  it('goes on past what cannot be sent or parked, and fails at its end', async () => {
    const woken: string[] = [];
    const pageOf = (...owners: readonly ('repair' | 'drain' | 'finalizer')[]) => ({
      records: owners.map(owner => ({ owner, id: 'node/u1', subject: SUBJECT, nextWakeTime: NOW })),
      unreadable: [{ id: 'stranger/x', explanation: 'owner: Invalid option' }],
    });
    const reconcile = createSweep({
      dueIndex: {
        shardCount: 1,
        queryDue: async (_shard, _before, { cursor }) =>
          cursor === undefined ? { ...pageOf('repair', 'drain'), cursor: '2' } : pageOf('finalizer'),
      },
      records: createMemoryRecordStore(),
      deadLetters: { park: () => Promise.reject(new RetryableError('the queue is away')) },
      audit: NO_AUDIT,
      wakeUps: {
        send: async batch => {
          for (const { wakeUp } of batch) {
            if (wakeUp.owner === 'repair') throw new RetryableError('its inbox is away');
            woken.push(wakeUp.owner);
          }
        },
      },
      clock: { now: () => NOW, sleep: async () => undefined },
      metrics: { count: () => undefined, milliseconds: () => undefined },
    });
    await expect(reconcile({ kind: 'tick' })).rejects.toThrow('its inbox is away; the queue is away');
    expect(woken).toEqual(['drain', 'finalizer']);
  });

  describe('whose call for all inboxes fails', () => {
    async function sweepWith(errors: Readonly<Record<'all' | 'repair' | 'drain', string | undefined>>) {
      const audit: AuditRecord[] = [];
      const woken: string[] = [];
      const due = (['repair', 'drain'] as const).map(owner => ({
        owner,
        id: 'node/u1',
        subject: SUBJECT,
        nextWakeTime: NOW,
      }));
      const reconcile = createSweep({
        dueIndex: { shardCount: 1, queryDue: async () => ({ records: due, unreadable: [] }) },
        records: createMemoryRecordStore(),
        deadLetters: NO_DEAD_LETTERS,
        audit: { write: line => void audit.push(line) },
        wakeUps: {
          send: async batch => {
            const [first] = batch;
            const owner = first?.wakeUp.owner === 'drain' ? 'drain' : 'repair';
            const error = errors[batch.length > 1 ? 'all' : owner];
            if (error !== undefined) throw new RetryableError(error);
            woken.push(owner);
          },
        },
        clock: { now: () => NOW, sleep: async () => undefined },
        metrics: { count: () => undefined, milliseconds: () => undefined },
      });
      const failure = await reconcile({ kind: 'tick' }).then(
        () => undefined,
        (error: unknown) => messageOf(error),
      );
      return { audit, woken, failure };
    }

    it('reports the error where each inbox takes its own', async () => {
      const { audit, woken, failure } = await sweepWith({ all: 'throttled', repair: undefined, drain: undefined });
      expect({ woken, failure }).toEqual({ woken: ['repair', 'drain'], failure: undefined });
      expect(audit).toEqual([
        {
          function: 'timer',
          decision: 'retry',
          reason: 'WakeUpsResent',
          message: 'wake-ups were sent again, to each inbox by itself: throttled',
          kind: 'Inbox',
          name: 'repair, drain',
          details: { wakeUps: 2 },
        },
      ]);
    });

    it('fails with the error, and with those of the inboxes that differ', async () => {
      const { audit, woken, failure } = await sweepWith({
        all: 'throttled',
        repair: 'its inbox is away',
        drain: undefined,
      });
      expect({ audit, woken, failure }).toEqual({
        audit: [],
        woken: ['drain'],
        failure: '2 failures: throttled; its inbox is away',
      });
    });

    it('fails with the error once where an inbox answers the same', async () => {
      const error = 'its inbox is away';
      const { failure } = await sweepWith({ all: error, repair: error, drain: undefined });
      expect(failure).toBe(error);
    });
  });

  it('skips an entry that it cannot read, says so each time and parks it once', async () => {
    const store = createMemoryRecordStore();
    const parked: unknown[] = [];
    const counted: string[] = [];
    const woken: string[] = [];
    const reconcile = createSweep({
      dueIndex: {
        shardCount: 1,
        queryDue: async () => ({
          records: [{ owner: 'repair', id: 'node/u1', subject: SUBJECT, nextWakeTime: NOW }],
          unreadable: [{ id: 'stranger/x', explanation: 'owner: Invalid option' }],
        }),
      },
      records: store,
      deadLetters: { park: async message => void parked.push(message) },
      audit: NO_AUDIT,
      wakeUps: { send: async batch => void woken.push(...batch.map(({ wakeUp }) => wakeUp.subject.name)) },
      clock: { now: () => NOW, sleep: async () => undefined },
      metrics: { count: name => counted.push(name), milliseconds: () => undefined },
    });
    await reconcile({ kind: 'tick' });
    await reconcile({ kind: 'tick' });
    expect(woken).toEqual(['n1', 'n1']);
    expect(counted).toEqual(['UnreadableRecord', 'UnreadableRecord']);
    expect(parked).toEqual([
      {
        function: 'timer',
        body: '{"id":"stranger/x"}',
        reason: 'UnreadableRecord',
        explanation: 'owner: Invalid option',
      },
    ]);
  });

  it('does nothing on any other message', async () => {
    let looked = false;
    const reconcile = createSweep({
      dueIndex: {
        shardCount: 1,
        queryDue: async () => {
          looked = true;
          return { records: [], unreadable: [] };
        },
      },
      records: createMemoryRecordStore(),
      deadLetters: NO_DEAD_LETTERS,
      audit: NO_AUDIT,
      wakeUps: { send: async () => undefined },
      clock: { now: () => NOW, sleep: async () => undefined },
      metrics: { count: () => undefined, milliseconds: () => undefined },
    });
    await reconcile({ kind: 'busEvent', id: undefined, source: 'x', detailType: 'y', detail: {} });
    expect(looked).toBe(false);
  });
});

describe('the canary', () => {
  it('counts once where it is missing, on a new table and after the records have vanished', async () => {
    let store = createMemoryRecordStore();
    const counted: string[] = [];
    const reconcile = createReconciler({
      dueIndex: { shardCount: 1, queryDue: async () => ({ records: [], unreadable: [] }) },
      records: {
        get: key => store.get(key),
        put: (record, version) => store.put(record, version),
        delete: (key, version) => store.delete(key, version),
      },
      deadLetters: NO_DEAD_LETTERS,
      audit: NO_AUDIT,
      wakeUps: { send: async () => undefined },
      clock: { now: () => NOW, sleep: async () => undefined },
      metrics: { count: name => counted.push(name), milliseconds: () => undefined },
    });
    await reconcile({ kind: 'tick' });
    await reconcile({ kind: 'tick' });
    expect(counted).toEqual(['RecordsVanished']);
    store = createMemoryRecordStore();
    await reconcile({ kind: 'tick' });
    await reconcile({ kind: 'tick' });
    expect(counted).toEqual(['RecordsVanished', 'RecordsVanished']);
  });
});
