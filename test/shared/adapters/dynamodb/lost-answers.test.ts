/** Writes whose answers get lost on the way, against a real store behind a connection that breaks. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { buffer } from 'node:stream/consumers';
import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRecordStore } from '../../../../shared/adapters/dynamodb/record-store.ts';
import { createTableInput } from '../../../../shared/adapters/dynamodb/table.ts';
import type { NewRecord } from '../../../../shared/ports/record-store.ts';
import { clientFor } from './processes.ts';

const record: NewRecord = {
  owner: 'repair',
  id: 'node/u1',
  subject: { kind: 'Node', apiVersion: 'v1', name: 'n1' },
  state: { by: 'first' },
};

type Loses = (operation: string) => boolean;

async function portOf(server: { listen(port: number, host: string): unknown; address(): unknown }): Promise<number> {
  server.listen(0, '127.0.0.1');
  if (server instanceof Object && 'once' in server) await once(Object(server), 'listening');
  const address = server.address();
  if (typeof address === 'object' && address !== null && 'port' in address) return Number(address.port);
  throw new Error('no port');
}

/** A table, a client that sees every answer, and one that loses those that `loses` picks, after the store has done the work. */
async function makeTable(
  loses: Loses,
  maxAttempts = 3,
): Promise<{ direct: DynamoDBClient; lossy: DynamoDBClient; tableName: string }> {
  const dynalite = createRequire(import.meta.url)('dynalite')({ createTableMs: 0 });
  const target = await portOf(dynalite);
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const headers = { ...request.headers, host: `127.0.0.1:${target}` };
    const body = await buffer(request);
    const answer = await fetch(`http://127.0.0.1:${target}/`, {
      method: 'POST',
      headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
        typeof value === 'string' && !['connection', 'content-length', 'expect'].includes(name) ? [[name, value]] : [],
      ),
      body,
    });
    const text = await answer.text();
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    if (loses(operation)) response.destroy();
    else response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(text);
  };
  const proxy = createServer((request, response) => void forward(request, response));
  const clients = { direct: clientFor(target), lossy: clientFor(await portOf(proxy), maxAttempts) };
  onTestFinished(() => {
    clients.direct.destroy();
    clients.lossy.destroy();
    proxy.close();
    dynalite.close();
  });
  const tableName = 'records';
  await clients.direct.send(new CreateTableCommand(createTableInput(tableName)));
  return { ...clients, tableName };
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
    const { lossy, direct, tableName } = await makeTable(loseFirst('PutItem'));
    const outcome = await createRecordStore({ client: lossy, tableName }).put(record, 0);
    expect(outcome).toEqual({
      kind: 'written',
      record: await createRecordStore({ client: direct, tableName }).get(record),
    });
  });

  it('was written when nobody wrote in between: replacing', async () => {
    const { lossy, direct, tableName } = await makeTable(loseFirst('PutItem'));
    const created = await createRecordStore({ client: direct, tableName }).put(record, 0);
    if (created.kind !== 'written') throw new Error('not created');
    const next = { ...record, state: { by: 'second' } };
    const outcome = await createRecordStore({ client: lossy, tableName }).put(next, created.record.version);
    expect(outcome).toEqual({ kind: 'written', record: { ...next, version: created.record.version + 1 } });
  });

  it('lost the race when somebody else wrote first', async () => {
    const { lossy, direct, tableName } = await makeTable(loseFirst('PutItem'));
    const store = createRecordStore({ client: direct, tableName });
    const winner = await store.put({ ...record, state: { by: 'other' } }, 0);
    const outcome = await createRecordStore({ client: lossy, tableName }).put(record, 0);
    expect(outcome).toEqual({ kind: 'lostRace', current: winner.kind === 'written' && winner.record });
  });

  it('deletes once', async () => {
    const { lossy, direct, tableName } = await makeTable(loseFirst('DeleteItem'));
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
    const { lossy, tableName } = await makeTable(operation => operation === 'PutItem', 1);
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
    const { direct, tableName } = await makeTable(() => false);
    const tooLarge = { ...record, state: { text: 'x'.repeat(500_000) } };
    await expect(createRecordStore({ client: direct, tableName }).put(tooLarge, 0)).rejects.toMatchObject({
      name: 'TerminalError',
      reason: 'ValidationException',
    });
  });
});
