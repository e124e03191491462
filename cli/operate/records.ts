/** The records of a deployment. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createRecordStore } from '../../shared/adapters/dynamodb/record-store.ts';
import type { RecordStore } from '../../shared/ports/record-store.ts';
import { orUsageError, readRecordsTable } from './deployment.ts';

/** Reads the table of that functions stack. Throws `UsageError` when stack or table cannot be read. */
export async function readRecordsOf(
  stack: string,
  options: { readonly region?: string },
): Promise<Pick<RecordStore, 'get'>> {
  const tableName = await readRecordsTable(stack, options);
  const records = createRecordStore({ client: new DynamoDBClient(options), tableName });
  return { get: key => orUsageError(`reading the table ${tableName}`, () => records.get(key)) };
}
