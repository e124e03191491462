import { existsSync } from 'node:fs';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe } from 'vitest';
import { findDynoxide } from '../../../../local/aws/dynoxide.ts';
import { createDueIndex, createRecordStore } from '../../../../shared/adapters/dynamodb/record-store.ts';
import { defineRecordStoreContract } from '../../../contract/record-store.contract.ts';
import { clientFor, startDynamoDbLocal, startStore, type TestStore } from './stores.ts';
import { TABLE_NAME } from './table.ts';

function defineFor(name: string, start: () => Promise<TestStore>): void {
  let store: TestStore | undefined;
  let client: DynamoDBClient | undefined;
  beforeAll(async () => {
    store = await start();
    client = clientFor(store.endpoint);
  }, 30_000);
  afterAll(async () => {
    client?.destroy();
    await store?.stop();
  });
  defineRecordStoreContract(name, () => {
    if (client === undefined) throw new Error('not started');
    const options = { client, tableName: TABLE_NAME };
    return Promise.resolve({ records: createRecordStore(options), dueIndex: createDueIndex(options) });
  });
}

describe.skipIf(findDynoxide() === undefined)('Dynoxide', () => {
  defineFor('Dynoxide', () => startStore('dynoxide'));
});

describe('dynalite', () => {
  defineFor('dynalite', () => startStore('dynalite'));
});

const jar = process.env['DYNAMODB_LOCAL_JAR'] ?? '';
describe.skipIf(!existsSync(jar))('DynamoDB Local', () => {
  defineFor('DynamoDB Local', () => startDynamoDbLocal(jar));
});
