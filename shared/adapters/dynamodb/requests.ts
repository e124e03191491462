/** Command inputs, built without sending anything. Each clause of a condition has a name that says when it is met. */
import type {
  DeleteItemCommandInput,
  GetItemCommandInput,
  PutItemCommandInput,
  QueryCommandInput,
} from '@aws-sdk/client-dynamodb';
import { TABLE } from '../../contract/table.ts';
import type { EpochMs } from '../../domain/time.ts';
import { toAttributes, type Attributes } from './attributes.ts';
import type { Item } from './items.ts';

/** Nobody has created the record, or it was deleted. */
const RECORD_IS_ABSENT = `attribute_not_exists(${TABLE.partitionKey})`;
/** Nobody has written since the caller looked. */
const RECORD_IS_UNCHANGED = '#version = :expectedVersion';

const VERSION_NAME = { '#version': 'version' };

/** A consistent read. */
export function getRequest(tableName: string, partitionKey: string): GetItemCommandInput {
  return { TableName: tableName, Key: toAttributes({ [TABLE.partitionKey]: partitionKey }), ConsistentRead: true };
}

/** Creates (`expectedVersion: 0`) or replaces. */
export function putRequest(tableName: string, item: Item, expectedVersion: number): PutItemCommandInput {
  return {
    TableName: tableName,
    Item: toAttributes(item),
    // The loser of a race learns who won without another read.
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    ...(expectedVersion === 0
      ? { ConditionExpression: RECORD_IS_ABSENT }
      : {
          ConditionExpression: RECORD_IS_UNCHANGED,
          ExpressionAttributeNames: VERSION_NAME,
          ExpressionAttributeValues: toAttributes({ ':expectedVersion': expectedVersion }),
        }),
  };
}

/** A record that is already gone meets the condition too: deleting twice is deleting once. */
export function deleteRequest(
  tableName: string,
  partitionKey: string,
  expectedVersion: number,
): DeleteItemCommandInput {
  return {
    TableName: tableName,
    Key: toAttributes({ [TABLE.partitionKey]: partitionKey }),
    ConditionExpression: `${RECORD_IS_ABSENT} OR ${RECORD_IS_UNCHANGED}`,
    ExpressionAttributeNames: VERSION_NAME,
    ExpressionAttributeValues: toAttributes({ ':expectedVersion': expectedVersion }),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

/** Oldest first. `startKey` is the last key of the page before. */
export function queryDueRequest(
  tableName: string,
  shard: number,
  before: EpochMs,
  page: { limit: number; startKey?: Attributes },
): QueryCommandInput {
  const { name, partitionKey, sortKey } = TABLE.dueIndex;
  return {
    TableName: tableName,
    IndexName: name,
    KeyConditionExpression: '#shard = :shard AND #time <= :before',
    ExpressionAttributeNames: { '#shard': partitionKey, '#time': sortKey },
    ExpressionAttributeValues: toAttributes({ ':shard': String(shard), ':before': before }),
    ScanIndexForward: true,
    Limit: page.limit,
    ...(page.startKey === undefined ? {} : { ExclusiveStartKey: page.startKey }),
  };
}
