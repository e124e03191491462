import {
  CreateQueueCommand,
  ReceiveMessageCommand,
  SQSClient,
  type Message,
  type SendMessageBatchRequestEntry,
} from '@aws-sdk/client-sqs';
import { startFauxqs } from 'fauxqs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createWakeUpSender, delaySecondsFor } from '../../../../shared/adapters/sqs/wake-up-sender.ts';
import { parseInboxMessage } from '../../../../shared/contract/inbox-message.ts';
import { seconds, toDurationMs, toEpochMs } from '../../../../shared/domain/time.ts';
import type { WakeUp } from '../../../../shared/contract/wake-up.ts';
import { fakeClient, serviceError, type Sent } from '../fake-client.ts';

const wakeUp = (name: string, owner: WakeUp['owner'] = 'repair'): WakeUp => ({
  owner,
  subject: { kind: 'Node', apiVersion: 'v1', name, uid: `uid-${name}` },
  wakeTime: toEpochMs(1_730_473_200_123),
});
const now = seconds(0);

function senderWith(answer: Parameters<typeof fakeClient>[0]) {
  const { client, sent } = fakeClient<SQSClient>(answer);
  return {
    sender: createWakeUpSender({ client, inboxUrls: { repair: 'https://sqs/repair', drain: 'https://sqs/drain' } }),
    sent,
  };
}

function entriesOf({ input }: Sent): readonly SendMessageBatchRequestEntry[] {
  return Array.isArray(input['Entries']) ? input['Entries'] : [];
}

describe('delaySecondsFor', () => {
  it.each([
    { delay: 0, expected: 0 },
    { delay: 999, expected: 0 },
    { delay: 1000, expected: 1 },
    { delay: 900_999, expected: 900 },
    { delay: -5000, expected: 0 },
  ])('rounds $delay ms down to $expected s', ({ delay, expected }) => {
    expect(delaySecondsFor(toDurationMs(delay))).toBe(expected);
  });

  it('refuses more than SQS can carry', () => {
    expect(() => delaySecondsFor(toDurationMs(901_000))).toThrow('900');
  });
});

describe('WakeUpSender on SQS', () => {
  it('puts wake-ups into their inboxes in the shape that functions read', async () => {
    const server = await startFauxqs({ port: 0, logger: false });
    onTestFinished(() => server.stop());
    const client = new SQSClient({
      endpoint: `http://127.0.0.1:${server.port}`,
      region: 'us-west-2',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
    onTestFinished(() => client.destroy());
    const makeQueue = async (name: string): Promise<string> =>
      (await client.send(new CreateQueueCommand({ QueueName: name }))).QueueUrl ?? '';
    const inboxUrls = { repair: await makeQueue('repair'), drain: await makeQueue('drain') };
    const receive = async (url: string): Promise<readonly Message[]> =>
      (await client.send(new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10 }))).Messages ?? [];

    const sender = createWakeUpSender({ client, inboxUrls });
    await sender.send([
      { wakeUp: wakeUp('n1'), delay: now },
      { wakeUp: wakeUp('n2', 'drain'), delay: now },
      { wakeUp: wakeUp('n3'), delay: seconds(900) },
    ]);
    const repair = await receive(inboxUrls.repair);
    expect(repair.map(({ Body = '' }) => parseInboxMessage(Body))).toEqual([{ kind: 'wakeUp', ...wakeUp('n1') }]);
    expect(await receive(inboxUrls.drain)).toHaveLength(1);
  });

  it('sends at most ten in a call', async () => {
    const { sender, sent } = senderWith(() => ({ Successful: [] }));
    await sender.send(Array.from({ length: 23 }, (_, index) => ({ wakeUp: wakeUp(`n${index}`), delay: now })));
    expect(sent.map(call => entriesOf(call).length)).toEqual([10, 10, 3]);
    for (const call of sent) expect(new Set(entriesOf(call).map(({ Id }) => Id)).size).toBe(entriesOf(call).length);
  });

  it('puts each wake-up into the group of its object, by which SQS is fair', async () => {
    const { sender, sent } = senderWith(() => ({ Successful: [] }));
    await sender.send(['a', 'b'].map(name => ({ wakeUp: wakeUp(name), delay: now })));
    expect(sent.flatMap(entriesOf).map(entry => entry.MessageGroupId)).toEqual(['Node/a', 'Node/b']);
  });

  it('sends again only what was refused', async () => {
    const { sender, sent } = senderWith((_, index) =>
      index === 0 ? { Failed: [{ Id: '1', Code: 'InternalError' }] } : {},
    );
    await sender.send(['a', 'b', 'c'].map(name => ({ wakeUp: wakeUp(name), delay: now })));
    expect(sent).toHaveLength(2);
    const [again] = entriesOf(sent[1] ?? { name: '', input: {} });
    expect(again?.MessageBody).toContain('"uid-b"');
  });

  it('is retryable when entries stay refused', async () => {
    const { sender, sent } = senderWith(() => ({ Failed: [{ Id: '0', Code: 'ServiceUnavailable' }] }));
    await expect(sender.send([{ wakeUp: wakeUp('a'), delay: now }])).rejects.toMatchObject({
      name: 'RetryableError',
      reason: 'ServiceUnavailable',
    });
    expect(sent).toHaveLength(3);
  });

  it('is retryable when the call fails', async () => {
    const { sender } = senderWith(() => serviceError('RequestThrottled', 'client'));
    await expect(sender.send([{ wakeUp: wakeUp('a'), delay: now }])).rejects.toMatchObject({ name: 'RetryableError' });
  });

  it('refuses a delay above 900 s and an owner without an inbox, and sends nothing', async () => {
    const { sender, sent } = senderWith(() => ({}));
    await expect(sender.send([{ wakeUp: wakeUp('a'), delay: seconds(901) }])).rejects.toThrow('900');
    await expect(sender.send([{ wakeUp: wakeUp('a', 'finalizer'), delay: now }])).rejects.toThrow('finalizer');
    expect(sent).toEqual([]);
  });

  it('sends nothing when there is nothing to send', async () => {
    const { sender, sent } = senderWith(() => ({}));
    await sender.send([]);
    expect(sent).toEqual([]);
  });
});
