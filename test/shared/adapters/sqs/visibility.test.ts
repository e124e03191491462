import type { SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { createMessageVisibility } from '../../../../shared/adapters/sqs/visibility.ts';
import { seconds, toDurationMs } from '../../../../shared/domain/time.ts';
import { fakeClient, serviceError } from '../fake-client.ts';

function make(answer: Parameters<typeof fakeClient>[0]) {
  const { client, sent } = fakeClient<SQSClient>(answer);
  return { visibility: createMessageVisibility({ client, queueUrl: 'https://sqs/repair' }), sent };
}

describe('MessageVisibility on SQS', () => {
  it.each([
    [5000, 5],
    [5001, 6],
    [0, 0],
  ])('hides a message for %d ms in whole seconds, rounded up', async (duration, VisibilityTimeout) => {
    const { visibility, sent } = make(() => ({}));
    await visibility.hideFor('handle', toDurationMs(duration));
    expect(sent.map(({ input }) => input)).toEqual([
      { QueueUrl: 'https://sqs/repair', ReceiptHandle: 'handle', VisibilityTimeout },
    ]);
  });

  it('is retryable when SQS does not answer', async () => {
    const { visibility } = make(() => serviceError('ServiceUnavailable', 'server'));
    await expect(visibility.hideFor('handle', seconds(5))).rejects.toMatchObject({ name: 'RetryableError' });
  });
});
