import { describe, expect, it } from 'vitest';
import { createMemoryRecordStore } from '../../../runtime/memory/record-store.ts';
import { addDuration, minutes, seconds, toEpochMs, type EpochMs } from '../../../shared/domain/time.ts';
import { RetryableError } from '../../../shared/errors.ts';
import type { RecordCodec } from '../../../shared/lifecycle/record-codec.ts';
import { openRecord } from '../../../shared/lifecycle/timed-record.ts';
import type { WakeUp } from '../../../shared/contract/wake-up.ts';

const START = toEpochMs(Date.UTC(2024, 10, 1, 12));
const SUBJECT = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' };
const ID = 'node/u1';
const KEY = { owner: 'repair', id: ID } as const;

const codec: RecordCodec<string> = {
  owner: 'repair',
  schemaVersion: 2,
  parse: ({ text }) => (typeof text === 'string' ? text : ''),
  toState: text => ({ text }),
};

function aWorld() {
  const records = createMemoryRecordStore();
  const sent: { wakeUp: WakeUp; delay: number }[] = [];
  const time: { now: EpochMs } = { now: START };
  const deps = {
    records,
    wakeUps: { send: async (batch: readonly { wakeUp: WakeUp; delay: number }[]) => void sent.push(...batch) },
    clock: { now: () => time.now, sleep: async () => undefined },
  };
  /** A run that has looked at the record. */
  const aRun = async (usedWakeTime?: EpochMs) => {
    const record = openRecord(deps, codec, ID, usedWakeTime === undefined ? undefined : { wakeTime: usedWakeTime });
    await record.load();
    return record;
  };
  const wanted = (value: string, wakeTime: EpochMs = addDuration(START, minutes(5))) => ({
    subject: SUBJECT,
    value,
    wakeTime,
  });
  return { records, sent, time, aRun, wanted };
}

describe('saving a record', () => {
  it('writes value, version and timer, and sends the wake-up of a near timer', async () => {
    const { records, sent, aRun, wanted } = aWorld();
    expect(await (await aRun()).save(wanted('a'))).toMatchObject({ kind: 'done', written: true });
    const wakeTime = addDuration(START, minutes(5));
    expect(await records.get(KEY)).toMatchObject({
      subject: SUBJECT,
      state: { schemaVersion: 2, text: 'a' },
      nextWakeTime: wakeTime,
      hasOwnMessage: true,
    });
    expect(sent).toEqual([{ wakeUp: { owner: 'repair', subject: SUBJECT, wakeTime }, delay: 300_000 }]);
  });

  it('sends one wake-up for a timer, however often the value beside it changes', async () => {
    const { sent, time, aRun, wanted } = aWorld();
    const wakeTime = addDuration(START, minutes(5));
    await (await aRun()).save(wanted('a'));
    time.now = addDuration(START, minutes(1));
    await (await aRun()).save(wanted('b'));
    await (await aRun(START)).save(wanted('c'));
    expect(sent).toHaveLength(1);
    // One that came early used its message up.
    await (await aRun(wakeTime)).save(wanted('d'));
    expect(sent).toHaveLength(2);
  });

  it('leaves a far timer, and one that need not be punctual, to the sweep', async () => {
    const { records, sent, aRun, wanted } = aWorld();
    await (await aRun()).save(wanted('a', addDuration(START, minutes(16))));
    expect((await records.get(KEY))?.hasOwnMessage).toBeUndefined();
    await (await aRun()).save({ ...wanted('b'), hasOwnMessage: false });
    expect((await records.get(KEY))?.hasOwnMessage).toBeUndefined();
    expect(sent).toEqual([]);
  });

  it('T2: writes nothing when value and timer are as wanted, or the timer comes earlier', async () => {
    const { records, aRun, wanted } = aWorld();
    await (await aRun()).save(wanted('a'));
    const version = (await records.get(KEY))?.version;
    await (await aRun()).save(wanted('a'));
    await (await aRun()).save(wanted('a', addDuration(START, minutes(9))));
    expect((await records.get(KEY))?.version).toBe(version);
  });

  it('T2: writes when the timer is past, or later than wanted', async () => {
    const { records, time, aRun, wanted } = aWorld();
    await (await aRun()).save(wanted('a'));
    const earlier = addDuration(START, minutes(2));
    await (await aRun()).save(wanted('a', earlier));
    expect((await records.get(KEY))?.nextWakeTime).toBe(earlier);
    time.now = earlier;
    const later = addDuration(START, minutes(30));
    await (await aRun()).save(wanted('a', later));
    expect((await records.get(KEY))?.nextWakeTime).toBe(later);
  });

  it('sends the next wake-up when that of this very timer came early, and for no other message', async () => {
    const { sent, aRun, wanted } = aWorld();
    await (await aRun()).save(wanted('a'));
    sent.length = 0;
    await (await aRun()).save(wanted('a'));
    await (await aRun(addDuration(START, minutes(4)))).save(wanted('a'));
    expect(sent).toEqual([]);
    await (await aRun(addDuration(START, minutes(5)))).save(wanted('a'));
    expect(sent).toHaveLength(1);
  });

  it.each(['written', 'unchanged'])(
    'throws what goes back once it is %s, and sends no message beside it',
    async how => {
      const { records, sent, time, aRun, wanted } = aWorld();
      const wakeTime = addDuration(START, minutes(5));
      await (await aRun()).save(wanted('a', wakeTime));
      sent.length = 0;
      // Whichever message brought the run here comes again.
      time.now = how === 'written' ? wakeTime : addDuration(START, minutes(4));
      const redeliveryError = new RetryableError('503');
      const run = await aRun(wakeTime);
      const next = how === 'written' ? wanted('b', addDuration(wakeTime, minutes(5))) : wanted('a', wakeTime);
      await expect(run.save({ ...next, redeliveryError })).rejects.toBe(redeliveryError);
      expect(sent).toEqual([]);
      expect(await records.get(KEY)).toMatchObject({ nextWakeTime: next.wakeTime, state: { text: next.value } });
    },
  );

  it('answers that another run wrote first, and throws nothing', async () => {
    const { aRun, wanted } = aWorld();
    const [a, b] = [await aRun(), await aRun()];
    expect(await a.save(wanted('a'))).toMatchObject({ kind: 'done' });
    expect(await b.save({ ...wanted('b'), redeliveryError: new RetryableError('503') })).toEqual({
      kind: 'again',
      because: 'another run wrote node/u1 first',
      written: false,
    });
  });
});

describe('T3: closing a record', () => {
  it('takes two turns', async () => {
    const { records, aRun, wanted } = aWorld();
    await (await aRun()).save(wanted('a'));
    const run = await aRun();
    expect(await run.release()).toMatchObject({ kind: 'again' });
    expect(await records.get(KEY)).toMatchObject({ nextWakeTime: addDuration(START, seconds(60)) });
    await run.load();
    expect(await run.release()).toEqual({ kind: 'done' });
    expect(await records.get(KEY)).toBeUndefined();
  });

  // Run A sees that the record is not needed; run B sees that it is, with the very value that is stored.
  it('never deletes what another run found needed, whenever that run read the record', async () => {
    const { records, aRun, wanted } = aWorld();
    await (await aRun()).save(wanted('a'));

    const a = await aRun();
    expect(await a.release()).toMatchObject({ kind: 'again' });
    const b = await aRun();
    expect(await b.save(wanted('a'))).toMatchObject({ kind: 'done' });
    await a.load();
    expect(await a.release()).toMatchObject({ kind: 'again' });
    // A looks again, finds that it is needed, and saves.
    await a.load();
    expect(await a.save(wanted('a'))).toMatchObject({ kind: 'done' });
    expect(await records.get(KEY)).toMatchObject({ state: { schemaVersion: 2, text: 'a' } });
  });

  it('loses when another run writes between the second look and the deletion', async () => {
    const { records, aRun, wanted } = aWorld();
    await (await aRun()).save(wanted('a'));
    const a = await aRun();
    await a.release();
    await a.load();
    await (await aRun()).save(wanted('a'));
    expect(await a.release()).toEqual({ kind: 'again', because: 'another run needs node/u1' });
    expect(await records.get(KEY)).toMatchObject({ state: { text: 'a' } });
  });

  it('begins anew with the mark of a run that ended', async () => {
    const { records, aRun, wanted } = aWorld();
    await (await aRun()).save(wanted('a'));
    await (await aRun()).release();
    const next = await aRun();
    expect(await next.release()).toMatchObject({ kind: 'again' });
    await next.load();
    expect(await next.release()).toEqual({ kind: 'done' });
    expect(await records.get(KEY)).toBeUndefined();
  });

  it('is done at once when there is none, or when its subject is gone', async () => {
    const { records, aRun, wanted } = aWorld();
    expect(await (await aRun()).release()).toEqual({ kind: 'done' });
    await (await aRun()).save(wanted('a'));
    expect(await (await aRun()).closeNow()).toEqual({ kind: 'done' });
    expect(await records.get(KEY)).toBeUndefined();
  });

  it('does not close the record of a gone subject that another run wrote in between', async () => {
    const { aRun, wanted } = aWorld();
    await (await aRun()).save(wanted('a'));
    const run = await aRun();
    await (await aRun()).save(wanted('b'));
    expect(await run.closeNow()).toEqual({ kind: 'again', because: 'another run wrote node/u1 first' });
  });
});

describe('T4: putting a timer off', () => {
  const later = addDuration(START, minutes(9));

  // Run B needs what is stored and writes nothing; run A looked before that and wants a later timer.
  it('asks for another look, which finds what the other run relied on', async () => {
    const { records, aRun, wanted } = aWorld();
    await (await aRun()).save(wanted('a'));
    const a = await aRun();
    const b = await aRun();
    expect(await b.save(wanted('a'))).toMatchObject({ kind: 'done' });
    expect(await a.save(wanted('b', later))).toEqual({
      kind: 'again',
      because: 'the timer of node/u1 was put off',
      written: true,
    });
    await a.load();
    expect(await a.save(wanted('a'))).toMatchObject({ kind: 'done' });
    expect((await records.get(KEY))?.nextWakeTime).toBe(addDuration(START, minutes(5)));
  });

  it('needs none when the timer is due: nobody relies on it', async () => {
    const { time, aRun, wanted } = aWorld();
    await (await aRun()).save(wanted('a'));
    time.now = addDuration(START, minutes(5));
    expect(await (await aRun()).save(wanted('b', later))).toMatchObject({ kind: 'done' });
  });
});

describe('T5: a record of a newer version', () => {
  it('is told apart and never written', async () => {
    const { records, aRun, wanted } = aWorld();
    const newer = { ...KEY, subject: SUBJECT, state: { schemaVersion: 3, strange: true }, nextWakeTime: START };
    await records.put(newer, 0);
    const run = await aRun();
    expect((await run.load()).kind).toBe('newer');
    await expect(run.save(wanted('a'))).rejects.toThrow('invariant broken: T5');
    await expect(run.closeNow()).rejects.toThrow('invariant broken: T5');
    expect(await run.release()).toEqual({ kind: 'done' });
    expect(await records.get(KEY)).toMatchObject(newer);
  });

  it('reads a record of an older version', async () => {
    const { records, aRun } = aWorld();
    await records.put({ ...KEY, subject: SUBJECT, state: { schemaVersion: 1, text: 'old' }, nextWakeTime: START }, 0);
    expect(await (await aRun()).load()).toMatchObject({ kind: 'known', value: 'old' });
  });
});

describe("the sweep's wake-up", () => {
  it('is served when the timer has moved on, and not before', async () => {
    const { records, aRun, wanted } = aWorld();
    await (await aRun()).save(wanted('a'));
    const deps = {
      records,
      wakeUps: { send: async () => undefined },
      clock: { now: () => START, sleep: async () => undefined },
    };
    const isServed = (wakeTime: EpochMs, repeated: boolean): Promise<boolean> =>
      openRecord(deps, codec, ID, { wakeTime, repeated }).isWakeUpSuperseded();
    expect(await isServed(addDuration(START, minutes(5)), true)).toBe(false);
    expect(await isServed(addDuration(START, minutes(4)), true)).toBe(true);
    expect(await isServed(addDuration(START, minutes(4)), false)).toBe(false);
  });
});
