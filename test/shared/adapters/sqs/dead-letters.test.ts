import type { SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { createDeadLetters } from '../../../../shared/adapters/sqs/dead-letters.ts';
import { fakeClient, serviceError } from '../fake-client.ts';

const message = { function: 'repair', body: '{"a":1}', reason: 'InvalidMessage', explanation: 'no source' } as const;

function make(answer: Parameters<typeof fakeClient>[0] = () => ({})) {
  const { client, sent } = fakeClient<SQSClient>(answer);
  return { deadLetters: createDeadLetters({ client, queueUrl: 'https://sqs/dlq' }), sent };
}

describe('DeadLetters on SQS', () => {
  it('I9: parks the message as it came, with the reason as attributes', async () => {
    const { deadLetters, sent } = make();
    await deadLetters.park(message);
    expect(sent.map(({ input }) => input)).toEqual([
      {
        QueueUrl: 'https://sqs/dlq',
        MessageBody: '{"a":1}',
        MessageGroupId: 'other',
        MessageAttributes: {
          function: { DataType: 'String', StringValue: 'repair' },
          reason: { DataType: 'String', StringValue: 'InvalidMessage' },
          explanation: { DataType: 'String', StringValue: 'no source' },
        },
      },
    ]);
  });

  it('parks whatever came: long explanations are cut, text that SQS refuses is replaced', async () => {
    const { deadLetters, sent } = make();
    await deadLetters.park({ ...message, body: 'a\u0000b\ud800c\n', explanation: 'x'.repeat(5000) });
    await deadLetters.park({ ...message, body: '', explanation: '' });
    expect(sent[0]?.input).toMatchObject({
      MessageBody: 'a\ufffdb\ufffdc\n',
      MessageAttributes: { explanation: { StringValue: `${'x'.repeat(999)}…` } },
    });
    expect(sent[1]?.input).toMatchObject({
      MessageBody: '(empty)',
      MessageAttributes: { explanation: { StringValue: '(empty)' } },
    });
  });

  // SQS counts attributes towards the size of a message, and a body that it delivered may need all of that.
  it('I9: parks a body that leaves no room for its reason, with what there is room for', async () => {
    const parkWithin = async (room: number) => {
      const size = (attributes: object): number => JSON.stringify(attributes).length;
      const { deadLetters, sent } = make(({ input }) => {
        const { MessageAttributes = {} } = input as { MessageAttributes?: object };
        return size(MessageAttributes) <= room ? {} : serviceError('InvalidParameterValue', 'client');
      });
      await deadLetters.park({ ...message, explanation: 'x'.repeat(500) });
      return sent.at(-1)?.input;
    };
    expect(await parkWithin(400)).toEqual({
      QueueUrl: 'https://sqs/dlq',
      MessageBody: '{"a":1}',
      MessageGroupId: 'other',
      MessageAttributes: {
        function: { DataType: 'String', StringValue: 'repair' },
        reason: { DataType: 'String', StringValue: 'InvalidMessage' },
      },
    });
    expect(await parkWithin(2)).toEqual({
      QueueUrl: 'https://sqs/dlq',
      MessageBody: '{"a":1}',
      MessageGroupId: 'other',
    });
  });

  it('says why when SQS refuses the body itself', async () => {
    const { deadLetters, sent } = make(() => serviceError('InvalidParameterValue', 'client'));
    await expect(deadLetters.park(message)).rejects.toMatchObject({ reason: 'InvalidParameterValue' });
    expect(sent).toHaveLength(3);
  });

  it('asks no second time while the DLQ takes nothing', async () => {
    const { deadLetters, sent } = make(() => serviceError('AccessDenied', 'client'));
    await expect(deadLetters.park(message)).rejects.toMatchObject({ name: 'RetryableError' });
    expect(sent).toHaveLength(1);
  });

  it('is retryable when the DLQ does not take it: the message stays in its inbox', async () => {
    const { deadLetters } = make(() => serviceError('ServiceUnavailable', 'server'));
    await expect(deadLetters.park(message)).rejects.toMatchObject({ name: 'RetryableError' });
  });
});
