import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FAKE_CREDENTIALS } from '../src/fake-credentials.ts';
import type { QueueModel } from '../src/model.ts';
import { startSqs, type LocalSqs } from '../src/sqs.ts';

const ACCOUNT = '000000000000';

function queue(name: string, attributes: Record<string, string> = {}): QueueModel {
  return { name, arn: `arn:aws:sqs:us-east-1:${ACCOUNT}:${name}`, url: `unused`, attributes };
}

describe('local SQS', () => {
  let sqs: LocalSqs;
  let client: SQSClient;
  const url = (name: string) => `${sqs.endpoint}/${ACCOUNT}/${name}`;

  beforeEach(async () => {
    sqs = await startSqs({ region: 'us-east-1', account: ACCOUNT });
    const redrive = JSON.stringify({ deadLetterTargetArn: queue('dead').arn, maxReceiveCount: 1 });
    // The redriving queue comes first, as it may in a template.
    await sqs.createQueues([queue('inbox', { RedrivePolicy: redrive, VisibilityTimeout: '0' }), queue('dead')]);
    client = new SQSClient({ endpoint: sqs.endpoint, region: 'us-east-1', credentials: FAKE_CREDENTIALS });
  });
  afterEach(async () => {
    client.destroy();
    await sqs.stop();
  });

  it('listens on the loopback interface only', () => {
    expect(sqs.endpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('hands on what the SDK sends to the URL of the template, attributes included', async () => {
    await client.send(
      new SendMessageCommand({
        QueueUrl: url('inbox'),
        MessageBody: 'hello',
        MessageAttributes: { reason: { DataType: 'String', StringValue: 'InvalidMessage' } },
      }),
    );
    const [message] = await sqs.receive('inbox', { max: 10, waitSeconds: 0 });
    expect(message).toMatchObject({ Body: 'hello', Attributes: { ApproximateReceiveCount: '1' } });
    expect(message?.MessageAttributes).toMatchObject({ reason: { StringValue: 'InvalidMessage' } });
  });

  it('wakes a waiting receiver as soon as there is something', async () => {
    const received = sqs.receive('inbox', { max: 10, waitSeconds: 20 });
    await sqs.send('inbox', 'hello');
    expect(await received).toHaveLength(1);
  });

  it('moves what is received too often to the dead letters', async () => {
    await sqs.send('inbox', 'poison');
    await sqs.receive('inbox', { max: 1, waitSeconds: 0 });
    expect(await sqs.receive('inbox', { max: 1, waitSeconds: 0 })).toEqual([]);
    expect((await sqs.inspect('dead')).ready).toEqual([{ body: 'poison', attributes: {} }]);
  });

  it('forgets what is deleted', async () => {
    await sqs.send('inbox', 'done');
    const messages = await sqs.receive('inbox', { max: 1, waitSeconds: 0 });
    await sqs.delete(
      'inbox',
      messages.map(({ ReceiptHandle }) => ReceiptHandle),
    );
    expect(await sqs.inspect('inbox')).toEqual({ ready: [], delayed: [], inFlight: [] });
  });

  it('delays by up to 15 minutes', async () => {
    await client.send(new SendMessageCommand({ QueueUrl: url('inbox'), MessageBody: 'later', DelaySeconds: 900 }));
    expect((await sqs.inspect('inbox')).delayed).toEqual([{ body: 'later', attributes: {} }]);
  });

  it('refuses a longer delay, as SQS does', async () => {
    const tooLong = client.send(
      new SendMessageCommand({ QueueUrl: url('inbox'), MessageBody: 'x', DelaySeconds: 901 }),
    );
    await expect(tooLong).rejects.toMatchObject({ name: 'InvalidParameterValue', $fault: 'client' });
  });

  it('refuses a longer delay in a batch', async () => {
    const batch = new SendMessageBatchCommand({
      QueueUrl: url('inbox'),
      Entries: [
        { Id: '0', MessageBody: 'a', DelaySeconds: 1 },
        { Id: '1', MessageBody: 'b', DelaySeconds: 901 },
      ],
    });
    await expect(client.send(batch)).rejects.toThrow('must be >= 0 and <= 900');
  });

  it.each(['', 'a group', 'ä', 'x'.repeat(129)])('refuses the message group %j, as SQS does', async MessageGroupId => {
    const send = client.send(new SendMessageCommand({ QueueUrl: url('inbox'), MessageBody: 'x', MessageGroupId }));
    await expect(send).rejects.toMatchObject({ name: 'InvalidParameterValue', $fault: 'client' });
  });

  it('ends waiting receivers when it stops', async () => {
    const received = sqs.receive('inbox', { max: 10, waitSeconds: 20 });
    await sqs.stop();
    expect(await received).toEqual([]);
  });

  it('says so when a queue is not there', async () => {
    await expect(sqs.send('missing', 'x')).rejects.toThrow(/SQS refuses SendMessage: .*does not exist/);
    await expect(sqs.inspect('missing')).rejects.toThrow('there is no queue missing');
  });
});
