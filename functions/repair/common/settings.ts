/**
 * Finds the repair block in force for a pool: the NodePool's own wins over a NodeLifecyclePolicy, a more specific
 * policy over a general one, and the first by name among equals. Pure.
 */
import type {
  RepairBlockInForce,
  RepairLimitsInForce,
  RepairInForce,
  StatedLimits,
} from '../node/rule/settings-in-force.ts';
import { readableSettings } from '../node/rule/incident.ts';
import type { VetoSource } from '../node/rule/vetoes.ts';
import type { ClusterNodes } from '../rule/pool-facts.ts';
import { poolOf } from '../rule/pool-members.ts';
import type { BlockGroup } from '../../../shared/cluster/kept-policies.ts';
import type { Mode } from '../../../shared/contract/policy-schema.ts';
import { parseRepairLimits } from '../../../shared/contract/repair-limits-schema.ts';
import { parseRepairBlock } from '../../../shared/contract/repair-schema.ts';
import { kindAndName, type KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { nearestName } from '../../../shared/domain/nearest-name.ts';
import { indexOwners, ownerOf } from '../../../shared/domain/node-owner.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { DO_NOT_REPAIR_ANNOTATION, type NodeView } from '../../../shared/domain/node.ts';
import { type ProviderPolicies, repairConditionsOfProvider } from '../../../shared/domain/provider-policies.ts';
import {
  AWS_REPAIR_CONDITIONS,
  type RepairCondition,
  repairConditionsOf,
} from '../../../shared/domain/repair-policy.ts';
import { decisionFor, hasBlock } from '../../../shared/policies/deciding-policy.ts';
import { policiesFor, type PolicySet, unreadablePoliciesFor } from '../../../shared/policies/policy-set.ts';

/** Sources of the settings of every pool. */
export interface SettingsSources {
  readonly policies: PolicySet;
  readonly gateOpen: boolean;
  /** The provider's repair conditions; undefined: those before 1.15. */
  readonly providerPolicies?: ProviderPolicies | undefined;
}

/** The repair in force for the nodes of a pool. @param pool undefined: the nodes without a NodePool */
export function repairInForce(
  pool: KubernetesObject | undefined,
  { policies, gateOpen, providerPolicies }: SettingsSources,
): RepairInForce {
  return { ...repairBlockInForce(pool, policies, providerPolicies), gateOpen, poolVeto: pool && vetoOfPool(pool) };
}

/** The veto that a NodePool may carry against the repair of its nodes. */
const vetoOfPool = ({ metadata: { name, uid, annotations } }: KubernetesObject): VetoSource => ({
  kind: 'NodePool',
  name,
  uid,
  value: annotations?.[DO_NOT_REPAIR_ANNOTATION],
});

/** The repair conditions by which a node is unhealthy: the provider's if nothing is set. */
export function repairConditionsUnder(repair: Pick<RepairBlockInForce, 'settings'>): readonly RepairCondition[] {
  const settings = readableSettings(repair);
  return settings === undefined ? AWS_REPAIR_CONDITIONS : repairConditionsOf(settings);
}

/** Settings by which nodes of other pools count. @property mode the mode of the pool whose guards count them */
type CountingSources = Omit<SettingsSources, 'gateOpen'> & { readonly mode: Mode };

/**
 * The repair conditions by which the nodes of each pool are unhealthy, by name of the pool. A block that is only observed says
 * nothing to a pool that is enforced: what is tried in one pool changes nothing in others.
 */
function repairConditionsByPool(
  pools: ReadonlyMap<string, KubernetesObject>,
  { policies: all, providerPolicies, mode: countingMode }: CountingSources,
): (name: string | undefined) => readonly RepairCondition[] {
  const isCounted = ({ object, mode }: Policies[number]): boolean =>
    countingMode === 'Observe' || mode === 'Enforce' || !hasBlock(object, 'repair');
  const policies = { ...all, policies: all.policies.filter(isCounted) };
  const conditionsByPool = new Map<string | undefined, readonly RepairCondition[]>();
  return name => {
    const pool = name === undefined ? undefined : pools.get(name);
    const conditions =
      conditionsByPool.get(name) ?? repairConditionsUnder(repairBlockInForce(pool, policies, providerPolicies));
    conditionsByPool.set(name, conditions);
    return conditions;
  };
}

/** Objects that were read of a cluster. @property claims all NodeClaims; undefined: they were not read */
interface ReadCluster {
  readonly nodes: readonly NodeView[];
  readonly claims: readonly NodeClaimView[] | undefined;
  readonly pools: ReadonlyMap<string, KubernetesObject>;
}

/** Finds the repair conditions, NodeClaims and vetoes of all nodes. A node belongs to the pool that its NodeClaim names, else to that of its label. */
export function clusterNodesOf(
  { nodes, claims, pools }: ReadCluster,
  sources: CountingSources,
  instanceEnds: ClusterNodes['instanceEnds'] = new Map(),
): ClusterNodes {
  const owners = indexOwners(nodes, claims ?? []);
  const repairConditions = repairConditionsByPool(pools, sources);
  return {
    nodes,
    owners: claims && owners,
    pools: [...pools.keys()],
    repairConditionsOf: node => repairConditions(poolOf(node, ownerOf(node, owners))),
    vetoOfPool(name) {
      const pool = name === undefined ? undefined : pools.get(name);
      return pool && vetoOfPool(pool);
    },
    instanceEnds,
  };
}

/**
 * The repair settings for the nodes of a pool. A node without a NodePool is reached only by a policy whose selector
 * is empty. A policy that selects the pool and cannot be read might forbid what the others allow, so nothing is
 * repaired until it can be (I6). One whose very selector cannot be read selects nothing. Both are reported on their own
 * object.
 *
 * @param profile the provider's repair conditions; undefined: those before 1.15
 */
export function repairBlockInForce(
  pool: KubernetesObject | undefined,
  policySet: PolicySet,
  profile?: ProviderPolicies,
): RepairBlockInForce {
  const applying = policiesFor(pool, policySet);
  const unreadable = unreadablePoliciesFor(pool, policySet);
  const objects = [...(pool ? [pool] : []), ...[...applying, ...unreadable].map(({ object }) => object)];
  const stated = objects.find(object => hasBlock(object, 'repair'));
  const { mode } = decisionFor(pool, 'repair', policySet);
  const limits = limitsInForce(applying, policySet, mode);
  const modeAndLimits = { mode, ...(limits && { limits }) };
  if (stated === undefined) return { settings: undefined, source: undefined, ...modeAndLimits };
  const source = kindAndName(stated);
  const [fault] = unreadable;
  if (fault !== undefined) {
    const by = kindAndName(fault.object);
    return { settings: { invalid: `${by}: ${fault.message}` }, source: by, ...modeAndLimits };
  }
  const block = parseRepairBlock(stated.spec?.['repair'], 'spec.repair');
  if (!block.ok) return { settings: { invalid: `${source}: ${block.message}` }, source, ...modeAndLimits };
  if (limits?.fault !== undefined) return { settings: { invalid: limits.fault }, source, ...modeAndLimits };
  return { settings: { ...block.value, provided: repairConditionsOfProvider(profile) }, source, ...modeAndLimits };
}

type Policies = PolicySet['policies'];

/**
 * The limits of every policy that selects the pool, whichever of them its repair block comes from: a limit of a zone or
 * of the cluster that a more specific block could lift would be none. A policy in mode `Observe` limits no repair that
 * is enforced.
 *
 * @param applying the policies that select the pool
 */
function limitsInForce(applying: Policies, { policies }: PolicySet, mode: Mode): RepairLimitsInForce | undefined {
  const objects = policies.filter(({ object }) => hasBlock(object, 'repairLimits'));
  if (objects.length === 0) return undefined;
  const generations = objects
    .map(({ object: { metadata } }) => `${metadata.uid}@${metadata.generation ?? 0}`)
    .toSorted();
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
  return { policyGenerations: generations.join(' '), binding, ...(fault !== undefined && { fault }) };
}

/** The blocks of a policy that repair uses. A version of a policy counts with both. */
export const OWN_BLOCKS: BlockGroup = {
  blocks: [
    { block: 'repair', parse: parseRepairBlock },
    { block: 'repairLimits', parse: parseRepairLimits },
  ],
  idPrefix: 'policy/',
};

/**
 * A message for each condition type that no repair condition watches, with the nearest known name; none for a block that cannot be
 * read.
 */
export function unwatchedTypes({ spec }: Pick<KubernetesObject, 'spec'>): readonly string[] {
  const block = spec?.['repair'];
  const parsed = block === undefined ? undefined : parseRepairBlock(block, 'spec.repair');
  if (parsed?.ok !== true) return [];
  const own = new Set(parsed.value.conditions.map(({ type }) => type));
  const watched = [...new Set(AWS_REPAIR_CONDITIONS.map(({ type }) => type))];
  return parsed.value.overrides.flatMap(({ conditionType: type }, index) => {
    if (watched.includes(type)) return [];
    const path = `spec.repair.policies.${index}.conditionType`;
    if (own.has(type)) {
      return [`${path}: ${type} is one of spec.repair.conditions and has its toleration there: this one has no effect`];
    }
    const near = nearestName(type, watched);
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    const watchedText = `watched are ${watched.toSorted().join(', ')}, and what spec.repair.conditions adds`;
    return [`${path}: no rule watches ${JSON.stringify(type)}, this has no effect${hint} (${watchedText})`];
  });
}
