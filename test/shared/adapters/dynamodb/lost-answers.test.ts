/** Writes whose answers get lost on the way, against a real store behind a connection that breaks. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen, LOOPBACK } from '../../../../packages/local-aws/src/loopback.ts';
import { createRecordStore } from '../../../../shared/adapters/dynamodb/record-store.ts';
import type { NewRecord } from '../../../../shared/ports/record-store.ts';
import { clientFor, startStore } from './stores.ts';
import { TABLE_NAME as tableName } from './table.ts';

const record: NewRecord = {
  owner: 'repair',
  id: 'node/u1',
  subject: { kind: 'Node', apiVersion: 'v1', name: 'n1' },
  state: { by: 'first' },
};

type Loses = (operation: string) => boolean;

/** A table, a client that sees every answer, and one that loses those that `loses` picks, after the store has done the work. */
async function makeTable(loses: Loses, maxAttempts = 3): Promise<{ direct: DynamoDBClient; lossy: DynamoDBClient }> {
  const store = await startStore('dynalite');
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const operation = String(request.headers['x-amz-target']);
    const answer = await fetch(store.endpoint, {
      method: 'POST',
      headers: {
        'x-amz-target': operation,
        'content-type': String(request.headers['content-type']),
        authorization: String(request.headers.authorization),
        'x-amz-date': String(request.headers['x-amz-date']),
      },
      body: await buffer(request),
    });
    const text = await answer.text();
    if (loses(operation.split('.')[1] ?? '')) response.destroy();
    else response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(text);
  };
  const proxy = createServer((request, response) => void forward(request, response));
  const port = await listen(proxy);
  const direct = clientFor(store.endpoint);
  const lossy = clientFor(`http://${LOOPBACK}:${port}`, maxAttempts);
  onTestFinished(async () => {
    direct.destroy();
    lossy.destroy();
    proxy.close();
    await store.stop();
  });
  return { direct, lossy };
}

/** Loses the first answer to that operation. */
function loseFirst(operation: string): Loses {
  let lost = false;
  return current => {
    if (current !== operation || lost) return false;
    lost = true;
    return true;
  };
}

describe('a write whose answer was lost and that the client sent again', () => {
  it('was written when nobody wrote in between: creating', async () => {
    const { lossy, direct } = await makeTable(loseFirst('PutItem'));
    const outcome = await createRecordStore({ client: lossy, tableName }).put(record, 0);
    expect(outcome).toEqual({
      kind: 'written',
      record: await createRecordStore({ client: direct, tableName }).get(record),
    });
  });

  it('was written when nobody wrote in between: replacing', async () => {
    const { lossy, direct } = await makeTable(loseFirst('PutItem'));
    const created = await createRecordStore({ client: direct, tableName }).put(record, 0);
    if (created.kind !== 'written') throw new Error('not created');
    const next = { ...record, state: { by: 'second' } };
    const outcome = await createRecordStore({ client: lossy, tableName }).put(next, created.record.version);
    expect(outcome).toEqual({ kind: 'written', record: { ...next, version: created.record.version + 1 } });
  });

  it('lost the race when somebody else wrote first', async () => {
    const { lossy, direct } = await makeTable(loseFirst('PutItem'));
    const store = createRecordStore({ client: direct, tableName });
    const winner = await store.put({ ...record, state: { by: 'other' } }, 0);
    const outcome = await createRecordStore({ client: lossy, tableName }).put(record, 0);
    expect(outcome).toEqual({ kind: 'lostRace', current: winner.kind === 'written' && winner.record });
  });

  it('deletes once', async () => {
    const { lossy, direct } = await makeTable(loseFirst('DeleteItem'));
    const store = createRecordStore({ client: direct, tableName });
    const created = await store.put(record, 0);
    if (created.kind !== 'written') throw new Error('not created');
    const outcome = await createRecordStore({ client: lossy, tableName }).delete(record, created.record.version);
    expect(outcome).toEqual({ kind: 'deleted' });
    expect(await store.get(record)).toBeUndefined();
  });
});

describe('a store that cannot be reached', () => {
  it('I4: leaves the outcome of a write unknown', async () => {
    const { lossy } = await makeTable(operation => operation === 'PutItem', 1);
    await expect(createRecordStore({ client: lossy, tableName }).put(record, 0)).rejects.toMatchObject({
      name: 'RetryableError',
      outcomeUnknown: true,
      message: expect.stringContaining('writing record repair/node/u1'),
    });
  });

  it('is retryable when the table does not exist', async () => {
    const { direct } = await makeTable(() => false);
    await expect(createRecordStore({ client: direct, tableName: 'missing' }).get(record)).rejects.toMatchObject({
      name: 'RetryableError',
      reason: 'ResourceNotFoundException',
      outcomeUnknown: false,
    });
  });

  it('is terminal when the request is wrong', async () => {
    const { direct } = await makeTable(() => false);
    const tooLarge = { ...record, state: { text: 'x'.repeat(500_000) } };
    await expect(createRecordStore({ client: direct, tableName }).put(tooLarge, 0)).rejects.toMatchObject({
      name: 'TerminalError',
      reason: 'ValidationException',
    });
  });
});
