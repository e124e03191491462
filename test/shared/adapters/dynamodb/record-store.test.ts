import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe } from 'vitest';
import { createDueIndex, createRecordStore } from '../../../../shared/adapters/dynamodb/record-store.ts';
import { createTableInput } from '../../../../shared/adapters/dynamodb/table.ts';
import { defineRecordStoreContract } from '../../../contract/record-store.contract.ts';
import { clientFor, dynoxidePath, startDynamoDbLocal, startDynoxide, type DynamoProcess } from './processes.ts';

const tableName = 'curfew-records';

function defineFor(name: string, start: () => Promise<DynamoProcess>): void {
  let dynamo: DynamoProcess | undefined;
  beforeAll(async () => {
    dynamo = await start();
    await createTable(dynamo.client);
  }, 30_000);
  afterAll(() => dynamo?.stop());
  defineRecordStoreContract(name, () => {
    if (dynamo === undefined) throw new Error('not started');
    const options = { client: dynamo.client, tableName };
    return Promise.resolve({ records: createRecordStore(options), dueIndex: createDueIndex(options) });
  });
}

async function createTable(client: DynamoDBClient): Promise<void> {
  await client.send(new CreateTableCommand(createTableInput(tableName)));
}

async function startDynalite(): Promise<DynamoProcess> {
  const dynalite = createRequire(import.meta.url)('dynalite');
  const server = dynalite({ createTableMs: 0 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = clientFor(server.address().port);
  return {
    client,
    async stop() {
      client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const dynoxide = dynoxidePath();
describe.skipIf(dynoxide === undefined)('Dynoxide', () => {
  defineFor('Dynoxide', () => startDynoxide(dynoxide ?? ''));
});

describe('dynalite', () => {
  defineFor('dynalite', startDynalite);
});

const jar = process.env['DYNAMODB_LOCAL_JAR'] ?? '';
describe.skipIf(!existsSync(jar))('DynamoDB Local', () => {
  defineFor('DynamoDB Local', () => startDynamoDbLocal(jar));
});
