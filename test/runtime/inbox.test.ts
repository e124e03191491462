import { describe, expect, it } from 'vitest';
import { createInbox, type InboxMessage } from '../../runtime/inbox.ts';
import { createVirtualTime } from '../../simulator/virtual-time.ts';
import { addDuration, minutes, seconds, toDurationMs, toEpochMs } from '../../shared/domain/time.ts';

const START = toEpochMs(Date.UTC(2024, 10, 1));
const SETTINGS = { visibilityTimeout: minutes(3), maxReceiveCount: 3 };

function start(consume: (message: InboxMessage) => Promise<void>) {
  const time = createVirtualTime({ start: START });
  const received: [number, number][] = [];
  const buried: InboxMessage[] = [];
  const inbox = createInbox({
    name: 'test',
    settings: SETTINGS,
    scheduler: time,
    consume: message => {
      received.push([(time.now() - START) / 1000, message.receiveCount]);
      return consume(message);
    },
    bury: message => buried.push(message),
  });
  const runFor = (count: number): Promise<void> => time.runUntil(addDuration(START, seconds(count)));
  return { inbox, received, buried, runFor };
}

describe('createInbox', () => {
  it('delivers after the delay, in whole seconds rounded down', async () => {
    const { inbox, received, runFor } = start(async () => undefined);
    inbox.send('now');
    inbox.send('later', toDurationMs(2999));
    await runFor(10);
    expect(received).toEqual([
      [0, 1],
      [2, 1],
    ]);
    expect(inbox.depth()).toBe(0);
  });

  it('refuses a delay that SQS cannot carry', () => {
    expect(() => start(async () => undefined).inbox.send('x', seconds(901))).toThrow(/at most 900 s/);
  });

  it('delivers a message that failed again after some seconds, later each time', async () => {
    let failures = 2;
    const { inbox, received, runFor } = start(async () => {
      if (failures-- > 0) throw new Error('not now');
    });
    inbox.send('x');
    await runFor(1000);
    expect(received).toEqual([
      [0, 1],
      [5, 2],
      [15, 3],
    ]);
  });

  it('delivers a message again whose reader died', async () => {
    let deaths = 1;
    const { inbox, received, runFor } = start(() => (deaths-- > 0 ? new Promise(() => undefined) : Promise.resolve()));
    inbox.send('x');
    await runFor(1000);
    expect(received).toEqual([
      [0, 1],
      [180, 2],
    ]);
    expect(inbox.depth()).toBe(0);
  });

  it('lets as many be at work at once as it may; one whose reader died holds a place until it comes again', async () => {
    const time = createVirtualTime({ start: START });
    const begun: [number, string][] = [];
    const inbox = createInbox({
      name: 'test',
      settings: { ...SETTINGS, concurrency: 2 },
      scheduler: time,
      consume: ({ body, receiveCount }) => {
        begun.push([(time.now() - START) / 1000, body]);
        return body === 'dies' && receiveCount === 1 ? new Promise(() => undefined) : time.sleep(seconds(10));
      },
      bury: () => undefined,
    });
    for (const body of ['dies', 'a', 'b', 'c']) inbox.send(body);
    await time.runUntil(addDuration(START, seconds(1000)));
    expect(begun).toEqual([
      [0, 'dies'],
      [0, 'a'],
      [10, 'b'],
      [20, 'c'],
      [180, 'dies'],
    ]);
    expect(inbox.depth()).toBe(0);
  });

  it('gives a message up after too many receives', async () => {
    const { inbox, received, buried, runFor } = start(() => Promise.reject(new Error('never')));
    inbox.send('x');
    await runFor(10_000);
    expect(received).toHaveLength(SETTINGS.maxReceiveCount);
    expect(buried).toMatchObject([{ body: 'x', receiveCount: 3 }]);
    expect(inbox.depth()).toBe(0);
  });

  it('hands what waits over to another inbox, hidden and counted as it was', async () => {
    const first = start(() => new Promise(() => undefined));
    first.inbox.send('dead reader');
    first.inbox.send('delayed', seconds(100));
    await first.runFor(10);
    const waiting = first.inbox.waiting();
    expect(waiting).toMatchObject([
      { body: 'dead reader', receiveCount: 2, visibleTime: addDuration(START, seconds(180)) },
      { body: 'delayed', receiveCount: 1, visibleTime: addDuration(START, seconds(100)) },
    ]);

    const second = start(async () => undefined);
    for (const message of waiting) second.inbox.takeOver(message);
    expect(second.inbox.depth()).toBe(2);
    await second.runFor(1000);
    expect(second.received).toEqual([
      [100, 1],
      [180, 2],
    ]);
    expect(second.inbox.depth()).toBe(0);
  });
});
