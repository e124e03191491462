/**
 * Which node conditions count as unhealthy and for how long each is tolerated.
 * Source: design "Node auto repair" (resolution order) and the AWS provider table of Karpenter (reference §5.7), plus
 * `NetworkUnavailable=True`, which the design watches and upstream does not.
 */
import type { NodeCondition, NodeView } from './node.ts';
import { addDuration, minutes, type DurationMs, type EpochMs } from './time.ts';

/** A provider's statement: this type with this status is unhealthy, tolerated this long by default. */
export interface RepairStatement {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly toleration: DurationMs;
}

export const AWS_REPAIR_STATEMENTS: readonly RepairStatement[] = [
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

/** A NodePool's or policy's `repair` block, parsed. */
export interface RepairSettings {
  /** By condition type, whatever the status. */
  readonly tolerations: ReadonlyMap<string, DurationMs>;
  readonly defaultToleration: DurationMs | undefined;
  readonly maxUnhealthy: NodeCount;
}

export const DEFAULT_MAX_UNHEALTHY: NodeCount = { percent: 20 };

/** Resolution order: the type's own toleration, else the block's default, else the provider's. */
export function resolveToleration(settings: RepairSettings, statement: RepairStatement): DurationMs {
  return settings.tolerations.get(statement.type) ?? settings.defaultToleration ?? statement.toleration;
}

/** An unhealthy condition, how long it is tolerated, and from when on the node may be repaired. */
export interface UnhealthyCondition {
  readonly condition: NodeCondition & { readonly lastTransitionTime: EpochMs };
  readonly toleration: DurationMs;
  readonly dueTime: EpochMs;
}

/** The statements that a node's conditions match now, whatever their toleration. */
export function matchStatements(
  node: Pick<NodeView, 'conditions'>,
  statements: readonly RepairStatement[] = AWS_REPAIR_STATEMENTS,
): readonly { statement: RepairStatement; condition: NodeCondition }[] {
  return statements.flatMap(statement => {
    const condition = node.conditions.find(
      ({ type, status }) => type === statement.type && status === statement.status,
    );
    return condition === undefined ? [] : [{ statement, condition }];
  });
}

/**
 * The unhealthy condition that is due first, or undefined. Not the shortest toleration: the earliest due time; equal times go to
 * the earlier statement. A condition without a readable transition time never becomes due (I6: unknown blocks).
 */
export function earliestUnhealthy(
  node: Pick<NodeView, 'conditions'>,
  settings: RepairSettings,
): UnhealthyCondition | undefined {
  let first: UnhealthyCondition | undefined;
  for (const { statement, condition } of matchStatements(node)) {
    const { lastTransitionTime } = condition;
    if (lastTransitionTime === undefined) continue;
    const toleration = resolveToleration(settings, statement);
    const dueTime = addDuration(lastTransitionTime, toleration);
    if (first === undefined || dueTime < first.dueTime) {
      first = { condition: { ...condition, lastTransitionTime }, toleration, dueTime };
    }
  }
  return first;
}

/** The number of nodes that a limit allows in a pool of `total`; a percentage is rounded up, as Karpenter does. */
export function resolveNodeCount(limit: NodeCount, total: number): number {
  if ('count' in limit) return limit.count;
  // In integers: 0.2 * 15 is 3.0000000000000004 in doubles, which would round up to 4.
  return Math.floor((limit.percent * total + 99) / 100);
}
