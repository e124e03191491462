/**
 * Which conditions Karpenter's provider for AWS repairs, after how long, how, and how long pods have then (karpenter-provider-aws 1.14, and 1.15 with
 * its gate `RebootForRepair`).
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import {
  addDuration,
  latest,
  minutes,
  parseTimestamp,
  type DurationMs,
  type EpochMs,
} from '../../shared/domain/time.ts';
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
  readonly isReboot?: true;
}

const LATER = ['ContainerRuntimeReady', 'KernelReady', 'NetworkingReady', 'StorageReady', 'Ready'];
const ACCELERATED = { type: 'AcceleratedHardwareReady', status: 'False' };
const REBOOTED = /XID(46|48|54|62|63|95|109|110|136|140|143|155|156|158)/;
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
    { ...ACCELERATED, reason: REBOOTED, toleration: minutes(10), bound: minutes(5), isReboot: true },
    { ...ACCELERATED, reason: /XID(64|74|79|119|120)/, toleration: minutes(10), bound: minutes(5) },
    { ...ACCELERATED, toleration: minutes(30), bound: minutes(10) },
  ],
};

/** By the type of the condition, in their order. Most conditions have a type that none is about. */
const BY_TYPE = {
  '1.14': Map.groupBy(POLICIES['1.14'], ({ type }) => type),
  '1.15': Map.groupBy(POLICIES['1.15'], ({ type }) => type),
} satisfies Record<Release, unknown>;

interface Ailment {
  readonly due: EpochMs;
  readonly bound: DurationMs | undefined;
  readonly isReboot: boolean;
}

/** What ails the Node, and what is due of it by now. */
export interface Illness {
  /** undefined: nothing yet. */
  readonly due: Ailment | undefined;
}

/**
 * undefined: it is well. Of several that are due a replacement goes before a reboot, and the shortest bound counts.
 * @param notBefore tolerations begin anew with the end of a reboot
 */
export function illnessOf(
  { status = {} }: KubernetesObject,
  release: Release,
  now: EpochMs,
  notBefore: EpochMs | undefined,
): Illness | undefined {
  const found: Ailment[] = [];
  for (const condition of arrayAt(status, 'conditions')) {
    if (!isObject(condition)) continue;
    // One with a reason suppresses the general one.
    const policy = BY_TYPE[release]
      .get(textAt(condition, 'type') ?? '')
      ?.find(
        each => each.status === condition['status'] && (each.reason?.test(textAt(condition, 'reason') ?? '') ?? true),
      );
    if (policy === undefined) continue;
    const stated = parseTimestamp(textAt(condition, 'lastTransitionTime') ?? '');
    if (stated === undefined) continue;
    const { toleration, bound, isReboot = false } = policy;
    found.push({ due: addDuration(latest(stated, notBefore ?? stated), toleration), bound, isReboot });
  }
  if (found.length === 0) return undefined;
  const due = found.filter(each => each.due <= now).toSorted((a, b) => a.due - b.due);
  const [first] = due;
  if (first === undefined) return { due: undefined };
  const bounds = due.flatMap(({ bound }) => bound ?? []).toSorted((a, b) => a - b);
  return { due: { due: first.due, bound: bounds[0], isReboot: due.every(({ isReboot }) => isReboot) } };
}
