/**
 * Moves messages from a dead-letter queue back to the inbox. SQS's own redrive refuses those that a function or EventBridge has sent
 * there, since it knows no source queue of them.
 */
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type Message,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { messageGroupOfBody } from '../../shared/contract/message-group.ts';
import { orUsageError } from './deployment.ts';

export interface RedriveOptions {
  readonly client: Pick<SQSClient, 'send'>;
  readonly from: string;
  readonly to: string;
  /** Only messages with this reason. */
  readonly reason?: string;
  /** Most messages to move. */
  readonly limit?: number;
  /** Moves nothing. */
  readonly dryRun?: boolean;
  readonly onMessage: (message: ParkedMessage) => void;
}

export interface ParkedMessage {
  readonly id: string;
  /**
   * The reason why it is there: `reason` of a function, `ERROR_CODE` of EventBridge, or `TooManyReceives` when the
   * inbox gave it up.
   */
  readonly reason: string;
  readonly body: string;
}

export interface RedriveResult {
  /** Moved, or to be moved in a dry run. */
  readonly moved: number;
  /** Seen and left where they are. */
  readonly left: number;
}

/** Nobody else sees a message while it is looked at; longer than a run over a full queue needs. */
const HIDDEN_SECONDS = 300;
const BATCH = 10;
/** SQS asks a sample of its servers: only several empty answers mean that nothing more is visible. */
const EMPTY_ANSWERS = 2;

/** Receives, sends, deletes, in that order: a run that dies in between leaves a message twice, never nowhere. Throws `UsageError`. */
export async function redrive(options: RedriveOptions): Promise<RedriveResult> {
  const { client, from, to, reason, limit = Infinity, dryRun = false, onMessage } = options;
  const seen = new Set<string>();
  /** Received, and not moved. */
  const hidden = new Map<string, Message>();
  let moved = 0;
  let empty = 0;
  try {
    while (moved < limit && empty < EMPTY_ANSWERS) {
      const found = (await receive(client, from)).filter(({ MessageId = '' }) => !seen.has(MessageId));
      empty = found.length === 0 ? empty + 1 : 0;
      for (const message of found) hidden.set(message.MessageId ?? '', message);
      for (const message of found) {
        const parked = toParked(message);
        seen.add(parked.id);
        if (moved >= limit || (reason !== undefined && parked.reason !== reason)) continue;
        if (!dryRun) {
          await move(client, message, from, to);
          hidden.delete(parked.id);
        }
        moved += 1;
        onMessage(parked);
      }
    }
  } finally {
    for (const message of hidden.values()) await show(client, message, from);
  }
  return { moved, left: seen.size - moved };
}

async function receive(client: RedriveOptions['client'], QueueUrl: string): Promise<readonly Message[]> {
  const command = new ReceiveMessageCommand({
    QueueUrl,
    MaxNumberOfMessages: BATCH,
    VisibilityTimeout: HIDDEN_SECONDS,
    WaitTimeSeconds: 1,
    MessageAttributeNames: ['All'],
  });
  return (await orUsageError(`receiving from ${QueueUrl}`, () => client.send(command))).Messages ?? [];
}

async function move(client: RedriveOptions['client'], message: Message, from: string, to: string): Promise<void> {
  await orUsageError(`sending ${message.MessageId} to ${to}; it stays where it was`, () =>
    client.send(
      new SendMessageCommand({
        QueueUrl: to,
        MessageBody: message.Body,
        MessageGroupId: messageGroupOfBody(message.Body ?? ''),
      }),
    ),
  );
  await orUsageError(`deleting ${message.MessageId} from ${from}; it is in both queues, which is harmless`, () =>
    client.send(new DeleteMessageCommand({ QueueUrl: from, ReceiptHandle: message.ReceiptHandle })),
  );
}

/** Makes a message that stays visible at once, to a person and to the next run. */
async function show(client: RedriveOptions['client'], { ReceiptHandle }: Message, QueueUrl: string): Promise<void> {
  // When it fails, the message is visible again after HIDDEN_SECONDS.
  await client
    .send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }))
    .catch(() => undefined);
}

function toParked({ MessageId = '', MessageAttributes = {}, Body = '' }: Message): ParkedMessage {
  const text = (name: string): string | undefined => MessageAttributes[name]?.StringValue;
  return { id: MessageId, reason: text('reason') ?? text('ERROR_CODE') ?? 'TooManyReceives', body: Body };
}
