/** `MessageVisibility` on SQS. */
import { ChangeMessageVisibilityCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { MessageVisibility } from '../../ports/message-visibility.ts';
import { fromAwsError } from '../aws-errors.ts';

/** Whole seconds, rounded up. SQS takes at most 12 hours, counted from the first receive. */
export function createMessageVisibility(options: {
  client: Pick<SQSClient, 'send'>;
  queueUrl: string;
}): MessageVisibility {
  return {
    async hideFor(receiptHandle, duration) {
      const command = new ChangeMessageVisibilityCommand({
        QueueUrl: options.queueUrl,
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: Math.ceil(duration / 1000),
      });
      try {
        await options.client.send(command);
      } catch (error) {
        throw fromAwsError(error, { doing: 'changing the visibility of a message', write: true });
      }
    },
  };
}
