/**
 * NodePools as they were last seen. `kubectl delete nodepool` removes the NodePool first and its NodeClaims after it: what it said, and which
 * policies its labels select, still applies to its nodes, for every function. The finalizer function remembers them; the others read.
 */
import { KNOWN_POOLS } from '../contract/table.ts';
import { parsePoolTermination } from '../contract/termination-schema.ts';
import * as z from '../contract/zod.ts';
import type { KubernetesObject } from '../domain/kubernetes-object.ts';
import { lastGood } from './last-good.ts';
import { checkedCodec, readRecord, type RecordCodec } from '../lifecycle/record-codec.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import type { RecordKey } from '../ports/record-store.ts';
import { FORGOTTEN_UID, isForgotten } from '../policies/policy-set.ts';
import { loadNodePool } from './node-pool.ts';

const schema = z.object({
  labels: z.record(z.string(), z.string()),
  customFinalizerName: z.exactOptional(z.string()),
  terminationGracePeriodSeconds: z.exactOptional(z.number()),
});

export type KnownPool = z.output<typeof schema>;

export const KNOWN_POOL_CODEC: RecordCodec<KnownPool> = checkedCodec(KNOWN_POOLS.owner, schema, 1);

export const knownPoolKey = (name: string): RecordKey => ({
  owner: KNOWN_POOLS.owner,
  id: `${KNOWN_POOLS.idPrefix}${name}`,
});

type Deps = Pick<FunctionDeps, 'kubernetes'> & {
  /** Without the table, as on the command line, nothing is remembered. */
  readonly records?: Pick<FunctionDeps['records'], 'get'>;
};

/**
 * The NodePool of that name, or what is remembered of one that is not there, which may be nothing (`isForgotten`). Where what it says of
 * terminations cannot be read, it says what it said last.
 *
 * @throws {KindNotServed} where NodePools are not served
 */
export async function loadPool(
  { kubernetes, records }: Deps,
  name: string | undefined,
): Promise<KubernetesObject | undefined> {
  const pool = await loadNodePool({ kubernetes }, name);
  if (name === undefined || records === undefined) return pool;
  if (pool !== undefined && parsePoolTermination(pool.spec?.['disruption'], 'spec.disruption').ok) return pool;
  const loaded = readRecord(KNOWN_POOL_CODEC, await records.get(knownPoolKey(name)));
  const known = lastGood(loaded, value => ({ ok: true, value: toNodePool(name, value) }));
  if (pool === undefined) return known ?? standIn(name, { uid: FORGOTTEN_UID });
  if (known === undefined) return pool;
  return { ...pool, spec: { ...pool.spec, ...known.spec } };
}

/** Whether the NodePool is gone, and this is what is remembered of it. */
export const isGone = (pool: KubernetesObject): boolean => pool.metadata.uid === REMEMBERED_UID || isForgotten(pool);

const REMEMBERED_UID = '';

const toNodePool = (name: string, { labels, ...disruption }: KnownPool): KubernetesObject => ({
  ...standIn(name, { uid: REMEMBERED_UID, labels }),
  spec: { disruption },
});

const standIn = (name: string, metadata: Pick<KubernetesObject['metadata'], 'uid' | 'labels'>): KubernetesObject => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name, resourceVersion: '', creationTimestamp: '', ...metadata },
});
