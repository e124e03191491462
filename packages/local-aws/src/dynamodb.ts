/**
 * DynamoDB on one machine: Dynoxide, a process of its own that can be killed and come back with its data, or dynalite in this process where there
 * is no Dynoxide binary for the platform. Tables are created as the template has them.
 */
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  type CreateTableCommandInput,
} from '@aws-sdk/client-dynamodb';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DynamoDbServer } from './dynamodb-server.ts';
import { startDynalite } from './dynalite.ts';
import { findDynoxide, startDynoxide } from './dynoxide.ts';
import { FAKE_CREDENTIALS } from './fake-credentials.ts';
import type { TableModel } from './model.ts';

const ACTIVE_WITHIN_MS = 10_000;
const POLL_PERIOD_MS = 10;

export interface DynamoDbOptions {
  readonly region: string;
  readonly tables: readonly TableModel[];
  /** Folder that keeps the data. */
  readonly dataDir: string;
  /** Default: Dynoxide where it is installed. */
  readonly implementation?: 'dynoxide' | 'dynalite';
  /** Hears when its process ended by itself, after which it is started again with its data. */
  readonly onProblem?: (message: string) => void;
}

/** Throws an Error with what the server said when it does not start. */
export async function startDynamoDb(options: DynamoDbOptions): Promise<DynamoDbServer> {
  const binary = options.implementation === 'dynalite' ? undefined : findDynoxide();
  if (options.implementation === 'dynoxide' && binary === undefined)
    throw new Error('there is no Dynoxide for this platform');
  const server =
    binary === undefined
      ? await startDynalite(options.dataDir)
      : await startDynoxide(binary, options.dataDir, options.onProblem);
  try {
    await createTables(server.endpoint, options);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

async function createTables(endpoint: string, { region, tables }: DynamoDbOptions): Promise<void> {
  // The user's own settings are about AWS: with FIPS, a client refuses a local endpoint.
  const own = { useFipsEndpoint: false, useDualstackEndpoint: false };
  const client = new DynamoDBClient({ endpoint, region, credentials: FAKE_CREDENTIALS, ...own });
  try {
    for (const table of tables) {
      await createTable(client, table);
      await untilActive(client, table.TableName);
    }
  } finally {
    client.destroy();
  }
}

/** A table that is there already, from an earlier run over the same data, is left as it is. */
async function createTable(client: DynamoDBClient, table: TableModel): Promise<void> {
  try {
    await client.send(new CreateTableCommand(toInput(table)));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
}

async function untilActive(client: DynamoDBClient, tableName: string): Promise<void> {
  for (let waited = 0; waited < ACTIVE_WITHIN_MS; waited += POLL_PERIOD_MS) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
    if (Table?.TableStatus === 'ACTIVE') return;
    await sleep(POLL_PERIOD_MS);
  }
  throw new Error(`table ${tableName} is not active after ${ACTIVE_WITHIN_MS / 1000} s`);
}

function toInput({
  TableName,
  AttributeDefinitions,
  KeySchema,
  GlobalSecondaryIndexes,
}: TableModel): CreateTableCommandInput {
  const indexes = GlobalSecondaryIndexes.map(({ IndexName, KeySchema: keys, Projection }) => ({
    IndexName,
    KeySchema: [...keys],
    Projection: {
      ProjectionType: Projection.ProjectionType ?? 'ALL',
      ...(Projection.NonKeyAttributes && { NonKeyAttributes: [...Projection.NonKeyAttributes] }),
    },
  }));
  return {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [...AttributeDefinitions],
    KeySchema: [...KeySchema],
    ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes }),
  };
}
