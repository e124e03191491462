import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { once } from 'node:events';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { CLIENT_DEFAULTS, fromAwsError } from '../../../shared/adapters/aws-errors.ts';
import { createDynamoDbClient } from '../../../shared/adapters/dynamodb/client.ts';
import { endingCalls } from '../../../shared/adapters/end-of-calls.ts';
import { serve } from './kubernetes/scripted-server.ts';

const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

async function errorOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return { resolved: await call };
  } catch (error) {
    return fromAwsError(error, { doing: 'testing', write: true });
  }
}

const get = new GetItemCommand({ TableName: 't', Key: { pk: { S: 'a' } } });
const OUT_OF_TIME = { name: 'RetryableError', reason: 'DeadlineReserve', outcomeUnknown: true };

describe('calls of AWS clients', () => {
  afterEach(() => vi.useRealTimers());

  it('are cut when the run has no more time, with an outcome that is not known', async () => {
    const end = new AbortController();
    const { url: endpoint, server } = await serve(() => end.abort());
    const client = createDynamoDbClient({ endpoint, region: 'eu-west-1', credentials }, () => end.signal);
    onTestFinished(() => client.destroy());
    const socketClosed = once(server, 'connection').then(([socket]) => once(socket, 'close'));
    expect(await errorOf(client.send(get))).toMatchObject(OUT_OF_TIME);
    await socketClosed;
  });

  it('are cut while an answer stops in the middle', async () => {
    const end = new AbortController();
    const { url: endpoint } = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{');
      end.abort();
    });
    const client = createDynamoDbClient({ endpoint, region: 'eu-west-1', credentials }, () => end.signal);
    onTestFinished(() => client.destroy());
    expect(await errorOf(client.send(get))).toMatchObject(OUT_OF_TIME);
  });

  it('are cut while the SDK waits for its next try, which is never sent', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const end = new AbortController();
    const { url: endpoint, requests } = await serve((_, response) =>
      response.writeHead(503, { 'x-amz-retry-after': '5000', 'content-type': 'application/json' }).end('{}'),
    );
    // Nothing but the SDK's wait: the limits of a request that was answered are lifted.
    const answered = (): boolean => requests.length === 1 && vi.getTimerCount() === 1;
    const made = new EventBridgeClient({ ...CLIENT_DEFAULTS, endpoint, region: 'eu-west-1', credentials });
    const client = endingCalls(made, () => end.signal);
    onTestFinished(() => client.destroy());
    const call = errorOf(client.send(new PutEventsCommand({ Entries: [{ Detail: '{}' }] })));
    while (!answered()) await new Promise(resolve => setImmediate(resolve));
    end.abort();
    expect(await call).toMatchObject(OUT_OF_TIME);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(requests).toHaveLength(1);
  });

  it('are not begun when there was none', async () => {
    const { url: endpoint, requests } = await serve((_, response) => response.end('{}'));
    const ended = AbortSignal.abort();
    const client = createDynamoDbClient({ endpoint, region: 'eu-west-1', credentials }, () => ended);
    onTestFinished(() => client.destroy());
    expect(await errorOf(client.send(get))).toMatchObject({ reason: 'DeadlineReserve' });
    expect(requests).toEqual([]);
  });

  it('are as before outside of a run, and go on while there is time', async () => {
    const { url: endpoint } = await serve((_, response) => response.end('{}'));
    for (const end of [undefined, new AbortController().signal]) {
      const client = createDynamoDbClient({ endpoint, region: 'eu-west-1', credentials }, () => end);
      onTestFinished(() => client.destroy());
      for (let call = 0; call < 15; call += 1)
        expect(await client.send(get)).toMatchObject({ $metadata: { attempts: 1 } });
    }
  });
});
