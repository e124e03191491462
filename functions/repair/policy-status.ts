/**
 * The status of the NodeLifecyclePolicies: when it is looked at, and how it is written. Looks are apart from each
 * other, one at a time for all policies; only what differs is written. One record says when the last look was. Without
 * a policy there is no record and no look.
 */
import { poolOf } from './rule/node-verdict.ts';
import { type ClusterFacts, type PolicySummary, type PoolStanding, summarize } from './policy-summary.ts';
import { OWNER, poolCodec, type PoolRecord, poolRecordId } from './record.ts';
import { faultOf, loadInForce } from './settings.ts';
import { isTimerOf } from './wake-ups.ts';
import { isDeepStrictEqual } from 'node:util';
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { inParallel, oneByOne } from '../../shared/cluster/in-parallel.ts';
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import { loadCluster } from '../../shared/cluster/owner.ts';
import { instant } from '../../shared/contract/instant.ts';
import { CONFIG_MAP, KARPENTER } from '../../shared/contract/names.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import * as z from '../../shared/contract/zod.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import {
  addDuration,
  type DurationMs,
  earliest,
  type EpochMs,
  hours,
  isDue,
  minutes,
  seconds,
  toTimestamp,
} from '../../shared/domain/time.ts';
import { type Coalescer, createCoalescer } from '../../shared/lifecycle/coalesce.ts';
import { ALL } from '../../shared/lifecycle/next-round.ts';
import { checkedCodec, type LoadedRecord, type RecordCodec } from '../../shared/lifecycle/record-codec.ts';
import { orRefused, type RefusedCall, reportWarning } from '../../shared/lifecycle/refusals.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { DONE } from '../../shared/lifecycle/settle.ts';
import { openRecord, updateRecord, type UsedWakeUp, doneIfWritten } from '../../shared/lifecycle/timed-record.ts';
import type { WakeUpRoute } from '../../shared/lifecycle/wake-up-route.ts';
import type { PolicySet } from '../../shared/policies/policy-set.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { objectOf, objectsOf } from '../../shared/ports/read-answer.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'events' | 'audit' | 'clock'> & {
  readonly reporter: Reporter;
};

const schema = z.object({
  /** When the latest look began. */
  lookTime: instant,
  /** When the latest began that wrote what is nothing but numbers, too; absent: that look. */
  countTime: z.exactOptional(instant),
  /** Of earlier versions: the look has not ended yet. */
  underWay: z.exactOptional(z.literal(true)),
  /** Why statuses could not be written, as it was said; a line each. */
  refused: z.exactOptional(z.string()),
});

type StatusRecord = Readonly<z.output<typeof schema>>;

export const statusCodec: RecordCodec<StatusRecord> = checkedCodec(OWNER, schema, 1);

const countTimeOf = ({ countTime, lookTime }: StatusRecord): EpochMs => countTime ?? lookTime;

const NAME = 'policy-status';

/** The record has the name that no policy can have. */
const SUBJECT: Subject = { apiVersion: 'curfew.dev/v1alpha1', kind: 'NodeLifecyclePolicy', name: '*' };

/** Looks that write what is nothing but numbers, in whatever status, are this far apart … */
const COUNT_SPACING = minutes(5);

/** … looks because a pool has repairs by now, or none any more, are this far … */
const ZERO_SPACING = seconds(10);

/** … and looks because somebody edited a policy, or because the timer is due, this far. */
const SPACING = seconds(1);

/** What was refused is tried again after this long, and said to be. */
const REFUSED_CHECK = minutes(5);

/** A change without a message is noticed after this long. */
const CHECK = hours(1);

/** A policy was added, edited or removed. */
export async function policyChanged(deps: Deps): Promise<void> {
  await looksOf(deps).request(ALL);
}

/** Pools, nodes, repairs or the gate changed. @param urgency `count`: only numbers did */
export async function surroundingsChanged(deps: Deps, urgency: 'count' | 'zero'): Promise<void> {
  let isNow = false;
  const record = openRecord(deps, statusCodec, NAME);
  await updateRecord(WHAT, record, async loaded => {
    if (loaded.kind === 'none') return DONE;
    const { value, stored } = loaded;
    const next =
      urgency === 'count' ? addDuration(countTimeOf(value), COUNT_SPACING) : addDuration(value.lookTime, ZERO_SPACING);
    isNow = isDue(deps.clock.now(), next);
    const isAsked = stored.nextWakeTime !== undefined && stored.nextWakeTime <= next;
    return isNow || isAsked ? DONE : doneIfWritten(await record.save({ subject: SUBJECT, value, wakeTime: next }));
  });
  if (isNow) await policyChanged(deps);
}

/** The timer of the record came. */
export async function statusDue(deps: Deps, wakeUp: UsedWakeUp): Promise<void> {
  const loaded = await openRecord(deps, statusCodec, NAME).load();
  if (isTimerOf(loaded, wakeUp, deps.clock.now())) await policyChanged(deps);
}

/** Of the record, and of a look that waits or has died. */
export const statusTimers = (deps: Deps): readonly WakeUpRoute[] => [
  {
    takes: ({ kind, name }) => kind === SUBJECT.kind && name === SUBJECT.name,
    timerDue: wakeUp => statusDue(deps, wakeUp),
  },
  looksOf(deps),
];

const WHAT = 'the status of the policies';

const looksOf = (deps: Deps): Coalescer =>
  createCoalescer(deps, { owner: OWNER, name: NAME, spacing: SPACING, run: () => look(deps) });

/** Looks at all policies and writes what differs. Answers how long the next look waits. */
async function look(deps: Deps): Promise<DurationMs> {
  const record = openRecord(deps, statusCodec, NAME);
  const begun = deps.clock.now();
  let before: StatusRecord | undefined;
  let countTime = begun;
  await updateRecord(WHAT, record, async loaded => {
    before = loaded.kind === 'known' ? loaded.value : undefined;
    const last = before && countTimeOf(before);
    countTime = last === undefined || isDue(begun, addDuration(last, COUNT_SPACING)) ? begun : last;
    const { refused } = before ?? {};
    const value: StatusRecord = { lookTime: begun, countTime, ...(refused !== undefined && { refused }) };
    return doneIfWritten(await record.save({ subject: SUBJECT, value, wakeTime: addDuration(begun, CHECK) }));
  });
  const outcome = await writeStatuses(deps, countTime === begun);
  const { refused: left = [], waits = false } = outcome ?? {};
  const refused = left.length > 0 ? left.map(lineOf).join('\n') : undefined;
  // Said before it is recorded: a run that dies in between says it again (I9).
  await sayRefused(deps, left, before?.refused);
  await updateRecord(WHAT, record, async loaded => {
    if (loaded.kind !== 'known') return DONE;
    if (outcome === undefined) return record.release();
    const check = addDuration(deps.clock.now(), refused === undefined ? CHECK : REFUSED_CHECK);
    const counts = waits ? addDuration(countTime, COUNT_SPACING) : undefined;
    // Somebody may have asked for an earlier look meanwhile.
    const wakeTime = [check, counts, loaded.stored.nextWakeTime].reduce(earliest, undefined) ?? check;
    const value: StatusRecord = { lookTime: begun, countTime, ...(refused !== undefined && { refused }) };
    return doneIfWritten(await record.save({ subject: SUBJECT, value, wakeTime }));
  });
  return SPACING;
}

const lineOf = ({ refused }: RefusedStatus): string => refused.message.replaceAll('\n', ' ');

/** Each in one audit line, until it changes. @param before the lines of the look before */
async function sayRefused({ reporter }: Deps, left: readonly RefusedStatus[], before = ''): Promise<void> {
  const said = new Set(before.split('\n'));
  for (const each of left) {
    const { policy, refused } = each;
    const say = reportWarning(reporter, policy, EVENT_REASONS.changeRefused, 'refused');
    await say(`${refused.message}; it is tried again every five minutes`, said.has(lineOf(each)));
  }
}

/** A status that the API server does not let us write, as admission policies can want it. */
interface RefusedStatus {
  readonly policy: KubernetesObject;
  readonly refused: RefusedCall;
}

interface StatusesWritten {
  readonly refused: readonly RefusedStatus[];
  /** Numbers of some are to be written yet. */
  readonly waits: boolean;
}

/**
 * Writes every status that is not as it should be; undefined: there is no policy.
 *
 * @param counts those of which nothing but numbers differs, too
 */
async function writeStatuses(deps: Deps, counts: boolean): Promise<StatusesWritten | undefined> {
  const objects = objectsOf(await deps.kubernetes.list(RESOURCES.NodeLifecyclePolicy), { notServed: 'none' });
  if (objects.length === 0) return undefined;
  const { policies, generations } = await loadInForce(deps, objects);
  const facts = await loadFacts(deps, policies);
  const refused: RefusedStatus[] = [];
  let waits = false;
  await oneByOne(objects, async object => {
    const { uid, name } = object.metadata;
    const summary = summarize({ object, fault: faultOf(object), acceptedGeneration: generations.get(uid) }, facts);
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

async function loadFacts(deps: Deps, inForce: PolicySet): Promise<ClusterFacts> {
  const { namespace, name } = CONFIG_MAP;
  const [config, configMap, pools, { nodes, claims }] = await inParallel([
    loadConfig(OWNER, deps),
    deps.kubernetes.get({ type: RESOURCES.ConfigMap, namespace, name }),
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
  const factsOf = async (pool: KubernetesObject | undefined): Promise<PoolStanding> => {
    const key = pool?.metadata.name;
    const loaded = await openRecord(deps, poolCodec, poolRecordId(key)).load();
    return {
      pool,
      nodes: byPool.get(key)?.length ?? 0,
      repairs: repairsOf(loaded),
      karpenters: karpenters.get(key)?.length ?? 0,
    };
  };
  const data = objectOf(configMap, { notServed: 'notKnown' })?.['data'];
  return {
    gateOpen: config.featureGates.nodeRepair,
    inForce,
    pools: await inParallel([undefined, ...objectsOf(pools, { notServed: 'notKnown' })].map(factsOf)),
    templates: isJsonObject(data) ? Object.keys(data) : [],
  };
}

function repairsOf(loaded: LoadedRecord<PoolRecord>): PoolStanding['repairs'] {
  switch (loaded.kind) {
    case 'known':
      return loaded.value.counts;
    case 'none':
      return { held: 0, repairing: 0 };
    case 'newer':
      return undefined;
  }
}

/**
 * What Karpenter's finalizer makes of the policy's terminations is said when the status comes to say it. Said first:
 * a run that dies in between says it again (I9).
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
  await reportWarning(reporter, object, warning.reason, 'warn')(warning.message, false);
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
  const isSame = Object.entries(next).every(([key, value]) => isDeepStrictEqual(status?.[key], value));
  return isSame ? undefined : next;
}

/** Nothing but numbers does, and neither `held` nor `repairing` becomes zero or ceases to be. */
function differsByNumbers(before: JsonObject | undefined, next: JsonObject): boolean {
  const isAny = (status: JsonObject | undefined, key: string): boolean => (status?.[key] ?? 0) !== 0;
  return (
    ['conditions', 'observedGeneration'].every(key => isDeepStrictEqual(before?.[key], next[key])) &&
    ['held', 'repairing'].every(key => isAny(before, key) === isAny(next, key))
  );
}

function conditionsOf(status: JsonObject | undefined): readonly JsonObject[] {
  const conditions = status?.['conditions'];
  return Array.isArray(conditions) ? conditions.filter(isJsonObject) : [];
}
