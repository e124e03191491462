/**
 * `RecordStore` and `DueIndex` on one DynamoDB table, with single-item conditional writes only.
 *
 * ```
 *            put(expected 0)                put(expected v)                  delete(expected v)
 *  absent ──────────────────▶ version n ──────────────────▶ version n+1 ──────────────────────▶ absent
 *            is absent                      is unchanged                     is unchanged or absent
 * ```
 *
 * n starts at random, so that a record that was deleted and created again is not taken for the one before.
 */
import { randomInt, randomUUID } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { TABLE, toPartitionKey } from '../../contract/table.ts';
import { invariant } from '../../domain/invariant.ts';
import { messageOf } from '../../errors.ts';
import type { DueIndex, DueRecord, RecordStore, UnreadableDueRecord } from '../../ports/record-store.ts';
import { fromAwsError } from '../aws-errors.ts';
import { fromAttributes, type Attributes } from './attributes.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { fromDueItem, fromItem, toItem, toRecord } from './items.ts';
import { deleteRequest, getRequest, putRequest, queryDueRequest } from './requests.ts';

/** Leaves 2^53 - 2^40 writes to one record. */
const FIRST_VERSIONS = 2 ** 40;

export interface DynamoOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
}

/** Reads are consistent. Throws as `fromAwsError` says, and a `TerminalError` for an item that cannot be read. */
export function createRecordStore({ client, tableName }: DynamoOptions): RecordStore {
  async function read(partitionKey: string) {
    const { Item: item } = await attempt({ doing: `reading record ${partitionKey}`, write: false }, () =>
      client.send(new GetItemCommand(getRequest(tableName, partitionKey))),
    );
    return item === undefined ? undefined : fromItem(fromAttributes(item));
  }

  return {
    async get(key) {
      return (await read(toPartitionKey(key)))?.record;
    },

    async put(record, expectedVersion) {
      invariant(Number.isSafeInteger(expectedVersion) && expectedVersion >= 0, 'a version is a whole number from 0');
      const version = expectedVersion === 0 ? randomInt(1, FIRST_VERSIONS) : expectedVersion + 1;
      const item = toItem(record, version, randomUUID());
      const doing = `writing record ${item.pk}`;
      const refusal = await attemptConditional({ doing, write: true }, () =>
        client.send(new PutItemCommand(putRequest(tableName, item, expectedVersion))),
      );
      const written = toRecord(item);
      if (refusal === undefined) return { kind: 'written', record: written };
      // A store that does not return the old item (or there is none): look.
      const current = refusal.old === undefined ? await read(item.pk) : fromItem(fromAttributes(refusal.old));
      if (current === undefined) return { kind: 'lostRace' };
      // The answer of our first try was lost and the client sent it again: what stands there is ours.
      if (current.writeId === item.writeId) return { kind: 'written', record: written };
      return { kind: 'lostRace', current: current.record };
    },

    async delete(key, expectedVersion) {
      const partitionKey = toPartitionKey(key);
      const doing = `deleting record ${partitionKey}`;
      const refusal = await attemptConditional({ doing, write: true }, () =>
        client.send(new DeleteItemCommand(deleteRequest(tableName, partitionKey, expectedVersion))),
      );
      if (refusal === undefined) return { kind: 'deleted' };
      const current = refusal.old === undefined ? await read(partitionKey) : fromItem(fromAttributes(refusal.old));
      return current === undefined ? { kind: 'deleted' } : { kind: 'lostRace', current: current.record };
    },
  };
}

/**
 * Reads a global index, which lags behind the table: a record may come a moment late, or once more after its change. An
 * item that cannot be read is answered as such and spoils no other.
 */
export function createDueIndex({ client, tableName }: DynamoOptions): DueIndex {
  return {
    shardCount: TABLE.dueShards,
    async queryDue(shard, before, { limit, cursor }) {
      const startKey = cursor === undefined ? undefined : decodeCursor(cursor);
      const page = { limit, ...(startKey === undefined ? {} : { startKey }) };
      const answer = await attempt({ doing: `querying due records of shard ${shard}`, write: false }, () =>
        client.send(new QueryCommand(queryDueRequest(tableName, shard, before, page))),
      );
      const records: DueRecord[] = [];
      const unreadable: UnreadableDueRecord[] = [];
      for (const item of (answer.Items ?? []).map(fromAttributes)) {
        try {
          records.push(fromDueItem(item));
        } catch (error) {
          unreadable.push({ id: String(item[TABLE.partitionKey]), explanation: messageOf(error) });
        }
      }
      return {
        records,
        unreadable,
        ...(answer.LastEvaluatedKey === undefined ? {} : { cursor: encodeCursor(answer.LastEvaluatedKey) }),
      };
    },
  };
}

type StoreCall = Parameters<typeof fromAwsError>[1];

async function attempt<Answer>(what: StoreCall, send: () => Promise<Answer>): Promise<Answer> {
  try {
    return await send();
  } catch (error) {
    throw fromAwsError(error, what);
  }
}

/** Resolves to undefined when the condition was met, else to the item that stands there, if the store says. */
async function attemptConditional(
  what: StoreCall,
  send: () => Promise<unknown>,
): Promise<{ old: Attributes | undefined } | undefined> {
  try {
    await send();
    return undefined;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return { old: error.Item };
    throw fromAwsError(error, what);
  }
}
