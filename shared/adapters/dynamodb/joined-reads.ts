/**
 * Items that are asked for at the same time, read in one call: the messages of a batch begin together, and each begins with its record.
 * A call that is refused, or answers for some of them only, says nothing about the others: these are read one by one.
 */
import { BatchGetItemCommand, GetItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import DataLoader from 'dataloader';
import { TABLE } from '../../contract/table.ts';
import { RetryableError } from '../../errors.ts';
import { fromAwsError } from '../aws-errors.ts';
import type { Attributes } from './attributes.ts';
import { batchGetRequest, getRequest } from './requests.ts';

/** DynamoDB's limit on the keys of one `BatchGetItem`. */
const MAX_KEYS = 100;

/** Reads the item of a partition key, consistently; undefined where there is none. Rejects as `fromAwsError` says. */
export type ReadItem = (partitionKey: string) => Promise<Attributes | undefined>;

/** Nothing is kept: what is asked for after the call has left is read again. */
export function createItemReader(client: DynamoDBClient, tableName: string): ReadItem {
  /** The loader gives an `Error` among the answers to who asked for that key alone. */
  async function readOne(partitionKey: string): Promise<Attributes | undefined | Error> {
    try {
      return (await client.send(new GetItemCommand(getRequest(tableName, partitionKey)))).Item;
    } catch (error) {
      return fromAwsError(error, { doing: `reading record ${partitionKey}`, write: false });
    }
  }

  /** Those that were answered for: an item, or undefined for none. */
  async function readTogether(partitionKeys: readonly string[]): Promise<Map<string, Attributes | undefined>> {
    try {
      const answer = await client.send(new BatchGetItemCommand(batchGetRequest(tableName, partitionKeys)));
      const left = new Set(answer.UnprocessedKeys?.[tableName]?.Keys?.map(keyOf));
      const items = new Map(answer.Responses?.[tableName]?.map(item => [keyOf(item), item]));
      return new Map(partitionKeys.filter(key => !left.has(key)).map(key => [key, items.get(key)]));
    } catch (error) {
      const failure = fromAwsError(error, { doing: `reading ${partitionKeys.length} records`, write: false });
      if (failure instanceof RetryableError) throw failure;
      // One key that DynamoDB does not take spoils the whole call.
      return new Map();
    }
  }

  const loader = new DataLoader<string, Attributes | undefined>(
    async asked => {
      const keys = [...new Set(asked)];
      const found = keys.length === 1 ? new Map<string, undefined>() : await readTogether(keys);
      const alone = new Map(keys.filter(key => !found.has(key)).map(key => [key, readOne(key)]));
      return Promise.all(asked.map(async key => (await alone.get(key)) ?? found.get(key)));
    },
    { cache: false, maxBatchSize: MAX_KEYS },
  );
  return partitionKey => loader.load(partitionKey);
}

const keyOf = (attributes: Readonly<Attributes>): string => attributes[TABLE.partitionKey]?.S ?? '';
