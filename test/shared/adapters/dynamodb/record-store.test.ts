import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe } from 'vitest';
import { findDynoxide } from '../../../../packages/local-aws/src/dynoxide.ts';
import { createDueIndex, createRecordStore } from '../../../../shared/adapters/dynamodb/record-store.ts';
import { defineRecordStoreContract } from '../../../contract/record-store.contract.ts';
import { clientFor, startDynamoDbLocal, startStore, type TestStore } from './stores.ts';
import { TABLE_NAME } from './table.ts';

/** What keeps Amazon's own from being run; undefined when it can be. */
function missingForDynamoDbLocal(path: string): string | undefined {
  if (path === '') return 'DYNAMODB_LOCAL_JAR does not name its DynamoDBLocal.jar';
  if (!existsSync(path)) return `there is no ${path}, which DYNAMODB_LOCAL_JAR names`;
  if (spawnSync('java', ['-version']).status !== 0) return 'there is no java';
  return undefined;
}

function defineFor(name: string, start: () => Promise<TestStore>, deviation = {}): void {
  let store: TestStore | undefined;
  let client: DynamoDBClient | undefined;
  beforeAll(async () => {
    store = await start();
    client = clientFor(store.endpoint);
  });
  afterAll(async () => {
    client?.destroy();
    await store?.stop();
  });
  const makeSubject = async () => {
    if (client === undefined) throw new Error('not started');
    const options = { client, tableName: TABLE_NAME };
    return { records: createRecordStore(options), dueIndex: createDueIndex(options) };
  };
  defineRecordStoreContract(name, makeSubject, deviation);
}

const jar = process.env['DYNAMODB_LOCAL_JAR'] ?? '';
const noDynoxide = findDynoxide() === undefined ? 'there is no binary for this machine' : undefined;
const noDynamoDbLocal = missingForDynamoDbLocal(jar);

/** With the reason in the suite's name where it is skipped, so that the run's report says it. */
const named = (name: string, missing: string | undefined): string =>
  missing === undefined ? name : `${name} (skipped: ${missing})`;

describe.skipIf(noDynoxide !== undefined)('Dynoxide', () => {
  defineFor(named('Dynoxide', noDynoxide), () => startStore('dynoxide'));
});

describe('dynalite', () => {
  defineFor('dynalite', () => startStore('dynalite'), { sizesInCharacters: true });
});

describe.skipIf(noDynamoDbLocal !== undefined)('DynamoDB Local', () => {
  defineFor(named('DynamoDB Local', noDynamoDbLocal), () => startDynamoDbLocal(jar));
});
