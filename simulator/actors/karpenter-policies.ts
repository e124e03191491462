/** Which conditions Karpenter's provider for AWS repairs, after how long, and how long pods have then (karpenter-provider-aws 1.14 and 1.15). */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, parseTimestamp, type DurationMs, type EpochMs } from '../../shared/domain/time.ts';
import { arrayAt, isObject, textAt } from '../../packages/kube-apiserver/src/json.ts';

export type Release = '1.14' | '1.15';

interface Policy {
  readonly type: string;
  readonly status: string;
  /** undefined: any. */
  readonly reason?: RegExp;
  readonly toleration: DurationMs;
  /** From the deletion on; undefined: as the NodeClaim says. */
  readonly bound?: DurationMs;
}

const LATER = ['ContainerRuntimeReady', 'KernelReady', 'NetworkingReady', 'StorageReady', 'Ready'];
const ACCELERATED = { type: 'AcceleratedHardwareReady', status: 'False' };
const POLICIES: Readonly<Record<Release, readonly Policy[]>> = {
  '1.14': [
    ...LATER.map(type => ({ type, status: 'False', toleration: minutes(30) })),
    { type: 'Ready', status: 'Unknown', toleration: minutes(30) },
    { ...ACCELERATED, toleration: minutes(10) },
  ],
  '1.15': [
    ...LATER.map(type => ({ type, status: 'False', toleration: minutes(30), bound: minutes(10) })),
    { type: 'Ready', status: 'Unknown', toleration: minutes(30), bound: minutes(10) },
    { type: 'NetworkUnavailable', status: 'True', toleration: minutes(30), bound: minutes(0) },
    { ...ACCELERATED, reason: /XID\d+/, toleration: minutes(10), bound: minutes(5) },
    { ...ACCELERATED, toleration: minutes(30), bound: minutes(10) },
  ],
};

export interface Ailment {
  readonly due: EpochMs;
  readonly bound: DurationMs | undefined;
}

/** What ails the Node, due or not: the earliest. None for a Node that is well. */
export function ailmentsOf({ status = {} }: KubernetesObject, release: Release): readonly Ailment[] {
  const found = arrayAt(status, 'conditions').flatMap((condition): Ailment[] => {
    if (!isObject(condition)) return [];
    // One with a reason suppresses the general one.
    const policy = POLICIES[release].find(
      each =>
        each.type === condition['type'] &&
        each.status === condition['status'] &&
        (each.reason?.test(textAt(condition, 'reason') ?? '') ?? true),
    );
    const since = parseTimestamp(textAt(condition, 'lastTransitionTime') ?? '');
    if (policy === undefined || since === undefined) return [];
    return [{ due: addDuration(since, policy.toleration), bound: policy.bound }];
  });
  return found.toSorted((a, b) => a.due - b.due).slice(0, 1);
}
