import {
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { DynamoDbServer } from '../src/dynamodb-server.ts';
import { startDynamoDb } from '../src/dynamodb.ts';
import { findDynoxide } from '../src/dynoxide.ts';
import { FAKE_CREDENTIALS } from '../src/fake-credentials.ts';
import type { TableModel } from '../src/model.ts';

const TABLE: TableModel = {
  TableName: 'Records',
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'dueShard', AttributeType: 'S' },
    { AttributeName: 'nextWakeTime', AttributeType: 'N' },
  ],
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'due',
      KeySchema: [
        { AttributeName: 'dueShard', KeyType: 'HASH' },
        { AttributeName: 'nextWakeTime', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['subject'] },
    },
  ],
};
const ITEM = {
  pk: { S: 'repair/n1' },
  dueShard: { S: '3' },
  nextWakeTime: { N: '5' },
  subject: { S: 'n1' },
  state: { S: 'x' },
};

/** Where a request at work is met one time in three. */
const ROUNDS = 10;
const ADD_ONE = new UpdateItemCommand({
  TableName: 'Records',
  Key: { pk: ITEM.pk },
  UpdateExpression: 'ADD times :one',
  ExpressionAttributeValues: { ':one': { N: '1' } },
});

const opened: { close: () => Promise<void> | void }[] = [];
afterEach(async () => {
  for (const { close } of opened.splice(0).toReversed()) await close();
});

async function start(implementation: 'dynoxide' | 'dynalite', dataDir = makeDataDir()): Promise<DynamoDbServer> {
  const server = await startDynamoDb({ region: 'us-east-1', tables: [TABLE], dataDir, implementation });
  opened.push({ close: () => server.stop() });
  return server;
}

function makeDataDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'curfew-dynamodb-'));
  opened.push({ close: () => rmSync(dir, { recursive: true, force: true }) });
  return dir;
}

function clientOf({ endpoint }: DynamoDbServer): DynamoDBClient {
  const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials: FAKE_CREDENTIALS });
  opened.push({ close: () => client.destroy() });
  return client;
}

const implementations = [...(findDynoxide() === undefined ? [] : ['dynoxide' as const]), 'dynalite' as const];

describe.each(implementations)('%s', implementation => {
  it('has the tables and indexes of the template', async () => {
    const client = clientOf(await start(implementation));
    const { Table } = await client.send(new DescribeTableCommand({ TableName: 'Records' }));
    expect(Table?.TableStatus).toBe('ACTIVE');
    expect(Table?.GlobalSecondaryIndexes).toMatchObject([
      { IndexName: 'due', Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['subject'] } },
    ]);
  });

  it('answers queries of the index with the projected attributes only', async () => {
    const client = clientOf(await start(implementation));
    await client.send(new PutItemCommand({ TableName: 'Records', Item: ITEM }));
    const { Items } = await client.send(
      new QueryCommand({
        TableName: 'Records',
        IndexName: 'due',
        KeyConditionExpression: 'dueShard = :shard AND nextWakeTime <= :now',
        ExpressionAttributeValues: { ':shard': { S: '3' }, ':now': { N: '5' } },
      }),
    );
    const { state: _, ...projected } = ITEM;
    expect(Items).toEqual([projected]);
  });

  it('keeps its endpoint and what was acknowledged over a kill', async () => {
    const server = await start(implementation);
    const client = clientOf(server);
    await client.send(new PutItemCommand({ TableName: 'Records', Item: ITEM }));
    await server.kill();
    await server.start();
    const { Item } = await client.send(new GetItemCommand({ TableName: 'Records', Key: { pk: ITEM.pk } }));
    expect(Item).toEqual(ITEM);
  });

  // What a closed database answers dynalite throws where nobody can catch it: on a machine without Dynoxide a run that went well ended with 1.
  // What a closed database answers dynalite throws where nobody can catch it: without Dynoxide a run that had gone well ended with 1.
  it('is stopped in the middle of requests, and harms nobody', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const server = await start(implementation);
      const client = clientOf(server);
      const updates = Array.from({ length: 40 }, () => client.send(ADD_ONE).catch(() => undefined));
      await Promise.race(updates);
      await server.stop();
      client.destroy();
      await Promise.all(updates);
      await server.start();
      const { Item } = await clientOf(server).send(new GetItemCommand({ TableName: 'Records', Key: { pk: ITEM.pk } }));
      expect(Number(Item?.['times']?.N)).toBeGreaterThanOrEqual(1);
    }
  });

  it('outlives a client that goes in the middle of a request', async () => {
    const server = await start(implementation);
    const socket = connect(Number(new URL(server.endpoint).port), '127.0.0.1');
    const head = `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\nexpect: 100-continue\r\n\r\n`;
    socket.write(head);
    // The server has the head: it asks for the rest.
    await once(socket, 'data');
    socket.write('{');
    socket.destroy();
    const { Table } = await clientOf(server).send(new DescribeTableCommand({ TableName: 'Records' }));
    expect(Table?.TableStatus).toBe('ACTIVE');
  });

  it('finds its data again in a later run', async () => {
    const dataDir = makeDataDir();
    const first = await start(implementation, dataDir);
    await clientOf(first).send(new PutItemCommand({ TableName: 'Records', Item: ITEM }));
    await first.stop();
    const second = clientOf(await start(implementation, dataDir));
    const { Item } = await second.send(new GetItemCommand({ TableName: 'Records', Key: { pk: ITEM.pk } }));
    expect(Item).toEqual(ITEM);
  });
});

it.runIf(findDynoxide() !== undefined)('says what the server said when it does not start', async () => {
  await expect(start('dynoxide', '/nonexistent')).rejects.toThrow(/Dynoxide ended: .+/);
});

/** By its port on the command line; the process is one that this test started. */
function pidOf({ endpoint }: DynamoDbServer): number {
  const { port } = new URL(endpoint);
  const pid = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .find(each => {
      try {
        return readFileSync(`/proc/${each}/cmdline`, 'utf8').includes(`--port\0${port}\0`);
      } catch {
        return false;
      }
    });
  if (pid === undefined) throw new Error(`no process serves ${endpoint}`);
  return Number(pid);
}

describe.skipIf(findDynoxide() === undefined || process.platform !== 'linux')('Dynoxide that dies by itself', () => {
  it('is said, and started again on the same endpoint with its data', async () => {
    const problems: string[] = [];
    const server = await startDynamoDb({
      region: 'us-east-1',
      tables: [TABLE],
      dataDir: makeDataDir(),
      implementation: 'dynoxide',
      onProblem: message => problems.push(message),
    });
    opened.push({ close: () => server.stop() });
    const client = new DynamoDBClient({
      endpoint: server.endpoint,
      region: 'us-east-1',
      credentials: FAKE_CREDENTIALS,
    });
    opened.push({ close: () => client.destroy() });
    await client.send(new PutItemCommand({ TableName: 'Records', Item: ITEM }));
    process.kill(pidOf(server), 'SIGKILL');
    await vi.waitFor(() =>
      expect(problems).toEqual(['DynamoDB ended with SIGKILL; it is started again with its data']),
    );
    await vi.waitFor(
      async () => {
        const { Item } = await client.send(new GetItemCommand({ TableName: 'Records', Key: { pk: ITEM.pk } }));
        expect(Item).toEqual(ITEM);
      },
      { timeout: 20_000, interval: 100 },
    );
  });
});
