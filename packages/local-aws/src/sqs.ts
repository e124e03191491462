/**
 * SQS on one machine: fauxqs in this process, with the queues of the template. Its listener is bound to the loopback interface, and what it would let
 * pass although SQS does not is refused in front of it. Queue policies are asked by the
 * bus, before it sends (`iam/queue-policies.ts`).
 */
import { buildApp } from 'fauxqs';
import { z } from 'zod';
import { FAKE_CREDENTIALS } from './fake-credentials.ts';
import type { Access } from './iam/access.ts';
import { guardSqs } from './iam/sqs-guard.ts';
import { LOOPBACK } from './loopback.ts';
import type { QueueModel } from './model.ts';
import { keepSqsLimits } from './sqs-limits.ts';

const messageSchema = z.object({
  MessageId: z.string(),
  ReceiptHandle: z.string(),
  Body: z.string(),
  MD5OfBody: z.string(),
  Attributes: z.record(z.string(), z.string()).default({}),
  MessageAttributes: z
    .record(
      z.string(),
      z.object({ DataType: z.string(), StringValue: z.string().optional(), BinaryValue: z.string().optional() }),
    )
    .default({}),
});
export type ReceivedMessage = z.infer<typeof messageSchema>;
/** Made once: a schema is compiled at its first use. */
const receivedSchema = z.object({ Messages: z.array(messageSchema).default([]) });

const storedSchema = z.object({
  messageId: z.string(),
  body: z.string(),
  messageAttributes: z.record(z.string(), z.object({ StringValue: z.string().optional() })).default({}),
});
const contentsSchema = z.object({
  messages: z.object({
    ready: z.array(storedSchema),
    delayed: z.array(storedSchema),
    inflight: z.array(z.object({ message: storedSchema })),
  }),
});

export interface StoredMessage {
  readonly body: string;
  /** Message attributes of type String. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** What is in a queue, without receiving it. */
export interface QueueContents {
  readonly ready: readonly StoredMessage[];
  readonly delayed: readonly StoredMessage[];
  readonly inFlight: readonly StoredMessage[];
}

/** The calls that the local bus, scheduler and pollers make, by queue name; functions use the endpoint. All throw an Error with SQS's message. */
export interface LocalSqs {
  readonly endpoint: string;
  createQueues(queues: readonly QueueModel[]): Promise<void>;
  send(queueName: string, body: string, attributes?: Readonly<Record<string, string>>): Promise<void>;
  /** Up to `max` messages; waits for the first for as long as `waitSeconds`. */
  receive(queueName: string, options: { max: number; waitSeconds: number }): Promise<ReceivedMessage[]>;
  delete(queueName: string, receiptHandles: readonly string[]): Promise<void>;
  inspect(queueName: string): Promise<QueueContents>;
  /** Also ends waits of `receive`, which then answer nothing. */
  stop(): Promise<void>;
}

export interface SqsOptions {
  readonly region: string;
  readonly account: string;
  /** Who may do what, once that is known; without it everything is allowed. */
  readonly access?: () => Pick<Access, 'check'> | undefined;
}

/** How the calls of this process are signed. */
const AUTHORIZATION = `AWS4-HMAC-SHA256 Credential=${FAKE_CREDENTIALS.accessKeyId}/local`;

/** Nothing is kept over a restart. */
export async function startSqs({ region, account, access }: SqsOptions): Promise<LocalSqs> {
  const app = buildApp({ logger: false, defaultRegion: region });
  if (access !== undefined) guardSqs(app, { region, account, access });
  keepSqsLimits(app);
  const endpoint = await app.listen({ port: 0, host: LOOPBACK });

  let stopping = false;

  async function call(action: string, input: Readonly<Record<string, unknown>>): Promise<unknown> {
    const response = await app.inject({
      method: 'POST',
      url: '/',
      headers: {
        authorization: AUTHORIZATION,
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `AmazonSQS.${action}`,
      },
      payload: JSON.stringify(input),
    });
    if (response.statusCode !== 200) throw new Error(`SQS refuses ${action}: ${response.body}`);
    return response.body === '' ? {} : response.json();
  }

  const urlOf = (queueName: string) => `${endpoint}/${account}/${queueName}`;

  return {
    endpoint,
    async createQueues(queues) {
      // A queue that others redrive to must be there before them.
      const targetsFirst = queues.toSorted(
        (a, b) => Number('RedrivePolicy' in a.attributes) - Number('RedrivePolicy' in b.attributes),
      );
      for (const { name, attributes } of targetsFirst)
        await call('CreateQueue', { QueueName: name, Attributes: attributes });
    },
    async send(queueName, body, attributes = {}) {
      const MessageAttributes = Object.fromEntries(
        Object.entries(attributes).map(([name, StringValue]) => [name, { DataType: 'String', StringValue }]),
      );
      await call('SendMessage', { QueueUrl: urlOf(queueName), MessageBody: body, MessageAttributes });
    },
    async receive(queueName, { max, waitSeconds }) {
      if (stopping) return [];
      const answer = await call('ReceiveMessage', {
        QueueUrl: urlOf(queueName),
        MaxNumberOfMessages: max,
        WaitTimeSeconds: waitSeconds,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      });
      return receivedSchema.parse(answer).Messages;
    },
    async delete(queueName, receiptHandles) {
      const Entries = receiptHandles.map((ReceiptHandle, index) => ({ Id: String(index), ReceiptHandle }));
      if (Entries.length > 0) await call('DeleteMessageBatch', { QueueUrl: urlOf(queueName), Entries });
    },
    async inspect(queueName) {
      const response = await app.inject(`/_fauxqs/queues/${queueName}`);
      if (response.statusCode !== 200) throw new Error(`there is no queue ${queueName}`);
      const { ready, delayed, inflight } = contentsSchema.parse(response.json()).messages;
      return {
        ready: ready.map(toStored),
        delayed: delayed.map(toStored),
        inFlight: inflight.map(({ message }) => toStored(message)),
      };
    },
    async stop() {
      if (stopping) return;
      stopping = true;
      // A receive that was just begun takes the same way in before this call, so that closing finds it waiting and ends it.
      await call('ListQueues', {});
      await app.close();
    },
  };
}

function toStored({ body, messageAttributes }: z.infer<typeof storedSchema>): StoredMessage {
  const texts = Object.entries(messageAttributes).flatMap(([name, { StringValue }]) =>
    StringValue === undefined ? [] : [[name, StringValue]],
  );
  return { body, attributes: Object.fromEntries(texts) };
}
