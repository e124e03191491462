/**
 * A record as a DynamoDB item and back. Checked with its schema on both ways: what is written can be read, and what somebody
 * else wrote into the table is refused with its place named.
 */
import { createHash } from 'node:crypto';
import { jsonObject } from '../../contract/json-object.ts';
import { FUNCTION_NAMES } from '../../contract/names.ts';
import { subjectSchema } from '../../contract/subject.ts';
import { TABLE, toPartitionKey } from '../../contract/table.ts';
import * as z from '../../contract/zod.ts';
import type { JsonObject } from '../../domain/kubernetes-object.ts';
import { toEpochMs } from '../../domain/time.ts';
import { TerminalError } from '../../errors.ts';
import type { DueRecord, NewRecord, StoredRecord } from '../../ports/record-store.ts';

const ITEM_VERSION = 1;
/** DynamoDB's limit on a partition key, in bytes. */
const MAX_KEY_BYTES = 2048;

const epochMsSchema = z.int();
const keySchema = { owner: z.enum(FUNCTION_NAMES), id: z.string().check(z.minLength(1)) };

/** Attribute names are those of `shared/contract/table.ts`. Attributes of a newer version are passed over: one version reads what the next one writes. */
const itemSchema = z
  .object({
    ...keySchema,
    pk: z
      .string()
      .check(
        z.refine(key => Buffer.byteLength(key) <= MAX_KEY_BYTES, { error: `must be at most ${MAX_KEY_BYTES} bytes` }),
      ),
    schemaVersion: z.literal(ITEM_VERSION),
    version: z.int().check(z.positive()),
    /** Different for each write: a write whose answer was lost and that was sent again is known by it. */
    writeId: z.string().check(z.minLength(1)),
    subject: subjectSchema,
    state: jsonObject,
    nextWakeTime: z.optional(epochMsSchema),
    dueShard: z.optional(z.string()),
    /** The stored name of `hasOwnMessage`. */
    direct: z.optional(z.boolean()),
    /** Epoch seconds. */
    expireTime: z.optional(z.int()),
  })
  .check(
    z.refine(item => (item.nextWakeTime === undefined) === (item.dueShard === undefined), {
      error: 'nextWakeTime and dueShard must stand together',
    }),
    z.refine(item => item.pk === toPartitionKey(item), { error: 'pk must be made of owner and id' }),
  );
export type Item = z.infer<typeof itemSchema>;

const dueItemSchema = z.object({
  ...keySchema,
  nextWakeTime: epochMsSchema,
  subject: subjectSchema,
  direct: z.optional(z.boolean()),
});

/** The shard of the due index that a record stands in; it never changes. */
export function dueShardOf(partitionKey: string): number {
  const known = shards.get(partitionKey);
  if (known !== undefined) return known;
  const shard = createHash('sha256').update(partitionKey).digest().readUInt32BE(0) % TABLE.dueShards;
  if (shards.size >= REMEMBERED_SHARDS) shards.clear();
  shards.set(partitionKey, shard);
  return shard;
}

/** A record is written several times in its life. */
const shards = new Map<string, number>();
const REMEMBERED_SHARDS = 10_000;

/** Throws a `TerminalError` (`InvalidRecord`) for a record that could not be read again. */
export function toItem(record: NewRecord, version: number, writeId: string): Item {
  const pk = toPartitionKey(record);
  const item: Record<keyof Item, unknown> = {
    pk,
    owner: record.owner,
    id: record.id,
    schemaVersion: ITEM_VERSION,
    version,
    writeId,
    subject: record.subject,
    // JSON's own rules for what is undefined: gone from objects, null in arrays.
    state: JSON.parse(JSON.stringify(record.state)) as unknown,
    nextWakeTime: record.nextWakeTime === undefined ? undefined : Math.ceil(record.nextWakeTime),
    dueShard: record.nextWakeTime === undefined ? undefined : String(dueShardOf(pk)),
    direct: record.hasOwnMessage,
    expireTime: record.expireTime === undefined ? undefined : Math.ceil(record.expireTime / 1000),
  };
  return check(itemSchema, item, pk);
}

/** Throws a `TerminalError` (`InvalidRecord`) for what is no item of ours. */
export function fromItem(raw: unknown): { record: StoredRecord; writeId: string } {
  const item = check(itemSchema, raw, 'an item');
  return { writeId: item.writeId, record: toRecord(item) };
}

/** The record in a checked item; shares the item's objects. */
export function toRecord(item: Item): StoredRecord {
  const state: JsonObject = item.state;
  return {
    owner: item.owner,
    id: item.id,
    version: item.version,
    subject: item.subject,
    state,
    ...(item.nextWakeTime === undefined ? {} : { nextWakeTime: toEpochMs(item.nextWakeTime) }),
    ...(item.direct === undefined ? {} : { hasOwnMessage: item.direct }),
    ...(item.expireTime === undefined ? {} : { expireTime: toEpochMs(item.expireTime * 1000) }),
  };
}

/** Reads an item of the due index, which has the projected attributes alone. */
export function fromDueItem(raw: unknown): DueRecord {
  const {
    owner,
    id,
    subject,
    nextWakeTime,
    direct: hasOwnMessage,
  } = check(dueItemSchema, raw, 'an item of the due index');
  return {
    owner,
    id,
    subject,
    nextWakeTime: toEpochMs(nextWakeTime),
    ...(hasOwnMessage !== undefined && { hasOwnMessage }),
  };
}

function check<Schema extends z.ZodMiniType>(schema: Schema, value: unknown, what: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new TerminalError('InvalidRecord', `${what} is not a valid record: ${z.prettifyError(result.error)}`, {
    cause: result.error,
  });
}
