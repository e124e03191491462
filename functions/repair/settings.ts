/**
 * Which repair block is in force for a pool: the NodePool's own wins over a NodeLifecyclePolicy, a more specific
 * policy over a general one, ties by name. Of a policy that an edit broke, the generation that was accepted last stays
 * in force until the mistake is mended; a policy that never was valid stops the repairs of the pools that it selects
 * (I6). One record per policy, written when its event is looked at.
 */
import { OWNER } from './record.ts';
import type { EffectiveRepair, LimitsInForce, RepairRules, StatedLimits } from './rule/verdict.ts';
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import {
  type BlockGroup,
  faultIn,
  keepPolicy,
  lastVersions,
  loadPolicySets,
  withLastGood,
} from '../../shared/cluster/kept-policies.ts';
import { loadPool } from '../../shared/cluster/known-pool.ts';
import { listPolicies } from '../../shared/cluster/node-pool.ts';
import type { Configuration } from '../../shared/cluster/read-configuration.ts';
import { parseDrainLimits } from '../../shared/contract/drain-limits-schema.ts';
import { type Mode, parseNodePoolSelector } from '../../shared/contract/policy-schema.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { parseRepairLimits } from '../../shared/contract/repair-limits-schema.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import { parseTerminationBlock } from '../../shared/contract/termination-schema.ts';
import { kindAndName, qualifiedName, type KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { nearestName } from '../../shared/domain/nearest-name.ts';
import { DO_NOT_REPAIR_ANNOTATION } from '../../shared/domain/node.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import { isProtected } from '../../shared/domain/protection.ts';
import { type ProviderPolicies, statementsOfProvider } from '../../shared/domain/provider-policies.ts';
import { AWS_REPAIR_STATEMENTS } from '../../shared/domain/repair-policy.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { reportWarning } from '../../shared/lifecycle/refusals.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import type { UsedWakeUp } from '../../shared/lifecycle/timed-record.ts';
import { reportBlockFault } from '../../shared/policies/block-faults.ts';
import { type BlockReader, decisionFor, hasBlock } from '../../shared/policies/deciding-policy.ts';
import { policiesFor, type PolicySet, readPolicies, unreadableFor } from '../../shared/policies/policy-set.ts';
import { effectiveProtection, PROTECTION } from '../../shared/policies/protection-settings.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { objectOf } from '../../shared/ports/read-answer.ts';

/** The rules of a pool, and where they come from. */
export interface PoolRules {
  readonly repair: RepairRules;
  readonly pool: KubernetesObject | undefined;
  /** The same, or as it was before it went: what it granted to pods still counts. */
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
  const [config, known, [policies]] = await inParallel([
    loadConfig(OWNER, deps, seen?.config),
    loadPool(deps, pool),
    loadPolicySets(deps, OWNER, [OWN]),
  ]);
  // Nothing is repaired for the sake of a NodePool that went; what it granted to pods still counts.
  const nodePool = known?.metadata.uid === '' ? undefined : known;
  const value = nodePool?.metadata.annotations?.[DO_NOT_REPAIR_ANNOTATION];
  const poolVeto = nodePool && {
    kind: 'NodePool' as const,
    name: nodePool.metadata.name,
    uid: nodePool.metadata.uid,
    value,
  };
  const effective = effectiveRepair(nodePool, policies, config.providerPolicies);
  const repair = { ...effective, gateOpen: config.featureGates.nodeRepair, poolVeto };
  return { repair, pool: nodePool, known, policies, config };
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
    .map(qualifiedName)
    .toSorted();
}

const hasLimits = ({ object }: PolicySet['policies'][number]): boolean => object.spec?.['repairLimits'] !== undefined;

/**
 * The repair settings for the nodes of a pool. A node without a NodePool is reached only by a policy whose selector
 * is empty. A policy that selects the pool and cannot be read might forbid what the others allow, so nothing is
 * repaired until it can be (I6). One whose very selector cannot be read selects nothing. Both are reported on their own
 * object.
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
  const objects = [...(pool ? [pool] : []), ...[...applying, ...unreadable].map(({ object }) => object)];
  const stated = objects.find(object => hasBlock(object, 'repair'));
  const { mode } = decisionFor(pool, 'repair', policySet);
  const limits = policySet.policies.some(hasLimits) ? limitsInForce(applying, policySet, mode) : undefined;
  const found = { mode, ...(limits && { limits }) };
  if (stated === undefined) return { settings: undefined, source: undefined, ...found };
  const source = kindAndName(stated);
  const [fault] = unreadable;
  if (fault !== undefined) {
    const by = kindAndName(fault.object);
    return { settings: { invalid: `${by}: ${fault.message}` }, source: by, ...found };
  }
  const block = parseRepairBlock(stated.spec?.['repair'], 'spec.repair');
  if (!block.ok) return { settings: { invalid: `${source}: ${block.message}` }, source, ...found };
  if (limits?.fault !== undefined) return { settings: { invalid: limits.fault }, source, ...found };
  return { settings: { ...block.value, provided: statementsOfProvider(profile) }, source, ...found };
}

type Policies = PolicySet['policies'];

/**
 * Those of every policy that selects the pool, whichever of them its repair block comes from: a limit of a zone or of
 * the cluster that a more specific block could lift would be none. What a policy in mode `Observe` says limits no
 * repair that is enforced.
 *
 * @param applying the policies that select the pool
 */
function limitsInForce(applying: Policies, { policies }: PolicySet, mode: Mode): LimitsInForce {
  const objects = policies.filter(({ object }) => object.spec?.['repairLimits'] !== undefined);
  const basis = objects.map(({ object: { metadata } }) => `${metadata.uid}@${metadata.generation ?? 0}`).toSorted();
  const binding: StatedLimits[] = [];
  let fault: string | undefined;
  for (const policy of objects) {
    if (!applying.includes(policy) || (policy.mode === 'Observe' && mode === 'Enforce')) continue;
    const { spec } = policy.object;
    const source = kindAndName(policy.object);
    const read = parseRepairLimits(spec?.['repairLimits'], 'spec.repairLimits');
    if (read.ok) binding.push({ source, ...read.value });
    else fault ??= `${source}: ${read.message}`;
  }
  return { basis: basis.join(' '), binding, ...(fault !== undefined && { fault }) };
}

const REPAIR: BlockReader = { block: 'repair', parse: parseRepairBlock };
const LIMITS: BlockReader = { block: 'repairLimits', parse: parseRepairLimits };

/** A version of a policy that repair goes by counts with both. */
const OWN: BlockGroup = { blocks: [REPAIR, LIMITS], idPrefix: 'policy/' };

const ALL: readonly BlockReader[] = [
  ...OWN.blocks,
  { block: 'drain', parse: parseDrainLimits },
  { block: 'termination', parse: parseTerminationBlock },
  PROTECTION,
];

/**
 * What is wrong with a policy, with the fields' paths; undefined when it can be used. Also with the blocks that are
 * other functions' to use.
 */
export const faultOf = (object: KubernetesObject): string | undefined => faultIn(object, ALL);

/** The policies as they are in force, and by UID the generation of each that counts. */
export async function loadInForce(
  deps: Pick<FunctionDeps, 'kubernetes' | 'records'>,
  objects: readonly KubernetesObject[],
): Promise<{ readonly policies: PolicySet; readonly generations: ReadonlyMap<string, number | undefined> }> {
  const versions = await lastVersions(deps, OWNER, OWN, objects);
  const generations = objects.map(object => {
    const { uid, generation } = object.metadata;
    const isRead = faultIn(object, OWN.blocks) === undefined;
    return [uid, isRead ? generation : versions.get(uid)?.generation] as const;
  });
  return { policies: readPolicies(withLastGood(objects, versions)), generations: new Map(generations) };
}

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'> & { readonly reporter: Reporter };

const INVALID = EVENT_REASONS.invalidRepairConfiguration;

/**
 * Tells the author of a NodePool, on it, what is wrong with its repair block (I8).
 * @param resync it is only published again: the Event of a fault is recorded once more
 */
export async function reportNodePool(deps: Deps, { name }: Pick<Subject, 'name'>, resync = false): Promise<void> {
  const object = objectOf(await deps.kubernetes.get({ type: RESOURCES.NodePool, name }), { notServed: 'none' });
  const block = object?.spec?.['repair'];
  if (object === undefined || block === undefined) return;
  const parsed = parseRepairBlock(block, 'spec.repair');
  if (parsed.ok && !resync) await reportUnwatched(deps, object);
  const fault = parsed.ok ? undefined : parsed.message;
  const effect = 'the nodes it applies to are not repaired until it is valid';
  await reportBlockFault(deps.reporter, object, undefined, {
    block: 'repair',
    fault,
    reason: INVALID,
    effect,
    isRepeated: resync,
  });
}

/**
 * The same for a policy, and its ties with the other policies: also those of policies that this one may have
 * overtaken. What can be used of it is kept.
 */
export async function reportPolicy(
  deps: Deps,
  subject: Subject,
  { wakeUp, resync = false }: { readonly wakeUp?: UsedWakeUp; readonly resync?: boolean | undefined } = {},
): Promise<void> {
  await keepPolicy(deps, { owner: OWNER, readers: [OWN] }, subject, wakeUp);
  const objects = await listPolicies(deps);
  const object = objects.find(({ metadata }) => metadata.name === subject.name);
  if (object === undefined) return;
  const fault = faultIn(object, OWN.blocks);
  const isNews = !resync && wakeUp === undefined;
  if (fault === undefined && isNews) await reportUnwatched(deps, object);
  const effect = parseNodePoolSelector(object.spec).ok
    ? 'what was accepted last stays in force; without it the nodes it applies to are not repaired until it is valid'
    : 'what was accepted last stays in force; without it it applies to no NodePool until it is valid';
  await reportBlockFault(deps.reporter, object, wakeUp === undefined ? readPolicies(objects) : undefined, {
    block: 'repair',
    fault,
    reason: INVALID,
    effect,
    isRepeated: !isNews,
  });
}

async function reportUnwatched({ reporter }: Deps, object: KubernetesObject): Promise<void> {
  const refuse = reportWarning(reporter, object, EVENT_REASONS.unknownConditionType, 'refuse');
  for (const message of unwatchedTypes(object)) await refuse(message, false);
}

/** A message for each such type, with the nearest known name; none for a block that cannot be read. */
export function unwatchedTypes({ spec }: Pick<KubernetesObject, 'spec'>): readonly string[] {
  const block = spec?.['repair'];
  const parsed = block === undefined ? undefined : parseRepairBlock(block, 'spec.repair');
  if (parsed?.ok !== true) return [];
  const own = new Set(parsed.value.conditions.map(({ type }) => type));
  const watched = [...new Set(AWS_REPAIR_STATEMENTS.map(({ type }) => type))];
  return parsed.value.overrides.flatMap(({ conditionType: type }, index) => {
    if (watched.includes(type)) return [];
    const path = `spec.repair.policies.${index}.conditionType`;
    if (own.has(type)) {
      return [`${path}: ${type} is one of spec.repair.conditions and has its toleration there: this one has no effect`];
    }
    const near = nearestName(type, watched);
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    const known = `watched are ${watched.toSorted().join(', ')}, and what spec.repair.conditions adds`;
    return [`${path}: no rule watches ${JSON.stringify(type)}, this has no effect${hint} (${known})`];
  });
}
