/**
 * Keeps the status of the NodeLifecyclePolicies: one record for all of them says when it was looked at last. Whatever may change a status
 * asks for a look; looks are apart from each other, and only what differs is written. Without a policy there is no record and no look.
 */
import { loadConfig } from '../../../shared/cluster/configuration.ts';
import { inParallel } from '../../../shared/cluster/in-parallel.ts';
import { CONFIG_MAP } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { Subject } from '../../../shared/contract/subject.ts';
import * as z from '../../../shared/contract/zod.ts';
import type { JsonObject, KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import {
  addDuration,
  hours,
  isDue,
  seconds,
  toEpochMs,
  toTimestamp,
  type DurationMs,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import { indexOwners, ownerOf } from '../../../shared/domain/node-owner.ts';
import { again, DONE, settle } from '../../../shared/lifecycle/settle.ts';
import {
  openRecord,
  written,
  type Held,
  type RecordCodec,
  type UsedWakeUp,
} from '../../../shared/lifecycle/timed-record.ts';
import { readPolicies } from '../../../shared/policies/policy-set.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import { loadCluster } from '../observe.ts';
import { poolOf } from '../pass/look.ts';
import { countHeld } from '../pass/say.ts';
import { OWNER, poolCodec, poolRecordId } from '../record.ts';
import { acceptedGenerations, faultOf, withLastAccepted } from '../settings.ts';
import { summarize, type ClusterFacts, type PolicySummary, type PoolFacts } from './summary.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'events' | 'audit' | 'clock'>;

interface StatusRecord {
  /** When the latest look began. */
  readonly lookTime: EpochMs;
  /** It has not ended yet. */
  readonly underWay?: true | undefined;
}

const schema = z.object({ lookTime: z.number(), underWay: z.exactOptional(z.literal(true)) });
export const statusCodec: RecordCodec<StatusRecord> = {
  owner: OWNER,
  schemaVersion: 1,
  parse(state) {
    const { lookTime, ...rest } = schema.parse(state);
    return { lookTime: toEpochMs(lookTime), ...rest };
  },
  toState: ({ lookTime, underWay }) => ({ lookTime, ...(underWay && { underWay }) }),
};
const RECORD_ID = 'policy-status';

/** A name that no policy can have. */
const ALL = '*';
const SUBJECT: Subject = { apiVersion: 'curfew.dev/v1alpha1', kind: 'NodeLifecyclePolicy', name: ALL };
export const isAllPolicies = ({ name }: Pick<Subject, 'name'>): boolean => name === ALL;

/** Looks because nodes or repairs changed are this far apart. */
const STATUS_SPACING = seconds(30);
/** Looks because somebody edited a policy. */
const EDIT_SPACING = seconds(1);
/** A change without a message is noticed after this long. */
const CHECK = hours(1);
/** A look that dies is repeated after this long. */
const LOOK_SETTLES_AFTER = seconds(60);

/** A policy was added, edited or removed. */
export const policyChanged = (deps: Deps): Promise<void> => request(deps, EDIT_SPACING, true);
/** Pools, nodes, repairs or the gate changed. */
export const surroundingsChanged = (deps: Deps): Promise<void> => request(deps, STATUS_SPACING, false);
/** The timer is due. */
export const statusDue = (deps: Deps, wakeUp: UsedWakeUp): Promise<void> => request(deps, EDIT_SPACING, false, wakeUp);

async function request(deps: Deps, spacing: DurationMs, creates: boolean, wakeUp?: UsedWakeUp): Promise<void> {
  let claimed = false;
  const record = openRecord(deps, statusCodec, RECORD_ID, wakeUp);
  await settle<Held<StatusRecord>, undefined>({
    what: 'the status of the policies',
    observe: async () => ({ kind: 'here', observation: await record.load() }),
    decide: () => undefined,
    async apply(_, held) {
      if (held.kind === 'newer' || (held.kind === 'none' && !creates)) return DONE;
      const now = deps.clock.now();
      const next = held.kind === 'held' ? addDuration(held.value.lookTime, spacing) : now;
      const armed = held.kind === 'held' ? held.stored.nextWakeTime : undefined;
      if (!isDue(now, next)) {
        if (held.kind !== 'held' || (armed !== undefined && armed <= next)) return DONE;
        const saved = await record.save({ subject: SUBJECT, value: held.value, wakeTime: next });
        return written(saved);
      }
      const wakeTime = addDuration(now, LOOK_SETTLES_AFTER);
      const saved = await record.save({
        subject: SUBJECT,
        value: { lookTime: now, underWay: true },
        wakeTime,
        punctual: false,
      });
      claimed = saved.written;
      return written(saved);
    },
  });
  if (!claimed) return;
  const isAny = await writeStatuses(deps);
  await settle<Held<StatusRecord>, undefined>({
    what: 'the status of the policies',
    observe: async () => ({ kind: 'here', observation: await record.load() }),
    decide: () => undefined,
    async apply(_, held) {
      if (held.kind !== 'held') return DONE;
      if (!isAny) return record.release();
      // Somebody asked for another look meanwhile.
      const { nextWakeTime } = held.stored;
      const isAsked = nextWakeTime !== undefined && nextWakeTime < addDuration(held.value.lookTime, LOOK_SETTLES_AFTER);
      if (isAsked) return DONE;
      const wakeTime = addDuration(deps.clock.now(), CHECK);
      const saved = await record.save({ subject: SUBJECT, value: { lookTime: held.value.lookTime }, wakeTime });
      return saved.written ? DONE : again('another run wrote first');
    },
  });
}

/** Writes every status that is not as it should be. Answers whether there is any policy. */
async function writeStatuses(deps: Deps): Promise<boolean> {
  const objects = (await deps.kubernetes.list(RESOURCES.NodeLifecyclePolicy)) ?? [];
  if (objects.length === 0) return false;
  const [facts, generations] = await inParallel([loadFacts(deps, objects), acceptedGenerations(deps, objects)]);
  for (const object of objects) {
    const { uid, name, generation } = object.metadata;
    const fault = faultOf(object, 'all');
    const acceptedGeneration = faultOf(object) === undefined ? generation : generations.get(uid);
    const summary = summarize({ object, fault, acceptedGeneration }, facts);
    const status = statusOf(object, summary, deps.clock.now());
    if (status === undefined) continue;
    const body = { metadata: { uid }, status };
    // One that was replaced by another of its name has an event of its own.
    await deps.kubernetes.patch(
      { type: RESOURCES.NodeLifecyclePolicy, name },
      { type: 'merge', body },
      { subresource: 'status' },
    );
  }
  return true;
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
