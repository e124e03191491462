import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { afterEach, describe, expect, it } from 'vitest';
import { startEventBus, type EventBusOptions } from '../src/event-bus.ts';
import { FAKE_CREDENTIALS } from '../src/fake-credentials.ts';
import { createManualClock } from '../../../test/fakes/manual-clock.ts';

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

const rule = (name: string, busName: string, pattern: unknown, ...queueNames: string[]) => ({
  name,
  arn: name,
  busName,
  pattern,
  targets: queueNames.map(queueName => ({ queueName, deadLetterQueueName: `${queueName}-dead` })),
});

async function start(options: Partial<EventBusOptions> = {}) {
  const delivered: { queue: string; event: unknown; attributes?: unknown }[] = [];
  const bus = await startEventBus({
    model: {
      region: 'eu-west-1',
      account: '123456789012',
      buses: ['curfew', 'other'],
      rules: [
        rule('nodes', 'curfew', { source: ['curfew.forwarder'], 'detail-type': ['NodeChanged'] }, 'repair', 'drain'),
        rule('big', 'curfew', { detail: { count: [{ numeric: ['>', 5] }] } }, 'big'),
        rule('others', 'other', { source: ['curfew.forwarder'] }, 'other'),
        rule('instances', 'default', { source: ['aws.ec2'] }, 'instances'),
        rule('not-on-this-bus', 'curfew', { source: ['aws.ec2'] }, 'curfew'),
      ],
    },
    clock: createManualClock(),
    send: async (queue, body, attributes) =>
      void delivered.push({ queue, event: JSON.parse(body), ...(attributes && { attributes }) }),
    ...options,
  });
  const client = new EventBridgeClient({
    endpoint: bus.endpoint,
    region: 'eu-west-1',
    credentials: FAKE_CREDENTIALS,
    maxAttempts: 1,
  });
  opened.push(() => bus.stop());
  opened.push(() => client.destroy());
  const put = (...Entries: PutEventsRequestEntry[]) => client.send(new PutEventsCommand({ Entries }));
  return { delivered, put, bus };
}

const ENTRY: PutEventsRequestEntry = {
  EventBusName: 'curfew',
  Source: 'curfew.forwarder',
  DetailType: 'NodeChanged',
  Detail: '{"a":1}',
};

describe('local event bus', () => {
  it('sends what the policy of a queue does not let it to the dead-letter queue, with the reason', async () => {
    const problems: string[] = [];
    const mayDeliver = (_: unknown, queueName: string) => queueName !== 'repair';
    const onProblem = (problem: Error) => void problems.push(problem.message);
    const { delivered, put } = await start({ mayDeliver, onProblem });
    expect((await put(ENTRY)).FailedEntryCount).toBe(0);
    const why = 'the policy of queue repair does not let rule nodes send to it';
    expect(delivered).toMatchObject([
      {
        queue: 'repair-dead',
        event: { detail: { a: 1 } },
        attributes: { RULE_ARN: 'nodes', ERROR_CODE: 'NO_PERMISSIONS', ERROR_MESSAGE: why },
      },
      { queue: 'drain' },
    ]);
    expect(problems).toEqual([why]);
  });

  it('says that an event is lost when its dead-letter queue may not have it either', async () => {
    const problems: string[] = [];
    const mayDeliver = (_: unknown, queueName: string) => queueName === 'drain';
    const onProblem = (problem: Error) => void problems.push(problem.message);
    const { delivered, put } = await start({ mayDeliver, onProblem });
    await put(ENTRY);
    expect(delivered.map(({ queue }) => queue)).toEqual(['drain']);
    expect(problems).toEqual([expect.stringMatching(/rule nodes send to it, .*: an event is lost$/)]);
  });

  it('delivers the event in its envelope to every queue of every rule that matches', async () => {
    const { delivered, put } = await start();
    const { FailedEntryCount, Entries } = await put(ENTRY);
    expect(FailedEntryCount).toBe(0);
    const event = {
      version: '0',
      id: Entries?.[0]?.EventId,
      'detail-type': 'NodeChanged',
      source: 'curfew.forwarder',
      account: '123456789012',
      time: '2024-11-01T15:00:00Z',
      region: 'eu-west-1',
      resources: [],
      detail: { a: 1 },
    };
    expect(delivered).toEqual([
      { queue: 'repair', event },
      { queue: 'drain', event },
    ]);
  });

  it('publishes what a service of AWS says on the default bus', async () => {
    const { delivered, bus } = await start();
    const resources = ['arn:aws:ec2:eu-west-1:123456789012:instance/i-0abc'];
    await bus.publish({ source: 'aws.ec2', detailType: 'Said', detail: { a: 1 }, resources });
    expect(delivered).toEqual([
      {
        queue: 'instances',
        event: expect.objectContaining({ source: 'aws.ec2', 'detail-type': 'Said', detail: { a: 1 }, resources }),
      },
    ]);
  });

  it('takes the time and the resources of the sender', async () => {
    const { delivered, put } = await start();
    await put({ ...ENTRY, Time: new Date('2020-02-03T04:05:06Z'), Resources: ['arn:x'] });
    expect(delivered[0]?.event).toMatchObject({ time: '2020-02-03T04:05:06Z', resources: ['arn:x'] });
  });

  it('matches the content of the detail', async () => {
    const { delivered, put } = await start();
    await put(
      { ...ENTRY, DetailType: 'x', Detail: '{"count":6}' },
      { ...ENTRY, DetailType: 'x', Detail: '{"count":5}' },
    );
    expect(delivered.map(({ queue }) => queue)).toEqual(['big']);
  });

  it('keeps buses apart, and knows them by ARN too', async () => {
    const { delivered, put } = await start();
    await put({ ...ENTRY, EventBusName: 'arn:aws:events:eu-west-1:123456789012:event-bus/other' });
    expect(delivered.map(({ queue }) => queue)).toEqual(['other']);
  });

  it.each<[string, PutEventsRequestEntry, string]>([
    ['a detail that is not JSON', { ...ENTRY, Detail: '{' }, 'MalformedDetail'],
    ['a detail that is no object', { ...ENTRY, Detail: '[]' }, 'MalformedDetail'],
    ['no detail', { ...ENTRY, Detail: undefined }, 'InvalidArgument'],
    ['no source', { ...ENTRY, Source: '' }, 'InvalidArgument'],
    ['a long detail type', { ...ENTRY, DetailType: 'x'.repeat(129) }, 'InvalidArgument'],
    ['an unknown bus', { ...ENTRY, EventBusName: 'missing' }, 'InvalidArgument'],
    ['a source of AWS', { ...ENTRY, Source: 'aws.ec2' }, 'NotAuthorizedForSourceException'],
  ])('fails the one entry that has %s, and delivers the others', async (_, bad, code) => {
    const { delivered, put } = await start();
    const { FailedEntryCount, Entries } = await put(ENTRY, bad, ENTRY);
    expect(FailedEntryCount).toBe(1);
    expect(Entries?.map(({ ErrorCode }) => ErrorCode)).toEqual([undefined, code, undefined]);
    expect(delivered).toHaveLength(4);
  });

  it('fails entries on purpose', async () => {
    const { delivered, put } = await start({
      failEntry: ({ DetailType }) => (DetailType === 'slow' ? 'ThrottlingException' : undefined),
    });
    const { Entries } = await put({ ...ENTRY, DetailType: 'slow' }, ENTRY);
    expect(Entries?.map(({ ErrorCode }) => ErrorCode)).toEqual(['ThrottlingException', undefined]);
    expect(delivered).toHaveLength(2);
  });

  it.each<[string, PutEventsRequestEntry[]]>([
    ['no entry', []],
    ['more than ten entries', Array.from({ length: 11 }, () => ENTRY)],
    ['a megabyte', [{ ...ENTRY, Detail: JSON.stringify({ a: 'x'.repeat(1_000_000) }) }]],
  ])('refuses a whole call with %s', async (_, entries) => {
    const { delivered, put } = await start();
    await expect(put(...entries)).rejects.toMatchObject({ name: 'ValidationException' });
    expect(delivered).toEqual([]);
  });

  it('takes ten entries just below a megabyte together', async () => {
    const { put } = await start();
    const Detail = JSON.stringify({ a: 'x'.repeat(99_000) });
    expect(await put(...Array.from({ length: 10 }, () => ({ ...ENTRY, Detail })))).toMatchObject({
      FailedEntryCount: 0,
    });
  });

  it('answers a failed delivery as a fault of the service, which the sender may repeat', async () => {
    const { put } = await start({ send: () => Promise.reject(new Error('the queue is gone')) });
    await expect(put(ENTRY)).rejects.toMatchObject({ $fault: 'server' });
  });

  it('does not start with a rule that EventBridge would refuse', async () => {
    const model = { region: 'x', account: 'x', buses: [], rules: [rule('bad', 'default', { source: 'x' }, 'q')] };
    await expect(start({ model })).rejects.toThrow('source must be an object or an array');
  });
});
