/**
 * Who counts for the guards of repair, told from the raw objects of one instant: the threshold counts nodes that repair may touch, zone
 * and cluster all but the stopped ones and those that have been going for over an hour.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { claimOf, poolOf } from './node-pool.ts';
import type { Mirror } from './mirror.ts';
import { enforcedBlockFor } from './policy-oracle.ts';
import {
  annotationOf,
  dig,
  instanceOfClaim,
  instanceOfNode,
  instantOf,
  isReservedIn,
  labelOf,
  listOf,
  poolNameOf,
  textOf,
} from './reading.ts';
import {
  isToleratedForEver,
  unhealthyConditionsOf,
  repairConditionsOf,
  type RepairCondition,
} from './repair-conditions.ts';

const ZONE_LABEL = 'topology.kubernetes.io/zone';
const STOPPED = 'node.cloudprovider.kubernetes.io/shutdown';
const VETO = 'curfew.dev/do-not-repair';
const VETO_OF_KARPENTER = 'karpenter.sh/do-not-repair';
/** An hour, but for the time between two clocks. */
const LONG_GONE = 3_600_000 - 5_000;
const RECENT = 5 * 60_000;
const OLD_ENOUGH = 10 * 60_000;

/** Nodes that are unhealthy, and all that the guard looks at. */
export interface Tally {
  readonly unhealthy: number;
  readonly total: number;
}

export interface Census {
  readonly threshold: Tally;
  readonly zone: Tally;
  /** `unhealthy`: `Ready=Unknown`. */
  readonly cluster: Tally;
}

export interface CensusFacts {
  readonly now: number;
  readonly mirror: Mirror;
  readonly node: KubernetesObject;
  readonly poolName: string | undefined;
  /** The nodes of that pool; of the cluster without one. */
  readonly neighbours: readonly KubernetesObject[];
  /** Since when the instance of a node without a NodeClaim is being ended by repair; undefined: it is not, for certain. */
  readonly endedSince: (node: KubernetesObject) => number | undefined;
  /** Who cannot be told: counted as well, and as there. */
  readonly isUncertain?: (node: KubernetesObject) => boolean;
  /** Adds those that came back in so many milliseconds, as far as it is certain that they did. */
  readonly settling?: {
    readonly window: number;
    /** Which of a node's repair conditions held before. */
    readonly wasIll: (node: KubernetesObject, repairCondition: RepairCondition) => boolean;
    readonly wasActedOn: (node: KubernetesObject) => boolean;
  };
}

export function censusOf(facts: CensusFacts): Census {
  const { mirror, now, node, poolName, neighbours, settling, endedSince, isUncertain = () => false } = facts;
  const repairConditionsFor = repairConditionsByPool(mirror);
  const hasClaim = claimedIn(mirror, poolName);
  const nodes = [...mirror.all('nodes').values()];
  const isBack = (other: KubernetesObject, counts: (repairCondition: RepairCondition) => boolean): boolean =>
    settling !== undefined &&
    !settling.wasActedOn(other) &&
    repairConditionsFor(other).some(
      repairCondition =>
        counts(repairCondition) &&
        !isToleratedForEver(repairCondition) &&
        settling.wasIll(other, repairCondition) &&
        cameBack(other, repairCondition, now, settling.window),
    );
  const tallyOf = (
    scope: readonly KubernetesObject[],
    isLeftOut: (other: KubernetesObject) => boolean,
    counts: (repairCondition: RepairCondition) => boolean,
  ): Tally => {
    let [unhealthy, total] = [0, 0];
    for (const other of scope) {
      const isUnsure = isUncertain(other);
      if (!isUnsure && isLeftOut(other)) continue;
      total += 1;
      if (isUnsure) continue;
      const found = unhealthyConditionsOf(other, repairConditionsFor(other));
      // A node has one condition of a type: those that count hide each other as all do.
      if (found.some(counts) || (found.length === 0 && isBack(other, counts))) unhealthy += 1;
    }
    return { unhealthy, total };
  };
  const goingSince = (other: KubernetesObject): number =>
    Math.min(
      ...[other, claimOf(other, mirror)].map(each => instantOf(each?.metadata.deletionTimestamp) ?? Infinity),
      endedSince(other) ?? Infinity,
    );
  const isNoSign = (other: KubernetesObject): boolean => isStopped(other) || now - goingSince(other) >= LONG_GONE;
  // Of a Node that says its pool alone nobody knows whether it had a NodeClaim: it counts while it is well.
  const isKarpenters = (other: KubernetesObject): boolean =>
    isOfClaim(other) ||
    (poolNameOf(other) !== undefined && unhealthyConditionsOf(other, repairConditionsFor(other)).length > 0);
  const isOutside = (other: KubernetesObject): boolean =>
    isStopped(other) ||
    isVetoed(other, mirror, now) ||
    (isKarpenters(other) && !hasClaim(other)) ||
    goingSince(other) < Infinity ||
    isReservedIn(dig(other, 'spec', 'taints'));
  const zone = labelOf(node, ZONE_LABEL);
  const there = zone === undefined ? [] : nodes.filter(other => labelOf(other, ZONE_LABEL) === zone);
  return {
    threshold: tallyOf(neighbours, isOutside, () => true),
    zone: tallyOf(there, isNoSign, () => true),
    cluster: darkOf(tallyOf, nodes, isNoSign),
  };
}

type TallyOf = (
  scope: readonly KubernetesObject[],
  isLeftOut: (other: KubernetesObject) => boolean,
  counts: (repairCondition: RepairCondition) => boolean,
) => Tally;

/** By the repair conditions of their pools: a node without a kubelet is dark unless its pool tolerates that for ever. */
function darkOf(tallyOf: TallyOf, nodes: readonly KubernetesObject[], isLeftOut: (other: KubernetesObject) => boolean) {
  return tallyOf(nodes, isLeftOut, ({ type, status }) => type === 'Ready' && status === 'Unknown');
}

/** The repair conditions of the pool that a node is in. */
function repairConditionsByPool(mirror: Mirror): (node: KubernetesObject) => readonly RepairCondition[] {
  const policies = [...mirror.all('nodelifecyclepolicies').values()];
  const known = new Map<string | undefined, readonly RepairCondition[]>();
  return node => {
    const name = poolOf(node, mirror);
    const repairConditions =
      known.get(name) ?? repairConditionsOf(enforcedBlockFor(mirror.named('nodepools', name), policies));
    known.set(name, repairConditions);
    return repairConditions;
  };
}

/** Whether a NodeClaim owns the Node, be it there or not. */
export const isOfClaim = ({ metadata: { ownerReferences = [] } }: KubernetesObject): boolean =>
  ownerReferences.some(({ kind }) => kind === 'NodeClaim');

/** Whether a NodeClaim of the pool stands for the node; of any without one. */
function claimedIn(mirror: Mirror, poolName: string | undefined): (node: KubernetesObject) => boolean {
  let instances: ReadonlySet<unknown> | undefined;
  return node => {
    instances ??= new Set(
      [...mirror.all('nodeclaims').values()]
        .filter(claim => poolName === undefined || poolNameOf(claim) === poolName)
        .map(instanceOfClaim),
    );
    return instances.has(instanceOfNode(node) ?? '');
  };
}

export const isStopped = (node: KubernetesObject): boolean =>
  listOf(dig(node, 'spec', 'taints')).some(taint => dig(taint, 'key') === STOPPED);

const MARKS: readonly string[] = ['karpenter.sh/rebooting', 'karpenter.sh/disrupted'];
const AUTOSCALER = 'ToBeDeletedByClusterAutoscaler';
const AUTOSCALER_TAKES = 15 * 60_000;

/** Somebody else is at work on the node, by a mark of Node or NodeClaim. */
export function isOthersWork(node: KubernetesObject, claim: KubernetesObject | undefined, now: number): boolean {
  const taints = listOf(dig(node, 'spec', 'taints'));
  const isTrue = (object: KubernetesObject | undefined, type: string): boolean =>
    listOf(dig(object, 'status', 'conditions')).some(
      each => dig(each, 'type') === type && dig(each, 'status') === 'True',
    );
  const isBeingRemoved = (taint: unknown): boolean =>
    dig(taint, 'key') === AUTOSCALER && now < Number(dig(taint, 'value') ?? 0) * 1000 + AUTOSCALER_TAKES;
  return (
    taints.some(taint => MARKS.includes(String(dig(taint, 'key'))) || isBeingRemoved(taint)) ||
    isTrue(node, 'MaintenanceInProgress') ||
    isTrue(claim, 'Rebooting') ||
    isTrue(claim, 'DisruptionReason')
  );
}

/** By an annotation of the Node, its NodeClaim or its NodePool. */
export function isVetoed(node: KubernetesObject, mirror: Mirror, now: number): boolean {
  const claim = claimOf(node, mirror);
  const poolName = poolNameOf(claim ?? node);
  const pool = mirror.named('nodepools', poolName);
  const isHeldByPool = pool !== undefined && isHeldUntil(annotationOf(pool, VETO), now);
  return isHeldByPool || [node, claim].some(object => object !== undefined && isVetoedBy(object, now));
}

/** By its own annotation. */
const isVetoedBy = (object: KubernetesObject, now: number): boolean =>
  isHeldUntil(annotationOf(object, VETO), now) || annotationOf(object, VETO_OF_KARPENTER) === 'true';

const isHeldUntil = (value: string | undefined, now: number): boolean =>
  value !== undefined && (instantOf(value) ?? Infinity) > now;

/** It was well again within the window, and was old enough by then. */
function cameBack(node: KubernetesObject, { type }: RepairCondition, now: number, window: number): boolean {
  const condition = listOf(dig(node, 'status', 'conditions')).find(each => dig(each, 'type') === type);
  const time = instantOf(dig(condition, 'lastTransitionTime'));
  const created = instantOf(node.metadata.creationTimestamp);
  if (time === undefined || created === undefined) return false;
  return time <= now && now - time < Math.min(window, RECENT) && time - created >= OLD_ENOUGH;
}

/** Why the guards hold by these counts; undefined: they let it pass. */
export function heldBy(block: unknown, { threshold, zone, cluster }: Census): string | undefined {
  if (isOutage(dig(block, 'freeze'), cluster))
    return `${cluster.unhealthy} of ${cluster.total} nodes of the cluster are dark`;
  if (isOutage(dig(block, 'zoneOutage'), zone))
    return `${zone.unhealthy} of ${zone.total} nodes of its zone are unhealthy`;
  const most = mostOf(dig(block, 'maxUnhealthy') ?? '20%', threshold.total);
  if (most === undefined || threshold.unhealthy <= most) return undefined;
  return `${threshold.unhealthy} of ${threshold.total} are unhealthy, ${most} may be`;
}

/** At least 3 nodes and 55 %, unless the block says otherwise. */
function isOutage(rule: unknown, { unhealthy, total }: Tally): boolean {
  if (rule === 'Off' || rule === false) return false;
  const least = Number(dig(rule, 'minNodes') ?? 3);
  const share = Number(/^(\d+)%$/.exec(textOf(dig(rule, 'share')) ?? '55%')?.[1]);
  return unhealthy >= least && unhealthy * 100 >= share * total;
}

/** A number, or a percentage that is rounded up; undefined: there is none, or it cannot be read. */
export function mostOf(limit: unknown, total: number): number | undefined {
  if (typeof limit === 'number') return Number.isInteger(limit) && limit >= 0 ? limit : undefined;
  const percent = /^(\d+)%$/.exec(textOf(limit) ?? '')?.[1];
  if (percent === undefined || Number(percent) > 100) return undefined;
  return Math.ceil((Number(percent) * total) / 100 - 1e-9);
}
