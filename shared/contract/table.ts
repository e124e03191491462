/** The one table as infra creates it and the DynamoDB adapter uses it: attribute and index names, and how a record's key is spelt. */
import type { FunctionName } from './names.ts';

export const TABLE = {
  partitionKey: 'pk',
  /** Sparse: only records with a next wake-up time carry its two keys. Read by the timer function alone. */
  dueIndex: {
    name: 'due',
    /** Text, `0` … `dueShards - 1`. */
    partitionKey: 'dueShard',
    /** Number, epoch milliseconds. */
    sortKey: 'nextWakeTime',
    /** Beside the keys: what a wake-up says. Nothing else is projected, so that a change of state costs no index write. */
    projectedAttributes: ['owner', 'id', 'subject', 'direct'],
  },
  /** Epoch seconds; the store deletes the item some time after. */
  ttlAttribute: 'expireTime',
  /** A single index partition takes 1,000 writes a second; eight are ample for a whole cluster draining at once. */
  dueShards: 8,
} as const;

/** The records of remembered NodePools: the finalizer function writes them, others may read them. */
export const KNOWN_POOLS = { owner: 'finalizer', idPrefix: 'known-pool/' } as const satisfies {
  owner: FunctionName;
  idPrefix: string;
};

export function partitionKeyPrefix(owner: FunctionName): string {
  return `${owner}/`;
}

/** The partition key of a record: `repair/node/<uid>`. */
export function toPartitionKey(key: { readonly owner: FunctionName; readonly id: string }): string {
  return `${partitionKeyPrefix(key.owner)}${key.id}`;
}
