/** Inboxes on any SQS, for the contract of `WakeUpSender`. */
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { createWakeUpSender } from '../../../../shared/adapters/sqs/wake-up-sender.ts';
import type { FunctionName } from '../../../../shared/contract/names.ts';
import type { WakeUpSenderSubject } from '../../../contract/wake-up-sender.contract.ts';

/** The bodies of all that is visible in a queue, which is empty then. */
export async function receiveAll(client: SQSClient, QueueUrl: string): Promise<readonly string[]> {
  const bodies: string[] = [];
  for (;;) {
    const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
    if (Messages.length === 0) return bodies;
    for (const { Body = '', ReceiptHandle } of Messages) {
      bodies.push(Body);
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
  }
}

/** Makes inboxes for `repair` and `drain` where there are none. */
export async function wakeUpSubject(client: SQSClient): Promise<WakeUpSenderSubject> {
  const urlOf = async (QueueName: string): Promise<string> =>
    (await client.send(new CreateQueueCommand({ QueueName }))).QueueUrl ?? '';
  const inboxUrls: Partial<Record<FunctionName, string>> = {
    repair: await urlOf('contract-repair'),
    drain: await urlOf('contract-drain'),
  };
  return {
    sender: createWakeUpSender({ client, inboxUrls }),
    received: owner => receiveAll(client, inboxUrls[owner] ?? ''),
    async delayed(owner) {
      const { Attributes } = await client.send(
        new GetQueueAttributesCommand({
          QueueUrl: inboxUrls[owner],
          AttributeNames: ['ApproximateNumberOfMessagesDelayed'],
        }),
      );
      return Number(Attributes?.['ApproximateNumberOfMessagesDelayed']);
    },
  };
}
