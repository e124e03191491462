/** Conditions that are trouble by the provider's rules, told from the raw Node (docs/node-repair.md). */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { dig, fieldsOf, instantOf, listOf, type Fields } from './reading.ts';

const MINUTE = 60_000;

/** Condition type, its status that means trouble, the provider's toleration in milliseconds. */
export const WATCHED: readonly (readonly [string, string, number])[] = [
  ['AcceleratedHardwareReady', 'False', 10 * MINUTE],
  ['ContainerRuntimeReady', 'False', 30 * MINUTE],
  ['KernelReady', 'False', 30 * MINUTE],
  ['NetworkUnavailable', 'True', 30 * MINUTE],
  ['NetworkingReady', 'False', 30 * MINUTE],
  ['Ready', 'False', 30 * MINUTE],
  ['Ready', 'Unknown', 30 * MINUTE],
  ['StorageReady', 'False', 30 * MINUTE],
];

/** Watched by the provider's rules. */
export function isUnhealthy(node: KubernetesObject): boolean {
  return unhealthyConditionsOf(node).length > 0;
}

/** A condition that is trouble by the provider's rules. */
export interface UnhealthyCondition {
  readonly type: string;
  readonly status: string;
  /** Milliseconds since 1970; undefined: it cannot be read. */
  readonly since: number | undefined;
}

/** By the provider's table alone: conditions that a policy adds are not in it. */
export function unhealthyConditionsOf(node: KubernetesObject): readonly UnhealthyCondition[] {
  return WATCHED.flatMap(([type, status]) => {
    const condition = conditionOf(node, type);
    return condition?.['status'] === status
      ? [{ type, status, since: instantOf(condition['lastTransitionTime']) }]
      : [];
  });
}

/** The first condition of that type. */
export function conditionOf(node: KubernetesObject, type: string): Fields | undefined {
  return listOf(dig(node, 'status', 'conditions'))
    .map(fieldsOf)
    .find(condition => condition['type'] === type);
}
