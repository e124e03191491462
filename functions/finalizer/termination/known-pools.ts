/** Remembers NodePools for all functions, as long as one of their NodeClaims or Nodes is left. */
import { inParallel } from '../../../shared/cluster/in-parallel.ts';
import { listNodeClaims, listNodes } from '../../../shared/cluster/lists.ts';
import { isGone, KNOWN_POOL_CODEC, knownPoolKey, type KnownPool } from '../../../shared/cluster/known-pool.ts';
import { loadNodePool, poolQuery } from '../../../shared/cluster/node-pool.ts';
import { CURFEW_GROUP } from '../../../shared/contract/names.ts';
import type { Subject } from '../../../shared/contract/subject.ts';
import { parsePoolTermination } from '../../../shared/contract/termination-schema.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, hours } from '../../../shared/domain/time.ts';
import { openRecord, type UsedWakeUp } from '../../../shared/lifecycle/timed-record.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'>;

/** Time between looks whether anything of the NodePool is left. */
const CHECK = hours(24);

const KIND = 'KnownNodePool';
const subjectOf = (name: string): Subject => ({ apiVersion: `${CURFEW_GROUP}/v1alpha1`, kind: KIND, name });
const openPool = (deps: Deps, name: string, wakeUp?: UsedWakeUp) =>
  openRecord(deps, KNOWN_POOL_CODEC, knownPoolKey(name).id, wakeUp);

/** Whether a wake-up with this subject is about a NodePool that is remembered. */
export const isKnownPool = ({ apiVersion, kind }: Subject): boolean =>
  kind === KIND && apiVersion === subjectOf('').apiVersion;

/**
 * Remembers a NodePool, before a finalizer is put on for its sake. One that has gone is remembered as it was; one that cannot be read changes
 * nothing of what is known.
 */
export async function rememberPool(deps: Deps, pool: KubernetesObject, wakeUp?: UsedWakeUp): Promise<void> {
  if (isGone(pool)) return;
  const { name, labels = {} } = pool.metadata;
  const parsed = parsePoolTermination(pool.spec?.['disruption'], 'spec.disruption');
  const timedRecord = openPool(deps, name, wakeUp);
  const loaded = await timedRecord.load();
  if (loaded.kind === 'newer') return;
  const { customFinalizerName, terminationGracePeriod } = parsed.ok ? parsed.value : {};
  const storedPool = loaded.kind === 'known' ? loaded.value : undefined;
  const value: KnownPool | undefined = parsed.ok
    ? {
        labels: { ...labels },
        ...(customFinalizerName !== undefined && { customFinalizerName }),
        ...(terminationGracePeriod !== undefined && { terminationGracePeriodSeconds: terminationGracePeriod / 1000 }),
      }
    : storedPool;
  if (value !== undefined) await savePool(deps, timedRecord, name, value);
}

/** Updates the record of a NodePool after a change of it, and once a day. */
export async function updateKnownPool(deps: Deps, name: string, wakeUp?: UsedWakeUp): Promise<void> {
  const pool = await loadNodePool(deps, name);
  const timedRecord = openPool(deps, name, wakeUp);
  const loaded = await timedRecord.load();
  if (pool !== undefined) {
    await rememberPool(deps, pool, wakeUp);
    return;
  }
  if (loaded.kind !== 'known') return;
  const [claims, nodes] = await inParallel([
    listNodeClaims(deps, { ifNotServed: 'throw' }, poolQuery(name)),
    listNodes(deps, poolQuery(name)),
  ]);
  if (claims.length + nodes.length > 0) await savePool(deps, timedRecord, name, loaded.value);
  else await timedRecord.closeNow();
}

async function savePool(
  { clock }: Deps,
  timedRecord: ReturnType<typeof openPool>,
  name: string,
  value: KnownPool,
): Promise<void> {
  await timedRecord.save({
    subject: subjectOf(name),
    value,
    wakeTime: addDuration(clock.now(), CHECK),
    hasOwnMessage: false,
  });
}
