import { describe, expect, it } from 'vitest';
import type { InvokeOutcome } from '../src/execution-environment.ts';
import { startPoller } from '../src/poller.ts';
import type { ReceivedMessage } from '../src/sqs.ts';

const SOURCE = {
  queueName: 'inbox',
  functionName: 'worker',
  batchSize: 10,
  maxConcurrency: 2,
  reportsBatchItemFailures: true,
};

const message = (id: string): ReceivedMessage => ({
  MessageId: id,
  ReceiptHandle: `handle-${id}`,
  Body: `body-${id}`,
  MD5OfBody: 'md5',
  Attributes: { ApproximateReceiveCount: '1' },
  MessageAttributes: { reason: { DataType: 'String', StringValue: 'why' } },
});

const answered = (response: unknown): InvokeOutcome => ({ kind: 'answered', payload: JSON.stringify(response) });

/** Runs a poller over the batches that the queue gives, in order; then the queue is silent. */
async function poll(
  batches: ReceivedMessage[][],
  invoke: (payload: string) => Promise<InvokeOutcome>,
  reportsBatchItemFailures = true,
) {
  const deleted: string[] = [];
  const problems: Error[] = [];
  const silent = Promise.withResolvers<void>();
  const poller = startPoller({
    source: { ...SOURCE, reportsBatchItemFailures },
    region: 'us-east-1',
    account: '000000000000',
    sqs: {
      receive: () => {
        const batch = batches.shift();
        if (batch !== undefined) return Promise.resolve(batch);
        silent.resolve();
        return new Promise(() => {});
      },
      delete: async (_, handles) => void deleted.push(...handles),
    },
    invoke: (_, payload) => invoke(payload),
    onProblem: problem => problems.push(problem),
  });
  await silent.promise;
  await poller.stop();
  return { deleted, problems };
}

describe('SQS event source', () => {
  it('hands a batch over as Lambda does', async () => {
    let event: unknown;
    await poll([[message('1')]], async payload => {
      event = JSON.parse(payload);
      return answered(null);
    });
    expect(event).toEqual({
      Records: [
        {
          messageId: '1',
          receiptHandle: 'handle-1',
          body: 'body-1',
          attributes: { ApproximateReceiveCount: '1' },
          messageAttributes: { reason: { dataType: 'String', stringValue: 'why' } },
          md5OfBody: 'md5',
          eventSource: 'aws:sqs',
          eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:inbox',
          awsRegion: 'us-east-1',
        },
      ],
    });
  });

  it.each<[string, InvokeOutcome, string[]]>([
    ['everything after null', answered(null), ['handle-1', 'handle-2']],
    ['everything after an empty answer', answered({}), ['handle-1', 'handle-2']],
    ['everything after an empty list', answered({ batchItemFailures: [] }), ['handle-1', 'handle-2']],
    ['everything after a null list', answered({ batchItemFailures: null }), ['handle-1', 'handle-2']],
    ['what is not in the list', answered({ batchItemFailures: [{ itemIdentifier: '1' }] }), ['handle-2']],
    ['nothing after an empty identifier', answered({ batchItemFailures: [{ itemIdentifier: '' }] }), []],
    ['nothing after an unknown identifier', answered({ batchItemFailures: [{ itemIdentifier: '3' }] }), []],
    ['nothing after a wrong key', answered({ batchItemFailures: [{ id: '1' }] }), []],
    ['nothing after an answer that is no object', answered('done'), []],
    ['nothing after an error', { kind: 'failed', error: { errorType: 'Error', errorMessage: 'bug' } }, []],
    ['nothing after a time-out', { kind: 'timedOut' }, []],
    ['nothing after a crash', { kind: 'crashed', how: 'signal SIGKILL' }, []],
  ])('deletes %s', async (_, outcome, expected) => {
    const { deleted } = await poll([[message('1'), message('2')]], async () => outcome);
    expect(deleted).toEqual(expected);
  });

  it('says why a whole batch failed', async () => {
    const { problems } = await poll([[message('1')]], async () => ({ kind: 'crashed', how: 'signal SIGKILL' }));
    expect(problems.map(({ message: text }) => text)).toEqual([
      'a batch of inbox failed: the function ended: signal SIGKILL',
    ]);
  });

  it('deletes a whole batch on any answer when the source does not report failures', async () => {
    const failures = answered({ batchItemFailures: [{ itemIdentifier: '1' }] });
    const { deleted } = await poll([[message('1')]], async () => failures, false);
    expect(deleted).toEqual(['handle-1']);
  });

  it('has no more batches at work than the source allows', async () => {
    let atWork = 0;
    let most = 0;
    const batches = Array.from({ length: 6 }, (_, index) => [message(String(index))]);
    const { deleted } = await poll(batches, async () => {
      most = Math.max(most, (atWork += 1));
      await new Promise(resolve => setImmediate(resolve));
      atWork -= 1;
      return answered(null);
    });
    expect(most).toBe(SOURCE.maxConcurrency);
    expect(deleted).toHaveLength(6);
  });
});
