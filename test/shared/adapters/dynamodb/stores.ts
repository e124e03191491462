/** Every DynamoDB that a test can have, with the table in it and empty. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { endChild, startChild } from '../../../../packages/local-aws/src/child-processes.ts';
import { startDynamoDb } from '../../../../packages/local-aws/src/dynamodb.ts';
import { FAKE_CREDENTIALS } from '../../../../packages/local-aws/src/fake-credentials.ts';
import { findFreePort, LOOPBACK } from '../../../../packages/local-aws/src/loopback.ts';
import { createDynamoDbClient } from '../../../../shared/adapters/dynamodb/client.ts';
import { TABLE_INPUT } from './table.ts';

const REGION = 'us-west-2';

export interface TestStore {
  readonly endpoint: string;
  stop(): Promise<void>;
}

export async function startStore(implementation: 'dynoxide' | 'dynalite'): Promise<TestStore> {
  const dataDir = await mkdtemp(join(tmpdir(), 'curfew-store-'));
  const server = await startDynamoDb({ region: REGION, tables: [TABLE_INPUT], dataDir, implementation });
  return {
    endpoint: server.endpoint,
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true });
    },
  };
}

/** Amazon's own, in Java; its licence forbids to ship it. `jar` is `DynamoDBLocal.jar` beside its `DynamoDBLocal_lib`. */
export async function startDynamoDbLocal(jar: string): Promise<TestStore> {
  const folder = dirname(jar);
  const port = await findFreePort();
  const library = `-Djava.library.path=${join(folder, 'DynamoDBLocal_lib')}`;
  const options = ['-inMemory', '-disableTelemetry', '-port', String(port)];
  const child = startChild('java', [library, '-jar', jar, ...options], { cwd: folder, stdio: 'ignore' });
  const endpoint = `http://${LOOPBACK}:${port}`;
  // The retries of the client wait until it listens.
  const client = clientFor(endpoint, 30);
  await client.send(new CreateTableCommand(TABLE_INPUT));
  client.destroy();
  return { endpoint, stop: () => endChild(child) };
}

export function clientFor(endpoint: string, maxAttempts = 3): DynamoDBClient {
  return createDynamoDbClient({ endpoint, region: REGION, credentials: FAKE_CREDENTIALS, maxAttempts });
}
