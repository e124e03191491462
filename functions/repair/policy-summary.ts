/**
 * Decides the status of a policy: whether the policy is accepted and in force, what it selects, how the repairs there
 * stand, and whether the status is written now. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import { repairBlockInForce } from './settings.ts';
import type { ClusterFacts, PolicyFacts, PoolCounts } from './policy-facts.ts';
import { poolsTerminatedByKarpenter, type PolicyCondition, warningsOf } from './policy-warnings.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { isJsonObject, listIn } from '../../shared/domain/json.ts';
import { type JsonObject, kindAndName, type KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { specificity } from '../../shared/domain/label-selector.ts';
import { type EpochMs, toTimestamp } from '../../shared/domain/time.ts';
import { hasBlock, isBlockless, protectionDecisions } from '../../shared/policies/deciding-policy.ts';
import { policiesFor, type PolicySet } from '../../shared/policies/policy-set.ts';

export interface PolicySummary {
  readonly nodePools: number;
  readonly nodes: number;
  readonly held: number;
  readonly repairing: number;
  readonly pools: readonly JsonObject[];
  readonly conditions: readonly PolicyCondition[];
}

/** The number of pools that a status lists; the sums count all. */
const LISTED_POOLS = 100;

const BLOCKS = ['repair', 'repairLimits', 'drain', 'termination', 'protection'] as const;

/**
 * The policies whose block counts for a pool: usually one. A protection that is only observed stands before one that
 * is in force.
 */
function policiesWith(
  pool: KubernetesObject | undefined,
  block: (typeof BLOCKS)[number],
  inForce: PolicySet,
): PolicySet['policies'] {
  const stating = policiesFor(pool, inForce).filter(({ object }) => hasBlock(object, block));
  if (block === 'repairLimits') return stating;
  if (block === 'protection') {
    const { enforced, observed } = protectionDecisions(pool, inForce);
    return [enforced, observed].filter(each => each !== undefined);
  }
  return stating.slice(0, 1);
}

/**
 * Counts the nodes of selected pools. `held` and `repairing` count only pools for which this policy is the source of
 * the repair block, and which this version counts. At most `LISTED_POOLS` pools are listed by name.
 */
export function summarize(policy: PolicyFacts, facts: ClusterFacts): PolicySummary {
  const { inForce, pools } = facts;
  const { uid } = policy.object.metadata;
  const own = inForce.policies.find(({ object }) => object.metadata.uid === uid);
  const isOwn = ({ object }: { readonly object: KubernetesObject }): boolean => object.metadata.uid === uid;
  const selected = pools.filter(({ pool }) => policiesFor(pool, inForce).some(isOwn));
  const source = kindAndName(policy.object);
  const repaired = selected.filter(({ pool }) => repairBlockInForce(pool, inForce).source === source);
  const isInForce = BLOCKS.some(block => selected.some(({ pool }) => policiesWith(pool, block, inForce).some(isOwn)));
  const sumOf = (key: 'held' | 'repairing'): number =>
    repaired.reduce((total, { repairs }) => total + (repairs?.[key] ?? 0), 0);
  const named = selected.filter(({ pool }) => pool !== undefined);
  const listed = selected.filter(({ pool, nodes }) => pool !== undefined || nodes > 0);
  return {
    nodePools: named.length,
    nodes: selected.reduce((total, { nodes }) => total + nodes, 0),
    held: sumOf('held'),
    repairing: sumOf('repairing'),
    pools: listed.slice(0, LISTED_POOLS).map(each => ({
      name: each.pool?.metadata.name ?? '',
      nodes: each.nodes,
      ...(repaired.includes(each) ? each.repairs : { held: 0, repairing: 0 }),
    })),
    conditions: [
      acceptedCondition(policy),
      activeCondition(policy, own, { selected, repaired, isInForce, gateOpen: facts.gateOpen }),
      ...warningsOf(policy, facts, {
        poolsKarpenterTerminates: poolsTerminatedByKarpenter(selected, inForce, isOwn),
        uncounted: repaired.filter(({ repairs }) => repairs === undefined),
      }),
    ],
  };
}

function acceptedCondition({ object, fault, acceptedGeneration }: PolicyFacts): PolicyCondition {
  if (fault === undefined) {
    return { type: 'Accepted', status: 'True', reason: 'Valid', message: 'every field can be used' };
  }
  const kept =
    acceptedGeneration === undefined
      ? 'no generation of it was ever accepted'
      : acceptedGeneration === object.metadata.generation
        ? 'the other blocks are in force, and a block with a fault as it could be read last'
        : `generation ${acceptedGeneration}, which was accepted last, stays in force`;
  return { type: 'Accepted', status: 'False', reason: 'Invalid', message: `${fault}; ${kept}` };
}

interface PolicyReach {
  readonly selected: readonly PoolCounts[];
  readonly repaired: readonly PoolCounts[];
  readonly isInForce: boolean;
  readonly gateOpen: boolean;
}

function activeCondition(
  { fault, acceptedGeneration }: PolicyFacts,
  own: PolicySet['policies'][number] | undefined,
  { selected, repaired, isInForce, gateOpen }: PolicyReach,
): PolicyCondition {
  const inactive = (reason: string, message: string): PolicyCondition => ({
    type: 'Active',
    status: 'False',
    reason,
    message,
  });
  if (own === undefined || (fault !== undefined && acceptedGeneration === undefined)) {
    return inactive('NotAccepted', 'it cannot be read, and no generation of it was ever accepted');
  }
  const pools = selected.filter(({ pool }) => pool !== undefined);
  if (pools.length === 0 && specificity(own.selector) > 0) return inactive('SelectsNothing', 'it selects no NodePool');
  if (isBlockless(own.object) && own.mode === 'Observe') return BRAKING;
  const blocks = BLOCKS.filter(block => hasBlock(own.object, block));
  if (blocks.length === 0) return inactive('NoBlock', `it has none of ${BLOCKS.join(', ')}`);
  if (!isInForce)
    return inactive('Overridden', 'a more specific policy, or the first by name, comes before it everywhere');
  if (blocks.every(block => block === 'repair' || block === 'repairLimits')) {
    if (repaired.length === 0 && !blocks.includes('repairLimits'))
      return inactive('Overridden', 'every NodePool that it selects has a repair block of its own');
    if (!gateOpen) return inactive('GateOff', 'featureGates.nodeRepair is off in ConfigMap curfew/curfew-config');
  }
  const mode = own.mode === 'Observe' ? ', in mode Observe' : '';
  const what = `in force${mode}: ${blocks.join(', ')}`;
  return { type: 'Active', status: 'True', reason: own.mode === 'Observe' ? 'Observing' : 'InForce', message: what };
}

/** The condition of a policy in mode `Observe` without any block, which holds what would begin. */
const BRAKING: PolicyCondition = {
  type: 'Active',
  status: 'True',
  reason: 'Observing',
  message:
    'it has no block: repairs, terminations and drains that would begin in its NodePools are held, except by a policy at least as specific that has the block; protection is not affected',
};

/** Decision on the status of one policy. */
export type StatusDecision =
  /** The status says so already. */
  | { readonly kind: 'same' }
  /** Nothing but numbers differs, and those are written later. */
  | { readonly kind: 'later' }
  /** The status is written. @property warning its news about Karpenter's finalizer */
  | { readonly kind: 'write'; readonly status: JsonObject; readonly warning: PolicyCondition | undefined };

/** Decides on the status of one policy. @param counts a status of which nothing but numbers differs is written, too */
export function decideStatus(
  policy: PolicyFacts,
  cluster: ClusterFacts,
  { counts, now }: { readonly counts: boolean; readonly now: EpochMs },
): StatusDecision {
  const { object } = policy;
  const summary = summarize(policy, cluster);
  const status = statusOf(policy, summary, now);
  if (status === undefined) return { kind: 'same' };
  if (!counts && differsByNumbers(object.status, status)) return { kind: 'later' };
  return { kind: 'write', status, warning: newWarning(object, summary) };
}

/**
 * The warning that Karpenter's finalizer keeps the policy's terminations from being in force; undefined: the status has
 * said so already, or there is none.
 */
function newWarning({ status }: KubernetesObject, { conditions }: PolicySummary): PolicyCondition | undefined {
  const warning = conditions.find(({ type }) => type === 'Warning');
  if (warning === undefined || !SAID_HERE.includes(warning.reason)) return undefined;
  const warningBefore = conditionsOf(status).find(({ type }) => type === 'Warning');
  const isReported = warningBefore?.['reason'] === warning.reason && warningBefore['message'] === warning.message;
  return isReported ? undefined : warning;
}

const SAID_HERE: readonly string[] = [EVENT_REASONS.hooksDoNotHold, EVENT_REASONS.replaceNotInForce];

/** The status to be written; undefined: it says so already. */
function statusOf(
  { object: { metadata, status }, acceptedGeneration }: PolicyFacts,
  summary: PolicySummary,
  now: EpochMs,
): JsonObject | undefined {
  const observedGeneration = metadata.generation ?? 0;
  const conditionsBefore = conditionsOf(status);
  const conditions = summary.conditions.map((condition): JsonObject => {
    const old = conditionsBefore.find(({ type }) => type === condition.type);
    const since = old?.['status'] === condition.status ? old['lastTransitionTime'] : undefined;
    return { ...condition, observedGeneration, lastTransitionTime: since ?? toTimestamp(now) };
  });
  // Null stands for a field that is absent, and takes it away in a merge patch.
  const own = { observedGeneration, acceptedGeneration: acceptedGeneration ?? null };
  const next: JsonObject = { ...summary, pools: [...summary.pools], conditions, ...own };
  const isSame = Object.entries(next).every(([key, value]) => isDeepStrictEqual(status?.[key] ?? null, value));
  return isSame ? undefined : next;
}

/** Whether nothing but numbers differs, and neither `held` nor `repairing` becomes zero or ceases to be. */
function differsByNumbers(statusBefore: JsonObject | undefined, next: JsonObject): boolean {
  const isAny = (status: JsonObject | undefined, key: string): boolean => (status?.[key] ?? 0) !== 0;
  return (
    ['conditions', 'observedGeneration'].every(key => isDeepStrictEqual(statusBefore?.[key], next[key])) &&
    ['held', 'repairing'].every(key => isAny(statusBefore, key) === isAny(next, key))
  );
}

const conditionsOf = (status: JsonObject | undefined): readonly JsonObject[] =>
  listIn(status, 'conditions').filter(isJsonObject);
