/**
 * Which repair block is in force for a pool: the NodePool's own wins over a NodeLifecyclePolicy, a more specific policy over a
 * general one, ties by name. Of a policy that an edit broke, the generation that was accepted last stays in force until the mistake is
 * mended; a policy that never was valid holds the repairs of the pools that it selects (I6). One record per policy, written when its
 * event is looked at.
 */
import { OWNER } from './record.ts';
import type { EffectiveRepair, LimitsInForce, RepairRules, StatedLimits } from './verdict.ts';
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import { loadPool } from '../../shared/cluster/known-pool.ts';
import type { Configuration } from '../../shared/cluster/read-configuration.ts';
import { parseDrainLimits } from '../../shared/contract/drain-limits-schema.ts';
import { type Mode, type Parsed, parsePolicyFrame } from '../../shared/contract/policy-schema.ts';
import { parseProtectionBlock } from '../../shared/contract/protection-schema.ts';
import { parseRepairLimits } from '../../shared/contract/repair-limits-schema.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { parseTerminationBlock } from '../../shared/contract/termination-schema.ts';
import * as z from '../../shared/contract/zod.ts';
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { DO_NOT_REPAIR_ANNOTATION } from '../../shared/domain/node.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import { isProtected } from '../../shared/domain/protection.ts';
import { type ProviderPolicies, statementsOfProvider } from '../../shared/domain/provider-policies.ts';
import { addDuration, type EpochMs, hours } from '../../shared/domain/time.ts';
import { checkedCodec, readRecord, type RecordCodec } from '../../shared/lifecycle/record-codec.ts';
import { DONE } from '../../shared/lifecycle/settle.ts';
import { openRecord, updateRecord, type UsedWakeUp, written } from '../../shared/lifecycle/timed-record.ts';
import { decisionFor } from '../../shared/policies/deciding-policy.ts';
import { policiesFor, type PolicySet, readPolicies, unreadableFor } from '../../shared/policies/policy-set.ts';
import { effectiveProtection } from '../../shared/policies/protection-settings.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { objectsOf } from '../../shared/ports/read-answer.ts';

/** The rules of a pool, and where they come from. */
export interface PoolRules {
  readonly rules: RepairRules;
  readonly pool: KubernetesObject | undefined;
  /** The same, or as it was before it went: what it granted to pods still holds. */
  readonly known: KubernetesObject | undefined;
  readonly policies: PolicySet;
  readonly config: Configuration;
}

export type RuleDeps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'events' | 'audit' | 'clock'>;

/**
 * @param pool undefined: the nodes without a NodePool
 * @param seen as this run read them before
 */
export async function loadRules(deps: RuleDeps, pool: string | undefined, seen?: PoolRules): Promise<PoolRules> {
  const [config, known, policies] = await inParallel([
    loadConfig(OWNER, deps, seen?.config),
    loadPool(deps, pool),
    loadAcceptedPolicies(deps),
  ]);
  // Nothing is repaired for the sake of a NodePool that went; what it granted to pods still holds.
  const nodePool = known?.metadata.uid === '' ? undefined : known;
  const value = nodePool?.metadata.annotations?.[DO_NOT_REPAIR_ANNOTATION];
  const poolVeto = nodePool && {
    kind: 'NodePool' as const,
    name: nodePool.metadata.name,
    uid: nodePool.metadata.uid,
    value,
  };
  const repair = effectiveRepair(nodePool, policies, config.providerPolicies);
  const rules = { ...repair, gateOpen: config.featureGates.nodeRepair, poolVeto };
  return { rules, pool: nodePool, known, policies, config };
}

/** All policies, each as it was last accepted. */
async function loadAcceptedPolicies(deps: RuleDeps): Promise<PolicySet> {
  const objects = objectsOf(await deps.kubernetes.list(RESOURCES.NodeLifecyclePolicy), { notServed: 'notKnown' });
  return readPolicies(await withLastAccepted(deps, objects));
}

/** Names of the pods that are protected by what is in force in a pool. */
export function protectedNames(
  { known, policies }: PoolRules,
  pods: readonly PodView[],
  now: EpochMs,
): readonly string[] {
  const { policy } = effectiveProtection(known, policies);
  return pods
    .filter(pod => isProtected(pod, now, policy))
    .map(({ namespace, name }) => `${namespace}/${name}`)
    .toSorted();
}

const hasBlock = (object: KubernetesObject): boolean => object.spec?.['repair'] !== undefined;

const hasLimits = ({ object }: PolicySet['policies'][number]): boolean => object.spec?.['repairLimits'] !== undefined;

const nameOf = ({ kind, metadata }: KubernetesObject): string => `${kind} ${metadata.name}`;

/**
 * The repair settings for the nodes of a pool. A node without a NodePool is reached only by a policy whose selector is empty.
 * A policy that selects the pool and cannot be read might forbid what the others allow, so nothing is repaired until it can be
 * (I6). One whose very selector cannot be read selects nothing. Both are reported on their own object.
 *
 * @param profile the provider's statements; undefined: those before 1.15
 */
export function effectiveRepair(
  pool: KubernetesObject | undefined,
  policySet: PolicySet,
  profile?: ProviderPolicies,
): EffectiveRepair {
  const applying = policiesFor(pool, policySet);
  const unreadable = unreadableFor(pool, policySet);
  const holders = [...(pool ? [pool] : []), ...[...applying, ...unreadable].map(({ object }) => object)];
  const holder = holders.find(hasBlock);
  const { mode } = decisionFor(pool, 'repair', policySet);
  const limits = policySet.policies.some(hasLimits) ? limitsInForce(applying, policySet, mode) : undefined;
  const found = { mode, ...(limits && { limits }) };
  if (holder === undefined) return { settings: undefined, source: undefined, ...found };
  const source = nameOf(holder);
  const [fault] = unreadable;
  if (fault !== undefined) {
    const by = nameOf(fault.object);
    return { settings: { invalid: `${by}: ${fault.message}` }, source: by, ...found };
  }
  const block = parseRepairBlock(holder.spec?.['repair'], 'spec.repair');
  if (!block.ok) return { settings: { invalid: `${source}: ${block.message}` }, source, ...found };
  if (limits?.fault !== undefined) return { settings: { invalid: limits.fault }, source, ...found };
  return { settings: { ...block.value, provided: statementsOfProvider(profile) }, source, ...found };
}

type Policies = PolicySet['policies'];

/**
 * Those of every policy that selects the pool, whichever of them its repair block comes from: a limit of a zone or of the cluster that a more
 * specific block could lift would be none. What a policy in mode `Observe` says limits no repair that is enforced.
 *
 * @param applying the policies that select the pool
 */
function limitsInForce(applying: Policies, { policies }: PolicySet, mode: Mode): LimitsInForce {
  const stating = policies.filter(({ object }) => object.spec?.['repairLimits'] !== undefined);
  const basis = stating.map(({ object: { metadata } }) => `${metadata.uid}@${metadata.generation ?? 0}`).toSorted();
  const binding: StatedLimits[] = [];
  let fault: string | undefined;
  for (const policy of stating) {
    if (!applying.includes(policy) || (policy.mode === 'Observe' && mode === 'Enforce')) continue;
    const { kind, metadata, spec } = policy.object;
    const source = `${kind} ${metadata.name}`;
    const read = parseRepairLimits(spec?.['repairLimits'], 'spec.repairLimits');
    if (read.ok) binding.push({ source, ...read.value });
    else fault ??= `${source}: ${read.message}`;
  }
  return { basis: basis.join(' '), binding, ...(fault !== undefined && { fault }) };
}

const schema = z.object({ generation: z.number(), spec: z.custom<JsonObject>(value => typeof value === 'object') });

type AcceptedPolicy = Readonly<z.output<typeof schema>>;

const codec: RecordCodec<AcceptedPolicy> = checkedCodec(OWNER, schema, 1);

const recordId = (uid: string): string => `policy/${uid}`;

/** A deletion whose event was lost is noticed after this long. */
const CHECK = hours(24);

/**
 * What is wrong with a policy's frame or repair block, with the fields' paths; undefined when both can be used.
 *
 * @param scope `all`: also with the blocks that are other functions' to use
 */
export function faultOf({ spec }: KubernetesObject, scope: 'repair' | 'all' = 'repair'): string | undefined {
  const partOf = <Value>(
    name: 'repair' | 'repairLimits' | 'drain' | 'termination' | 'protection',
    parse: (block: unknown, path: string) => Parsed<Value>,
  ): Parsed<Value> | undefined => (spec?.[name] === undefined ? undefined : parse(spec[name], `spec.${name}`));
  const others = [
    partOf('drain', parseDrainLimits),
    partOf('termination', parseTerminationBlock),
    partOf('protection', parseProtectionBlock),
  ];
  const own = [partOf('repair', parseRepairBlock), partOf('repairLimits', parseRepairLimits)];
  const parts = [parsePolicyFrame(spec), ...own, ...(scope === 'all' ? others : [])];
  const faults = parts.flatMap(part => (part === undefined || part.ok ? [] : [part.message]));
  return faults.length === 0 ? undefined : faults.join('; ');
}

/** Of the policies that cannot be read, by UID: the generation that was accepted last. */
export async function acceptedGenerations(
  { records }: Pick<FunctionDeps, 'records'>,
  objects: readonly KubernetesObject[],
): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (const object of objects.filter(each => faultOf(each) !== undefined)) {
    const { uid } = object.metadata;
    const accepted = await loadAccepted(records, uid);
    if (accepted !== undefined) found.set(uid, accepted.generation);
  }
  return found;
}

/** The policies as they are in force: one that cannot be read has the spec that was accepted last, where there was one. */
export async function withLastAccepted(
  { records }: Pick<FunctionDeps, 'records'>,
  objects: readonly KubernetesObject[],
): Promise<readonly KubernetesObject[]> {
  return inParallel(
    objects.map(async object => {
      if (faultOf(object) === undefined) return object;
      const accepted = await loadAccepted(records, object.metadata.uid);
      return accepted === undefined ? object : { ...object, spec: accepted.spec };
    }),
  );
}

async function loadAccepted(
  records: Pick<FunctionDeps['records'], 'get'>,
  uid: string,
): Promise<AcceptedPolicy | undefined> {
  const loaded = readRecord(codec, await records.get({ owner: OWNER, id: recordId(uid) }));
  return loaded.kind === 'known' ? loaded.value : undefined;
}

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'>;

/** Remembers a policy that can be used. */
export async function rememberAccepted(deps: Deps, object: KubernetesObject, wakeUp?: UsedWakeUp): Promise<void> {
  const { metadata, spec = {} } = object;
  const isFaulty = faultOf(object) !== undefined;
  const record = openRecord(deps, codec, recordId(metadata.uid), wakeUp);
  const value: AcceptedPolicy = { generation: metadata.generation ?? 0, spec };
  const { apiVersion, kind } = object;
  await updateRecord(`NodeLifecyclePolicy ${metadata.name}`, record, async loaded => {
    if (!isFaulty && loaded.kind === 'known' && loaded.value.generation > value.generation) return DONE;
    const subject = { apiVersion, kind, name: metadata.name, uid: metadata.uid };
    // A policy that was broken keeps what was accepted last, and its timer.
    if (isFaulty && loaded.kind === 'none') return DONE;
    const kept = isFaulty && loaded.kind === 'known' ? loaded.value : value;
    return written(await record.save({ subject, value: kept, wakeTime: addDuration(deps.clock.now(), CHECK) }));
  });
}

/** The policy is gone. */
export async function forgetAccepted(deps: Deps, uid: string): Promise<void> {
  const record = openRecord(deps, codec, recordId(uid));
  await updateRecord(`the record of policy ${uid}`, record, () => record.closeNow());
}
