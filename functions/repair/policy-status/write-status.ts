/** Writes the status of the NodeLifecyclePolicies: what each applies to, and what of it cannot be used. Only what differs is written. */
import { loadConfig } from '../../../shared/cluster/configuration.ts';
import { inParallel, oneByOne } from '../../../shared/cluster/in-parallel.ts';
import { nodePoolOf } from '../../../shared/cluster/node-pool.ts';
import { CONFIG_MAP, KARPENTER } from '../../../shared/contract/names.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { isJsonObject } from '../../../shared/domain/json.ts';
import type { JsonObject, KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { loadCluster } from '../../../shared/cluster/owner.ts';
import { indexOwners, ownerOf } from '../../../shared/domain/node-owner.ts';
import { toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import { orRefused, type TurnedAway as Refused } from '../../../shared/lifecycle/refusals.ts';
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import { openRecord } from '../../../shared/lifecycle/timed-record.ts';
import { readPolicies } from '../../../shared/policies/policy-set.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import { poolOf } from '../rule/node-verdict.ts';
import { OWNER, poolCodec, poolRecordId } from '../rule/codec.ts';
import { acceptedGenerations, faultOf, withLastAccepted } from '../settings/settings.ts';
import { summarize, type ClusterFacts, type PolicySummary, type PoolFacts } from './summary.ts';
import { objectOf, objectsOf } from '../../../shared/ports/read-answer.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'events' | 'audit' | 'clock'> & {
  readonly reporter: Reporter;
};

/** A status that the API server does not let us write, as admission policies can want it. */
export interface RefusedStatus {
  readonly policy: KubernetesObject;
  readonly refused: Refused;
}

export interface StatusesWritten {
  readonly refused: readonly RefusedStatus[];
  /** Numbers of some are to be written yet. */
  readonly waits: boolean;
}

/**
 * Writes every status that is not as it should be; undefined: there is no policy.
 *
 * @param counts those of which nothing but numbers differs, too
 */
export async function writeStatuses(deps: Deps, counts: boolean): Promise<StatusesWritten | undefined> {
  const objects = objectsOf(await deps.kubernetes.list(RESOURCES.NodeLifecyclePolicy), { notServed: 'none' });
  if (objects.length === 0) return undefined;
  const [facts, generations] = await inParallel([loadFacts(deps, objects), acceptedGenerations(deps, objects)]);
  const refused: RefusedStatus[] = [];
  let waits = false;
  await oneByOne(objects, async object => {
    const { uid, name, generation } = object.metadata;
    const fault = faultOf(object, 'all');
    const acceptedGeneration = faultOf(object) === undefined ? generation : generations.get(uid);
    const summary = summarize({ object, fault, acceptedGeneration }, facts);
    const status = statusOf(object, summary, deps.clock.now());
    if (status === undefined) return;
    if (!counts && differsByNumbers(object.status, status)) {
      waits = true;
      return;
    }
    await sayNew(deps, object, summary);
    const ref = { type: RESOURCES.NodeLifecyclePolicy, name };
    const body = { metadata: { uid }, status };
    // One that was replaced by another of its name has an event of its own.
    const outcome = await orRefused(deps.kubernetes.patch(ref, { type: 'merge', body }, { subresource: 'status' }));
    if (outcome.kind === 'refused') refused.push({ policy: object, refused: outcome });
  });
  return { refused, waits };
}

async function loadFacts(deps: Deps, objects: readonly KubernetesObject[]): Promise<ClusterFacts> {
  const { namespace, name } = CONFIG_MAP;
  const [config, configMap, inForce, pools, { nodes, claims }] = await inParallel([
    loadConfig(OWNER, deps),
    deps.kubernetes.get({ type: RESOURCES.ConfigMap, namespace, name }),
    withLastAccepted(deps, objects),
    deps.kubernetes.list(RESOURCES.NodePool),
    loadCluster(deps),
  ]);
  const owners = indexOwners(nodes, claims);
  const byPool = Map.groupBy(nodes, node => poolOf(node, ownerOf(node, owners)));
  const karpenters = Map.groupBy(
    claims.filter(
      claim => claim.deletionTime === undefined && claim.finalizers.includes(KARPENTER.terminationFinalizer),
    ),
    claim => nodePoolOf(claim),
  );
  const factsOf = async (pool: KubernetesObject | undefined): Promise<PoolFacts> => {
    const key = pool?.metadata.name;
    const loaded = await openRecord(deps, poolCodec, poolRecordId(key)).load();
    const counts = loaded.kind === 'known' ? loaded.value.counts : { held: 0, repairing: 0 };
    return {
      pool,
      nodes: byPool.get(key)?.length ?? 0,
      ...counts,
      karpenters: karpenters.get(key)?.length ?? 0,
    };
  };
  const data = objectOf(configMap, { notServed: 'notKnown' })?.['data'];
  return {
    gateOpen: config.featureGates.nodeRepair,
    inForce: readPolicies(inForce),
    pools: await inParallel([undefined, ...objectsOf(pools, { notServed: 'notKnown' })].map(factsOf)),
    templates: isJsonObject(data) ? Object.keys(data) : [],
  };
}

/**
 * What Karpenter's finalizer makes of the policy's terminations is said when the status comes to say it. Said first: a run that dies in
 * between says it again (I9).
 */
async function sayNew(
  { reporter }: Pick<Deps, 'reporter'>,
  object: KubernetesObject,
  { conditions }: PolicySummary,
): Promise<void> {
  const [warning] = conditions.filter(({ type }) => type === 'Warning');
  if (warning === undefined || !SAID_HERE.includes(warning.reason)) return;
  const before = conditionsOf(object.status).find(({ type }) => type === 'Warning');
  if (before?.['reason'] === warning.reason && before['message'] === warning.message) return;
  const { reason, message } = warning;
  await reporter.report({ about: object, decision: 'warn', reason, message, event: { type: 'Warning' } });
}

const SAID_HERE: readonly string[] = [EVENT_REASONS.hooksDoNotHold, EVENT_REASONS.replaceNotInForce];

/** The status to be written; undefined: it says so already. */
function statusOf(
  { metadata, status }: KubernetesObject,
  summary: PolicySummary,
  now: EpochMs,
): JsonObject | undefined {
  const observedGeneration = metadata.generation ?? 0;
  const before = conditionsOf(status);
  const conditions = summary.conditions.map((condition): JsonObject => {
    const old = before.find(({ type }) => type === condition.type);
    const since = old?.['status'] === condition.status ? old['lastTransitionTime'] : undefined;
    return { ...condition, observedGeneration, lastTransitionTime: since ?? toTimestamp(now) };
  });
  const next: JsonObject = { ...summary, pools: [...summary.pools], conditions, observedGeneration };
  const isSame = Object.entries(next).every(([key, value]) => canonical(status?.[key]) === canonical(value));
  return isSame ? undefined : next;
}

/** Nothing but numbers does, and neither `held` nor `repairing` becomes zero or ceases to be. */
function differsByNumbers(before: JsonObject | undefined, next: JsonObject): boolean {
  const isAny = (status: JsonObject | undefined, key: string): boolean => (status?.[key] ?? 0) !== 0;
  return (
    ['conditions', 'observedGeneration'].every(key => canonical(before?.[key]) === canonical(next[key])) &&
    ['held', 'repairing'].every(key => isAny(before, key) === isAny(next, key))
  );
}

function conditionsOf(status: JsonObject | undefined): readonly JsonObject[] {
  const conditions = status?.['conditions'];
  return Array.isArray(conditions) ? conditions.filter(isJsonObject) : [];
}

/** JSON text that does not depend on the order of fields. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    isJsonObject(each) ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1))) : each,
  );
}
