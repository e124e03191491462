/**
 * Lambda's SQS event source on one machine: receives batches, invokes, deletes what succeeded. What failed stays in the queue, hidden until its
 * visibility timeout ends, as in production.
 */
import { z } from 'zod';
import type { InvokeOutcome } from './execution-environment.ts';
import type { EventSourceModel } from './model.ts';
import type { LocalSqs, ReceivedMessage } from './sqs.ts';

/** The longest that SQS waits for a first message. */
const WAIT_SECONDS = 20;

export interface PollerOptions {
  readonly source: EventSourceModel;
  readonly region: string;
  readonly account: string;
  readonly sqs: Pick<LocalSqs, 'receive' | 'delete'>;
  readonly invoke: (physicalName: string, payload: string) => Promise<InvokeOutcome>;
  /** A batch failed as a whole, or SQS refused a call; the messages come again. */
  readonly onProblem: (problem: Error) => void;
}

export interface Poller {
  /** Takes no more messages; resolves when the batches at work are done. */
  stop(): Promise<void>;
}

/** Polls at once, and until `stop`. */
export function startPoller(options: PollerOptions): Poller {
  const { source, sqs, onProblem } = options;
  const atWork = new Set<Promise<void>>();
  const stopping = new AbortController();

  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (atWork.size >= source.maxConcurrency) {
        await Promise.race(atWork);
        continue;
      }
      const received = sqs.receive(source.queueName, { max: source.batchSize, waitSeconds: WAIT_SECONDS });
      const messages = await unlessAborted(received, stopping.signal, []);
      if (messages.length === 0) continue;
      const batch = handleBatch(messages, options).catch((error: unknown) => onProblem(toError(error, source)));
      atWork.add(batch);
      void batch.then(() => atWork.delete(batch));
    }
  }

  const polling = poll().catch((error: unknown) => onProblem(toError(error, source)));
  return {
    async stop() {
      stopping.abort();
      await polling;
      await Promise.all(atWork);
    },
  };
}

/** The promise's outcome, or `fallback` as soon as the signal is aborted. */
function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal, fallback: Value): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = () => resolve(fallback);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

async function handleBatch(messages: readonly ReceivedMessage[], options: PollerOptions): Promise<void> {
  const { source, sqs, invoke, onProblem } = options;
  const payload = JSON.stringify({ Records: messages.map(message => toRecord(message, options)) });
  const outcome = await invoke(source.functionName, payload);
  const failed = failedIds(messages, outcome, source.reportsBatchItemFailures);
  if (outcome.kind !== 'answered') onProblem(new Error(`a batch of ${source.queueName} failed: ${describe(outcome)}`));
  const done = messages.filter(({ MessageId }) => !failed.has(MessageId));
  await sqs.delete(
    source.queueName,
    done.map(({ ReceiptHandle }) => ReceiptHandle),
  );
}

const responseSchema = z
  .object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string().min(1) })).nullish() })
  .nullish();

/**
 * Lambda's rules: no answer, an error, an answer that is not valid or that names an unknown message fails the batch; an empty one fails nothing.
 */
function failedIds(
  messages: readonly ReceivedMessage[],
  outcome: InvokeOutcome,
  reportsFailures: boolean,
): ReadonlySet<string> {
  const all = new Set(messages.map(({ MessageId }) => MessageId));
  if (outcome.kind !== 'answered') return all;
  if (!reportsFailures) return new Set();
  const response = responseSchema.safeParse(parseJson(outcome.payload));
  if (!response.success) return all;
  const failed = new Set((response.data?.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier));
  return [...failed].every(id => all.has(id)) ? failed : all;
}

function toRecord(message: ReceivedMessage, { source, region, account }: PollerOptions) {
  const { MessageId, ReceiptHandle, Body, Attributes, MessageAttributes, MD5OfBody } = message;
  const messageAttributes = Object.entries(MessageAttributes).map(([name, { DataType, StringValue, BinaryValue }]) => [
    name,
    { dataType: DataType, stringValue: StringValue, binaryValue: BinaryValue },
  ]);
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: Attributes,
    messageAttributes: Object.fromEntries(messageAttributes),
    md5OfBody: MD5OfBody,
    eventSource: 'aws:sqs',
    eventSourceARN: `arn:aws:sqs:${region}:${account}:${source.queueName}`,
    awsRegion: region,
  };
}

function describe(outcome: Exclude<InvokeOutcome, { kind: 'answered' }>): string {
  switch (outcome.kind) {
    case 'failed':
      return `${outcome.error.errorType}: ${outcome.error.errorMessage}`;
    case 'timedOut':
      return 'the function ran out of time';
    case 'crashed':
      return `the function ended: ${outcome.how}`;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function toError(error: unknown, { queueName }: EventSourceModel): Error {
  return new Error(`polling ${queueName}`, { cause: error });
}
