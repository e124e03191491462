/**
 * Plan of a drain for the pods of a node, as in Karpenter: protection first, then PodDisruptionBudgets, group by group; at a deadline whatever
 * is left. After it, the volumes that must be detached before the instance ends. Pure: the API server's answers to evictions are the caller's.
 */
import {
  DRAIN_GROUPS,
  drainGroupOf,
  drainabilityOf,
  stuckTime,
  type DrainGroup,
  type SkipReason,
} from '../../../../shared/domain/drainable-pod.ts';
import { forcedGraceSeconds, forceTime, isForced } from '../../../../shared/domain/forced-deletion.ts';
import { objectIn, optionalText } from '../../../../shared/domain/json.ts';
import type { KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import { isTerminating, type PodView } from '../../../../shared/domain/pod.ts';
import {
  isActive,
  protectedWait,
  protectionOf,
  type Protection,
  type ProtectionPolicy,
} from '../../../../shared/domain/protection.ts';
import { earliest, isDue, parseTimestamp, whileAhead, type EpochMs } from '../../../../shared/domain/time.ts';

export interface DrainSituation {
  readonly now: EpochMs;
  /** All pods that are bound to the node. */
  readonly pods: readonly PodView[];
  /** Time when everything must be gone; undefined: the drain waits as long as it takes. */
  readonly deadline: EpochMs | undefined;
  readonly protection: ProtectionPolicy;
}

export type PodStep =
  | { readonly kind: 'evict'; readonly pod: PodView; readonly group: DrainGroup }
  /** The pod is deleted because of the deadline. `overriddenProtection`: the one that would apply otherwise; the audit says so (I2). */
  | {
      readonly kind: 'delete';
      readonly pod: PodView;
      readonly gracePeriodSeconds: number;
      readonly overriddenProtection: Protection | undefined;
    }
  | {
      readonly kind: 'wait';
      readonly pod: PodView;
      readonly because: 'Protected' | 'Terminating' | 'LaterGroup';
      /** End of the wait by time alone; undefined: not known. */
      readonly until: EpochMs | undefined;
    };

export interface DrainPlan {
  /** No pod is left that counts. */
  readonly isDrained: boolean;
  /** Steps, one per pod that counts. */
  readonly steps: readonly PodStep[];
  readonly skippedPods: readonly { readonly pod: PodView; readonly because: SkipReason }[];
  /** The earliest instant at which this plan changes by time alone; undefined: only an event changes it. */
  readonly nextLook: EpochMs | undefined;
  /** Time when the next pod is deleted because of the deadline; undefined: none is left. */
  readonly nextForcedDeletion: EpochMs | undefined;
}

/** The plan for what is seen now. */
export function planDrain({ now, pods, deadline, protection }: DrainSituation): DrainPlan {
  const skippedPods: { pod: PodView; because: SkipReason }[] = [];
  const counted: { pod: PodView; group: DrainGroup }[] = [];
  for (const pod of pods) {
    const drainability = drainabilityOf(pod, now);
    const isWaitedFor =
      drainability.kind === 'skipped' &&
      drainability.because === 'ToleratesDisruption' &&
      protectedWait(protectionOf(pod, protection), now) !== undefined;
    // A pod that may stay on a tainted Node may still not end with the instance (I2).
    if (isWaitedFor) counted.push({ pod, group: drainGroupOf(pod) });
    else if (drainability.kind === 'skipped') skippedPods.push({ pod, because: drainability.because });
    else counted.push({ pod, group: drainability.group });
  }
  // Forced pods of all groups go at once; the order is for those that still have a choice.
  const graceful = counted.filter(({ pod }) => !isForced(pod, deadline, now));
  const current = DRAIN_GROUPS.find(group => graceful.some(member => member.group === group));
  const steps = counted.map(({ pod, group }): PodStep => {
    if (deadline !== undefined && isForced(pod, deadline, now)) {
      const overridden = protectionOf(pod, protection);
      return {
        kind: 'delete',
        pod,
        gracePeriodSeconds: forcedGraceSeconds(pod, deadline, now),
        overriddenProtection: isActive(overridden, now) ? overridden : undefined,
      };
    }
    return gracefulStep(pod, group, { now, current, protection });
  });
  const nextForcedDeletion = nextForceOf(steps, now, deadline);
  return {
    isDrained: steps.length === 0,
    steps,
    skippedPods,
    nextLook: earliest(nextEnd(steps), nextForcedDeletion),
    nextForcedDeletion,
  };
}

function gracefulStep(
  pod: PodView,
  group: DrainGroup,
  { now, current, protection }: { now: EpochMs; current: DrainGroup | undefined; protection: ProtectionPolicy },
): PodStep {
  if (isTerminating(pod)) return { kind: 'wait', pod, because: 'Terminating', until: stuckTime(pod) };
  if (group !== current) return { kind: 'wait', pod, because: 'LaterGroup', until: undefined };
  const wait = protectedWait(protectionOf(pod, protection), now);
  return wait === undefined ? { kind: 'evict', pod, group } : { kind: 'wait', pod, because: 'Protected', ...wait };
}

/** Time when the first of the waits ends by itself. */
function nextEnd(steps: readonly PodStep[]): EpochMs | undefined {
  let next: EpochMs | undefined;
  for (const step of steps) if (step.kind === 'wait') next = earliest(next, step.until);
  return next;
}

function nextForceOf(steps: readonly PodStep[], now: EpochMs, deadline: EpochMs | undefined): EpochMs | undefined {
  let next: EpochMs | undefined;
  for (const step of steps) next = earliest(next, whileAhead(now, forceTime(step.pod, deadline)));
  return next;
}

const NOT_AWAITED_ANSWERS: ReadonlySet<string> = new Set(['refused', 'noSuchPod', 'replaced']);

/**
 * Whether the drain is over. Past the deadline it waits only for pods that were just given the least grace: their kubelet stops them. The end of
 * the instance stops all others: those whose deletion was refused or failed, and those that were listed but not found.
 */
export function isDrained(
  plan: DrainPlan,
  results: readonly { readonly removal: Pick<PodStep, 'pod'>; readonly answer: { readonly kind: string } }[],
  { isForced: isPastDeadline, now }: { readonly isForced: boolean; readonly now: EpochMs },
): boolean {
  if (plan.isDrained) return true;
  if (!isPastDeadline || results.some(({ answer }) => answer.kind === 'deleted')) return false;
  const unawaited = new Set(
    results.flatMap(({ removal, answer }) => (NOT_AWAITED_ANSWERS.has(answer.kind) ? [removal.pod.uid] : [])),
  );
  return plan.steps.every(
    ({ pod }) => unawaited.has(pod.uid) || (pod.deletionTime !== undefined && isDue(now, pod.deletionTime)),
  );
}

/** A VolumeAttachment with its PersistentVolume. */
interface Attachment {
  readonly name: string;
  readonly volume: string;
}

/** The attachments of PersistentVolumes to these Nodes, and not to earlier ones of their names (I10). Volumes that are inline do not count. */
export function attachmentsOf(
  nodes: readonly KubernetesObject[],
  attachments: readonly KubernetesObject[],
): readonly Attachment[] {
  const nodeByName = new Map(nodes.map(node => [node.metadata.name, node]));
  return attachments.flatMap(attachment => {
    const node = nodeByName.get(optionalText(attachment.spec?.['nodeName']) ?? '');
    const volume = optionalText(objectIn(attachment.spec, 'source')['persistentVolumeName']);
    if (node === undefined || volume === undefined || isOlder(attachment, node)) return [];
    return [{ name: attachment.metadata.name, volume }];
  });
}

/** Whether an attachment was made for an earlier Node of that name. A time that cannot be read says nothing. */
function isOlder(attachment: KubernetesObject, node: KubernetesObject): boolean {
  const [attached, begun] = [attachment, node].map(({ metadata }) => parseTimestamp(metadata.creationTimestamp));
  return attached !== undefined && begun !== undefined && attached < begun;
}

/** The pods that the drain passes over, whose volumes stay attached. Those of finished pods are detached. */
export const podsThatStay = (pods: readonly PodView[], now: EpochMs): readonly PodView[] =>
  pods.filter(pod => {
    const drainability = drainabilityOf(pod, now);
    return drainability.kind === 'skipped' && drainability.because !== 'Finished';
  });

/** Names of the attachments that are waited for, in order. @param staying PersistentVolumes of the pods that stay */
export const blockingAttachments = (
  attachments: readonly Attachment[],
  staying: readonly (string | undefined)[],
): readonly string[] =>
  attachments
    .filter(({ volume }) => !staying.includes(volume))
    .map(({ name }) => name)
    .toSorted();
