/**
 * What a termination must wait for, told from raw objects: an answer of its own to what `functions/finalizer` and the drain plan decide
 * (docs/terminations.md).
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { modeFor } from './policy-oracle.ts';
import {
  annotationOf,
  dig,
  fieldsOf,
  instantOf,
  isFrameReadable,
  isSelected,
  isSelectorReadable,
  listOf,
  millisecondsOf,
  requirementsOf,
  textOf,
} from './reading.ts';

const CRITICAL: readonly string[] = ['system-cluster-critical', 'system-node-critical'];
const MINUTE = 60_000;

export interface HookPlan {
  readonly name: string;
  readonly at: string;
  /** How long it may take or be silent, from its first call. */
  readonly periodMs: number;
  readonly onTimeout: string;
  /** Of a custom resource: that it is done. */
  readonly conditionType: string | undefined;
  /** Nothing waits for it where the instance had ended before it was called first: Karpenter may have been there, and gone. */
  readonly isIdleAfterEnd: boolean;
}

export interface TerminationPlan {
  readonly finalizerName: string;
  readonly scope: string;
  readonly hooks: readonly HookPlan[];
  /** Of NodePool or policy; ms. */
  readonly periodMs: number | undefined;
}

/** What is in force for the pool; `unknown` where something stands there that this oracle does not judge. */
export function terminationPlan(
  pool: KubernetesObject | undefined,
  policies: readonly KubernetesObject[],
): TerminationPlan | 'none' | 'unknown' {
  const selectorOf = (policy: KubernetesObject): unknown => dig(policy, 'spec', 'nodePoolSelector') ?? {};
  if (!policies.every(policy => isSelectorReadable(selectorOf(policy)))) return 'unknown';
  if (modeFor(pool, policies, 'termination') === 'Observe') return 'unknown';
  const [block] = policies
    .filter(policy => dig(policy, 'spec', 'termination') !== undefined)
    .filter(policy =>
      pool === undefined
        ? requirementsOf(selectorOf(policy)) === 0
        : isSelected(selectorOf(policy), pool.metadata.labels),
    )
    .toSorted(
      (a, b) =>
        requirementsOf(selectorOf(b)) - requirementsOf(selectorOf(a)) || (a.metadata.name < b.metadata.name ? -1 : 1),
    )
    .map(policy => dig(policy, 'spec', 'termination'));
  if (!isReadable(block)) return 'unknown';
  const disruption = dig(pool, 'spec', 'disruption');
  if (block === undefined && dig(disruption, 'customFinalizerName') === undefined) return 'none';
  const ofPool = dig(disruption, 'terminationGracePeriodSeconds');
  return {
    finalizerName:
      textOf(dig(disruption, 'customFinalizerName')) ?? textOf(dig(block, 'finalizerName')) ?? 'curfew.dev/termination',
    scope: textOf(dig(block, 'scope')) ?? 'NodeClaimAndNode',
    hooks: listOf(dig(block, 'hooks')).map(hook => ({
      name: String(dig(hook, 'name')),
      at: String(dig(hook, 'at')),
      periodMs: Math.min(
        millisecondsOf(dig(hook, 'deadline') ?? '10m') ?? Infinity,
        millisecondsOf(dig(hook, 'heartbeat')) ?? Infinity,
      ),
      onTimeout: textOf(dig(hook, 'onTimeout')) ?? 'Proceed',
      conditionType: textOf(dig(hook, 'customResource', 'conditionType')),
      isIdleAfterEnd: dig(hook, 'at') !== 'after-terminate' && dig(block, 'builtin') !== 'Replace',
    })),
    periodMs: typeof ofPool === 'number' ? ofPool * 1000 : millisecondsOf(dig(block, 'terminationGracePeriod')),
  };
}

const FIELDS: readonly string[] = ['finalizerName', 'scope', 'terminationGracePeriod', 'builtin', 'hooks'];
/** The bound of a duration: a hundred years; ms. */
const LONGEST = 100 * 8766 * 60 * MINUTE;

/** Whether what the policy says of terminations can be read. */
export const isTerminationReadable = (policy: KubernetesObject): boolean =>
  isFrameReadable(policy) && isReadable(dig(policy, 'spec', 'termination'));

/** Of one that cannot be read, the last version that could be is in force, or none. */
function isReadable(block: unknown): boolean {
  const period = dig(block, 'terminationGracePeriod');
  return (
    Object.keys(fieldsOf(block)).every(field => FIELDS.includes(field)) &&
    (period === undefined || (millisecondsOf(period) ?? Infinity) <= LONGEST)
  );
}

/** Whether the end of a node must wait for the pod. */
export function countsForDrain(pod: KubernetesObject, now: number): boolean {
  const phase = dig(pod, 'status', 'phase');
  if (phase === 'Succeeded' || phase === 'Failed') return false;
  if (annotationOf(pod, 'kubernetes.io/config.mirror') !== undefined) return false;
  if (toleratesEverything(pod)) return false;
  const end = instantOf(pod.metadata.deletionTimestamp);
  return end === undefined || now <= end + MINUTE;
}

/** Whether the VolumeAttachment is that of this very Node: an older one is of an earlier Node of the name (I10). */
export function isAttachedTo(attachment: KubernetesObject, { metadata }: KubernetesObject): boolean {
  const isIts = dig(attachment, 'spec', 'nodeName') === metadata.name;
  const [attached, begun] = [attachment.metadata, metadata].map(({ creationTimestamp }) =>
    instantOf(creationTimestamp),
  );
  return isIts && !(attached !== undefined && begun !== undefined && attached < begun);
}

/** The generator knows this toleration alone. */
const toleratesEverything = (pod: KubernetesObject): boolean =>
  listOf(dig(pod, 'spec', 'tolerations')).some(
    toleration => dig(toleration, 'operator') === 'Exists' && dig(toleration, 'key') === undefined,
  );

/** Pods of a lower class go before those of a higher one. */
export function classOf(pod: KubernetesObject): number {
  const isDaemon = (pod.metadata.ownerReferences ?? []).some(({ kind }) => kind === 'DaemonSet');
  const isCritical = CRITICAL.includes(textOf(dig(pod, 'spec', 'priorityClassName')) ?? '');
  return (isCritical ? 2 : 0) + (isDaemon ? 1 : 0);
}

/** The grace period of the pod itself; ms. */
export const graceOf = (pod: KubernetesObject): number =>
  Number(dig(pod, 'spec', 'terminationGracePeriodSeconds') ?? 30) * 1000;
