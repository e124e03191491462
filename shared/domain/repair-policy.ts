/**
 * The content of a `repair` block: when a node condition counts as unhealthy, how long it is tolerated, and what is
 * done then. The provider's repair conditions are those of Karpenter's AWS provider and, as in the design's example,
 * `NetworkUnavailable=True`.
 */
import { isOwnCondition } from './node-drain-conditions.ts';
import type { NodeCondition, NodeView } from './node.ts';
import { hours, minutes, toDurationMs, type DurationMs } from './time.ts';

/** Time that the pods of a node have to leave once it is terminated; `Inherit`: as long as the NodeClaim says. */
export type DrainBound = DurationMs | 'Inherit';

/** Status check that EC2 must call impaired before an act on a node that is `Ready=Unknown`: of the instance, or of an application on it. */
export const CONFIRMATIONS = ['InstanceStatus', 'ApplicationStatus'] as const;
export type Confirmation = (typeof CONFIRMATIONS)[number];

/** Fields of an entry beside its toleration. */
export interface EntryTerms {
  /** 0 to 100: of several entries that are due the highest decides. */
  readonly priority: number;
  /** Undefined: that of the block. */
  readonly drainBound?: DrainBound | undefined;
  /** Undefined: those of the block. */
  readonly actions?: readonly RepairAction[] | undefined;
  /** For `Ready=Unknown` alone. */
  readonly confirm?: Confirmation | undefined;
}

interface Reason {
  /** Set for a repair condition that names a pattern. */
  readonly matchesReason?: ((reason: string) => boolean) | undefined;
  /** The pattern. */
  readonly reason?: string | undefined;
}

/** An entry of `policies`: for the provider's repair conditions of this type, whatever the status. */
export interface RepairOverride extends EntryTerms, Reason {
  readonly conditionType: string;
  readonly toleration: DurationMs;
}

/** A condition counts as unhealthy when it is of this type, has this status and a matching reason; tolerated for this long. */
export interface RepairCondition extends Partial<EntryTerms>, Reason {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly toleration: DurationMs;
  /** Set for an entry of the user. */
  readonly isOwn?: true | undefined;
  /** Path of the toleration, from the top of the object; absent: the provider's default. */
  readonly field?: string | undefined;
}

/** A toleration that never ends: a condition to which the repair condition applies counts nowhere. */
export const NEVER: DurationMs = toDurationMs(Infinity);
const LONGEST_TOLERATION = hours(8760);
/** A toleration of a year and more is one that never ends. */
export const isNever = (toleration: DurationMs): boolean => toleration >= LONGEST_TOLERATION;

/** The key of a repair condition while it is true. */
export const keyOfRepairCondition = ({
  type,
  status,
  reason,
}: Pick<RepairCondition, 'type' | 'status' | 'reason'>): string =>
  `${type}=${status}${reason === undefined ? '' : `~${reason}`}`;

export const AWS_REPAIR_CONDITIONS: readonly RepairCondition[] = [
  { type: 'Ready', status: 'False', toleration: minutes(30) },
  { type: 'Ready', status: 'Unknown', toleration: minutes(30) },
  { type: 'AcceleratedHardwareReady', status: 'False', toleration: minutes(10) },
  { type: 'StorageReady', status: 'False', toleration: minutes(30) },
  { type: 'NetworkingReady', status: 'False', toleration: minutes(30) },
  { type: 'KernelReady', status: 'False', toleration: minutes(30) },
  { type: 'ContainerRuntimeReady', status: 'False', toleration: minutes(30) },
  { type: 'NetworkUnavailable', status: 'True', toleration: minutes(30) },
];

/** Absolute (`2`) or relative (`{ percent: 20 }`) number of nodes. */
export type NodeCount = { readonly count: number } | { readonly percent: number };

/** An outage: at least `minNodes` nodes, and at least this share of all that are counted. */
export interface OutageThreshold {
  readonly minNodes: number;
  /** Percent. */
  readonly share: number;
}

export const REPAIR_ACTIONS = [
  'Reboot',
  'DrainThenTerminate',
  'CustomResource',
  'ReplaceThenTerminate',
  'Terminate',
] as const;

interface ActionTerms {
  readonly timeout: DurationMs;
  /** The most times that a node gets this action, over all its incidents, … */
  readonly attempts: number;
  /** … within so long. Neither bounds `Terminate`. */
  readonly within: DurationMs;
}

/** Actions of these types. @property template the key of the ConfigMap with the template */
export type ActionOf<Type extends string> = Type extends 'CustomResource'
  ? ActionTerms & { readonly type: Type; readonly template: string }
  : ActionTerms & { readonly type: Type };

/** One action of the ladder: what is done, and after how long the next one follows when the node is still unhealthy. */
export type RepairAction = ActionOf<(typeof REPAIR_ACTIONS)[number]>;

/** A policy's `repairLimits`: repairs under way at the same time, whatever the pool. Undefined: no limit. */
export interface RepairLimits {
  /** The limit among the nodes of one zone, in the whole cluster. */
  readonly maxConcurrentRepairsPerZone?: NodeCount | undefined;
  /** The limit among all nodes. */
  readonly maxConcurrentRepairsPerCluster?: NodeCount | undefined;
}

/** Disruption budgets of the NodePool that count: those that name `Unhealthy`, those that name no reason as well, or none. */
export const DISRUPTION_BUDGETS = ['Explicit', 'All', 'Ignore'] as const;
export type DisruptionBudgets = (typeof DISRUPTION_BUDGETS)[number];

export const WITHOUT_NODE_CLAIM = ['Ignore', 'TerminateInAutoScalingGroup'] as const;

/** A NodePool's or policy's `repair` block, parsed. */
export interface RepairSettings {
  /** The provider's repair conditions. */
  readonly provided: readonly RepairCondition[];
  readonly overrides: readonly RepairOverride[];
  readonly defaultToleration: DurationMs | undefined;
  /** Undefined: the provider's, else none at all. */
  readonly drainBound: DrainBound | undefined;
  /** The user's own repair conditions, with their own tolerations. */
  readonly conditions: readonly RepairCondition[];
  readonly maxUnhealthy: NodeCount;
  /** Repairs under way at the same time in one pool; undefined: no limit. */
  readonly maxConcurrentRepairs: NodeCount | undefined;
  readonly disruptionBudgets: DisruptionBudgets;
  /** Counted among the nodes of one zone, in the whole cluster; undefined: off. */
  readonly zoneOutage: OutageThreshold | undefined;
  /** Counted among all nodes of the cluster, `Ready=Unknown` alone; undefined: off. */
  readonly freeze: OutageThreshold | undefined;
  /** At least one; undefined: the provider's, else a termination. */
  readonly actions: readonly RepairAction[] | undefined;
  /** A node that was unhealthy for `unhealthyFor` in all within `window` is due, however often it recovered in between. */
  readonly flapping: { readonly window: DurationMs; readonly unhealthyFor: DurationMs } | undefined;
  /** After this many repairs within `window` that did not help, replacements that fail the same way are left alone. */
  readonly futility: { readonly repairs: number; readonly window: DurationMs } | undefined;
  /** Repair of a due node that Karpenter does not manage: none, or its Auto Scaling group replaces the instance. */
  readonly nodesWithoutNodeClaim: (typeof WITHOUT_NODE_CLAIM)[number];
}

export const DEFAULT_MAX_UNHEALTHY: NodeCount = { percent: 20 };
/** Kubernetes' own rule for a zone (`--unhealthy-zone-threshold`): more than two nodes, and 55 %. */
export const DEFAULT_OUTAGE: OutageThreshold = { minNodes: 3, share: 55 };
/** Time that an action may take if the block does not say. */
export const DEFAULT_ACTION_TIMEOUT = minutes(10);
/** Time that a termination may take, from the deletion on, if the block does not say; past it the repair is stuck. */
export const DEFAULT_TERMINATION_TIMEOUT = hours(1);
/** Pods have no time at all: forceful. */
const NO_DRAIN: DurationMs = toDurationMs(0);
export const DEFAULT_ATTEMPTS = 2;
/** The most attempts that an action may have within its time. */
export const MAX_ATTEMPTS = 20;
export const DEFAULT_WITHIN = hours(24);
export const DEFAULT_ACTIONS: readonly RepairAction[] = [
  { type: 'Terminate', timeout: DEFAULT_TERMINATION_TIMEOUT, attempts: DEFAULT_ATTEMPTS, within: DEFAULT_WITHIN },
];

/**
 * Every repair condition under these settings, with the toleration in force; that may be `NEVER`. Resolution order for one of the provider's:
 * the entry for its type, else the block's default, else the provider's. A user's entry without a reason replaces all of the provider's of
 * that type; one with a reason stands beside them.
 */
export function repairConditionsOf(settings: RepairSettings): readonly RepairCondition[] {
  const { provided, overrides, defaultToleration, conditions } = settings;
  const replaced = new Set(conditions.flatMap(({ type, reason }) => (reason === undefined ? [type] : [])));
  const statusesOf = (wanted: string) =>
    new Set(provided.flatMap(({ type, status }) => (type === wanted ? [status] : [])));
  const ofOverride = ({ conditionType: type, ...entry }: RepairOverride): RepairCondition[] =>
    [...statusesOf(type)].map(status => ({ ...entry, type, status, isOwn: true, field: 'spec.repair.policies' }));
  const plain = new Map(
    overrides.flatMap(each => (each.reason === undefined ? [[each.conditionType, ofOverride(each)] as const] : [])),
  );
  const providers = provided.flatMap((repairCondition): readonly RepairCondition[] => {
    const { type, status } = repairCondition;
    if (replaced.has(type)) return [];
    const own = plain.get(type);
    const isFirst = provided.find(each => each.type === type && each.status === status) === repairCondition;
    if (own !== undefined) return isFirst ? own.filter(each => each.status === status) : [];
    if (defaultToleration === undefined) return [repairCondition];
    return [{ ...repairCondition, toleration: defaultToleration, field: 'spec.repair.defaultTolerationDuration' }];
  });
  const reasoned = overrides.filter(({ reason }) => reason !== undefined).flatMap(ofOverride);
  return [...providers, ...reasoned, ...conditions];
}

/** The actions and bounds of the entry that decides: its own, else the block's, else the provider's for that condition, else the default. */
export function termsOf(
  { provided, actions, drainBound }: RepairSettings,
  { repairCondition, condition }: UnhealthyMatch,
): {
  readonly actions: readonly RepairAction[];
  readonly drainBound: DrainBound;
  readonly confirm: Confirmation | undefined;
} {
  const own = repairCondition.isOwn === true ? repairCondition : undefined;
  // Of several of the provider's that match it, the one that decides.
  const provider =
    own === undefined
      ? repairCondition
      : matchRepairConditions({ conditions: [condition] }, provided)[0]?.repairCondition;
  return {
    actions: own?.actions ?? actions ?? provider?.actions ?? DEFAULT_ACTIONS,
    drainBound: own?.drainBound ?? drainBound ?? provider?.drainBound ?? NO_DRAIN,
    confirm: condition.status === 'Unknown' ? own?.confirm : undefined,
  };
}

/** Every list of actions that may be in force. */
export const actionListsOf = ({ provided, overrides, conditions, actions }: RepairSettings) =>
  [actions ?? DEFAULT_ACTIONS, ...[...overrides, ...conditions, ...provided].map(each => each.actions ?? [])] as const;

/** A condition that counts as unhealthy now, and the repair condition that says so. */
export interface UnhealthyMatch {
  readonly repairCondition: RepairCondition;
  readonly condition: NodeCondition;
}

/**
 * The repair conditions that a node's conditions match now, whatever their toleration. One that never ends is left out, and with a reason also the
 * general repair conditions where it matches. Of several conditions of one type the first counts, as in Karpenter: the API server accepts
 * duplicates, and a later one may be years old.
 */
export function matchRepairConditions(
  node: Pick<NodeView, 'conditions'>,
  repairConditions: readonly RepairCondition[] = AWS_REPAIR_CONDITIONS,
): readonly UnhealthyMatch[] {
  const matches = repairConditions.flatMap((repairCondition): UnhealthyMatch[] => {
    const condition = node.conditions.find(({ type }) => type === repairCondition.type);
    // What Curfew itself says of a node is no sign of an incident.
    if (condition?.status !== repairCondition.status || isOwnCondition(condition)) return [];
    return repairCondition.matchesReason?.(condition.reason) === false ? [] : [{ repairCondition, condition }];
  });
  // One with a reason counts instead of those without, and the user's instead of the provider's.
  const closest = new Map<string, number>();
  for (const { repairCondition } of matches)
    closest.set(repairCondition.type, Math.max(closest.get(repairCondition.type) ?? 0, closenessOf(repairCondition)));
  return matches.filter(
    ({ repairCondition }) =>
      closenessOf(repairCondition) === closest.get(repairCondition.type) && !isNever(repairCondition.toleration),
  );
}

const closenessOf = ({ reason, isOwn }: RepairCondition): number => (reason === undefined ? 0 : isOwn === true ? 2 : 1);

/** The number of nodes that a limit allows in a pool of `total`; a percentage is rounded up, as Karpenter does. */
export function resolveNodeCount(limit: NodeCount, total: number): number {
  if ('count' in limit) return limit.count;
  // In integers: 0.2 * 15 is 3.0000000000000004 in doubles, which would round up to 4.
  return Math.floor((limit.percent * total + 99) / 100);
}

/** Whether `affected` of `total` nodes are an outage. */
export function isOutage({ minNodes, share }: OutageThreshold, affected: number, total: number): boolean {
  return affected >= minNodes && affected * 100 >= share * total;
}
