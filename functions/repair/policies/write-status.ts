/** Writes the status of each NodeLifecyclePolicy, and says on it when the API server refuses that (I8). */
import { loadConfig } from '../../../shared/cluster/configuration.ts';
import { inParallel } from '../../../shared/cluster/in-parallel.ts';
import { CONFIG_MAP } from '../../../shared/contract/names.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { JsonObject, KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import { indexOwners, ownerOf } from '../../../shared/domain/node-owner.ts';
import { TerminalError } from '../../../shared/errors.ts';
import { createReporter } from '../../../shared/lifecycle/reporter.ts';
import { openRecord } from '../../../shared/lifecycle/timed-record.ts';
import { readPolicies } from '../../../shared/policies/policy-set.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import { loadCluster } from '../observe.ts';
import { poolOf } from '../pass/look.ts';
import { countHeld } from '../pass/say.ts';
import { OWNER, poolCodec, poolRecordId } from '../record.ts';
import { acceptedGenerations, faultOf, withLastAccepted } from '../settings.ts';
import { summarize, type ClusterFacts, type PolicySummary, type PoolFacts } from './summary.ts';

export type StatusDeps = Pick<
  FunctionDeps,
  'kubernetes' | 'records' | 'wakeUps' | 'events' | 'audit' | 'metrics' | 'clock'
>;

/** By UID of a policy: why the API server refuses its status. */
export type Refused = Readonly<Record<string, string>>;

/**
 * Writes every status that is not as it should be. Answers which are refused; undefined: there is no policy.
 *
 * @param said what was said before, and is not said again
 */
export async function writeStatuses(deps: StatusDeps, said: Refused): Promise<Refused | undefined> {
  const objects = (await deps.kubernetes.list(RESOURCES.NodeLifecyclePolicy)) ?? [];
  if (objects.length === 0) return undefined;
  const [facts, generations] = await inParallel([loadFacts(deps, objects), acceptedGenerations(deps, objects)]);
  const refused: Record<string, string> = {};
  for (const object of objects) {
    const { uid, generation } = object.metadata;
    const fault = faultOf(object, 'all');
    const acceptedGeneration = faultOf(object) === undefined ? generation : generations.get(uid);
    const summary = summarize({ object, fault, acceptedGeneration }, facts);
    const status = statusOf(object, summary, deps.clock.now());
    const why = status && (await write(deps, object, status));
    if (why === undefined) continue;
    refused[uid] = why;
    // Before it is recorded that it was said: a run that ends in between says it once more, and never not at all.
    if (said[uid] !== why) await sayRefused(deps, object, why);
  }
  return refused;
}

/** Answers why it is refused. */
async function write(
  { kubernetes }: StatusDeps,
  { metadata: { name, uid } }: KubernetesObject,
  status: JsonObject,
): Promise<string | undefined> {
  const body = { metadata: { uid }, status };
  try {
    // One that was replaced by another of its name has an event of its own.
    await kubernetes.patch(
      { type: RESOURCES.NodeLifecyclePolicy, name },
      { type: 'merge', body },
      { subresource: 'status' },
    );
    return undefined;
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    return error.message;
  }
}

const sayRefused = (deps: StatusDeps, about: KubernetesObject, why: string): Promise<void> =>
  createReporter(OWNER, deps).report({
    about,
    decision: 'refused',
    reason: EVENT_REASONS.policyStatusRefused,
    message: `${why}; the policy is in force as it is accepted, and its status is tried again every five minutes`,
    event: { type: 'Warning' },
  });

async function loadFacts(deps: StatusDeps, objects: readonly KubernetesObject[]): Promise<ClusterFacts> {
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
  const factsOf = async (pool: KubernetesObject | undefined): Promise<PoolFacts> => {
    const key = pool?.metadata.name;
    const held = await openRecord(deps, poolCodec, poolRecordId(key)).load();
    const state = held.kind === 'held' ? held.value : undefined;
    return {
      pool,
      nodes: byPool.get(key)?.length ?? 0,
      held: state === undefined ? 0 : countHeld(state.said),
      repairing: state?.attempts.filter(({ phase }) => phase !== 'observed').length ?? 0,
    };
  };
  const data: unknown = configMap?.['data'];
  return {
    gateOpen: config.featureGates.nodeRepair,
    inForce: readPolicies(inForce),
    pools: await inParallel([undefined, ...(pools ?? [])].map(factsOf)),
    templates: typeof data === 'object' && data !== null ? Object.keys(data) : [],
  };
}

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

function conditionsOf(status: JsonObject | undefined): readonly JsonObject[] {
  const conditions = status?.['conditions'];
  const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null;
  return Array.isArray(conditions) ? (conditions as readonly unknown[]).filter(isObject) : [];
}

/** JSON text that does not depend on the order of fields. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
