/** The adapters on SQS, with one client for all. */
import { SQSClient } from '@aws-sdk/client-sqs';
import type { DeadLetters } from '../../ports/dead-letters.ts';
import type { WakeUpSender } from '../../ports/inbox.ts';
import type { MessageVisibility } from '../../ports/message-visibility.ts';
import { CLIENT_DEFAULTS } from '../aws-errors.ts';
import { endingCalls, type EndOfCalls } from '../end-of-calls.ts';
import { createDeadLetters } from './dead-letters.ts';
import { createMessageVisibility } from './visibility.ts';
import { createWakeUpSender, type WakeUpSenderOptions } from './wake-up-sender.ts';

export interface QueueUrls {
  readonly inbox: string;
  readonly deadLetters: string;
  /** The inboxes that wake-ups are sent to, by function. */
  readonly wakeUps: WakeUpSenderOptions['inboxUrls'];
}

export interface Queues {
  readonly visibility: MessageVisibility;
  readonly deadLetters: DeadLetters;
  readonly wakeUps: WakeUpSender;
}

/** The SDK would call the host of a queue's URL, past the FIPS or dual-stack endpoint that the environment asks for. */
export const QUEUE_URL_IS_A_NAME = { useQueueUrlAsEndpoint: false } as const;

/** Makes no call. */
export function connectQueues(urls: QueueUrls, endOfCalls?: EndOfCalls): Queues {
  const client = endingCalls(new SQSClient({ ...CLIENT_DEFAULTS, ...QUEUE_URL_IS_A_NAME }), endOfCalls);
  return {
    visibility: createMessageVisibility({ client, queueUrl: urls.inbox }),
    deadLetters: createDeadLetters({ client, queueUrl: urls.deadLetters }),
    wakeUps: createWakeUpSender({ client, inboxUrls: urls.wakeUps }),
  };
}
