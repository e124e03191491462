/**
 * Explains why a node may or may not be disrupted now: its protected pods, what else blocks evictions, its deadlines.
 * Pure.
 */
import { evictionRefusal } from '../pod-disruption-budget.ts';
import { ANNOTATIONS, KARPENTER } from '../../shared/contract/names.ts';
import { REPLACES_ANNOTATION } from '../../shared/domain/node.ts';
import { isFinished, isTerminating, type PodView } from '../../shared/domain/pod.ts';
import { isActive, maxDurationFor, protectionOf, type Protection } from '../../shared/domain/protection.ts';
import { KARPENTER_FINALIZER } from '../../shared/domain/termination.ts';
import type { DurationMs, EpochMs } from '../../shared/domain/time.ts';
import { gracePeriodOf, resolveDeadline, type EffectiveTermination } from '../../functions/finalizer/explain.ts';
import { isHeldByCurfew, isLeft, isOnlyObserved, type NodeObservation } from './observation.ts';
import { protectionRules, type ProtectionLimits } from './protection-rules.ts';
import type { UnreadPolicy } from './settings-in-force.ts';

export interface PodExplanation {
  readonly namespace: string;
  readonly name: string;
  readonly phase: string;
  readonly terminating: boolean;
  /** Value of the annotation; undefined: not annotated. */
  readonly value: string | undefined;
  readonly protection: Protection;
  readonly protected: boolean;
  /** The longest that it may be protected; undefined: nothing limits it. */
  readonly maxDuration: DurationMs | undefined;
  /** Protection that the block would give that is only observed. */
  readonly observed: Protection | undefined;
  /** The reason why the API server would refuse an eviction now, protection aside. */
  readonly evictionRefusal: string | undefined;
}

/** Owner of the do-not-disrupt annotation that the node carries. */
export type NodeAnnotation =
  | { readonly kind: 'none' }
  | { readonly kind: 'ours'; readonly until: string }
  /** Curfew's, on the replacement of a node that is being repaired. */
  | { readonly kind: 'replacement' }
  | { readonly kind: 'theirs'; readonly value: string };

export type Deadline =
  /** Pods that are left at this time are removed by force. */
  | { readonly kind: 'at'; readonly time: EpochMs }
  /** Counts in mode Enforce alone. */
  | { readonly kind: 'observed'; readonly time: EpochMs }
  /** Counts from a deletion that has not begun. */
  | { readonly kind: 'afterDeletion'; readonly gracePeriod: DurationMs }
  /** Stands in Curfew's table, which is not read: the termination goes on without its policy. */
  | { readonly kind: 'stored' }
  | { readonly kind: 'none'; readonly terminating: boolean };

export type Verdict =
  /** No pod is protected, nothing refuses an eviction. */
  | { readonly kind: 'open' }
  /** Protections end; `until` is the last end. */
  | { readonly kind: 'protectedUntil'; readonly until: EpochMs }
  | { readonly kind: 'protectedWithoutEnd' }
  /** No pod is protected, but budgets refuse evictions, or somebody's annotation keeps the node. */
  | { readonly kind: 'blocked' };

export interface NodeExplanation {
  readonly name: string;
  readonly nodePool: string | undefined;
  readonly now: EpochMs;
  readonly verdict: Verdict;
  readonly annotation: NodeAnnotation;
  /** Annotated pods and pods whose eviction would be refused, in order of namespace and name. */
  readonly pods: readonly PodExplanation[];
  /** The pods that nothing is to be said about. */
  readonly otherPods: number;
  readonly deadline: Deadline;
  readonly compatibility: NodeObservation['protection']['policy']['compatibility'];
  /** The longest that a protection lasts on it. */
  readonly limits: ProtectionLimits;
  /** Policies whose protection cannot be read as it is. */
  readonly unread: readonly UnreadPolicy[];
  /** Source of the protection policy; undefined: the defaults hold. */
  readonly policy: string | undefined;
  /** The policy whose protection block is only observed. */
  readonly observed: string | undefined;
}

/** Lists the pods with an annotation or a refusal, by namespace and name; the others are counted. */
export function explainNode(observation: NodeObservation, now: EpochMs): NodeExplanation {
  const { node, nodePool, protection } = observation;
  const all = observation.pods.map(pod => explainPod(pod, observation, now));
  const pods = all
    .filter(({ value, evictionRefusal: refusal }) => value !== undefined || refusal !== undefined)
    .toSorted((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
  const annotation = annotationOf(node.annotations);
  return {
    name: node.name,
    nodePool,
    now,
    verdict: verdictOf(pods, annotation),
    annotation,
    pods,
    otherPods: all.length - pods.length,
    deadline: deadlineOf(observation),
    ...protectionRules(protection.policy),
    unread: observation.unreadProtection ?? [],
    policy: protection.source,
    observed: protection.observed?.source,
  };
}

/** A pod that has finished or is being deleted holds nothing back: its refusal is not asked for. */
export function explainPod(pod: PodView, { protection, budgets }: NodeObservation, now: EpochMs): PodExplanation {
  const found = protectionOf(pod, protection.policy);
  const gone = isFinished(pod) || isTerminating(pod);
  return {
    namespace: pod.namespace,
    name: pod.name,
    phase: pod.phase,
    terminating: isTerminating(pod),
    value: pod.annotations[KARPENTER.doNotDisruptAnnotation],
    protection: found,
    protected: isActive(found, now),
    maxDuration: maxDurationFor(pod.namespace, protection.policy),
    observed: protection.observed && protectionOf(pod, protection.observed.policy),
    evictionRefusal: gone ? undefined : evictionRefusal(pod, budgets),
  };
}

function verdictOf(pods: readonly PodExplanation[], annotation: NodeAnnotation): Verdict {
  const active = pods.filter(pod => pod.protected).map(({ protection }) => protection);
  let until: EpochMs | undefined;
  for (const protection of active) {
    if (protection.kind !== 'until') return { kind: 'protectedWithoutEnd' };
    if (until === undefined || protection.expiry > until) until = protection.expiry;
  }
  if (until !== undefined) return { kind: 'protectedUntil', until };
  const kept = annotation.kind === 'theirs' && annotation.value === 'true';
  return kept || pods.some(pod => pod.evictionRefusal !== undefined) ? { kind: 'blocked' } : { kind: 'open' };
}

function annotationOf(annotations: Readonly<Record<string, string>>): NodeAnnotation {
  const value = annotations[KARPENTER.doNotDisruptAnnotation];
  const mark = annotations[ANNOTATIONS.protectedUntil];
  if (value === undefined) return { kind: 'none' };
  if (value !== 'true') return { kind: 'theirs', value };
  if (mark !== undefined) return { kind: 'ours', until: mark };
  return annotations[REPLACES_ANNOTATION] === undefined ? { kind: 'theirs', value } : { kind: 'replacement' };
}

/**
 * Deadline, by the rule of the termination itself. In mode Observe it forces nothing. Where Karpenter terminates the node too, the NodeClaim's own
 * grace period counts.
 */
function deadlineOf(observation: NodeObservation): Deadline {
  const { node, termination = NO_TERMINATION, stored } = observation;
  const [claim] = observation.nodeClaims;
  const terminating = claim?.deletionTime !== undefined || node.deletionTime !== undefined;
  const isObserved = isOnlyObserved(termination, node);
  const isKarpenters = claim?.finalizers.includes(KARPENTER_FINALIZER) === true;
  const settings = isObserved ? NO_TERMINATION : termination;
  const time = isObserved && !isKarpenters ? undefined : timeBy(observation, settings, isObserved ? undefined : stored);
  if (isObserved && terminating && isHeldByCurfew(termination, [node, claim])) {
    const enforced = timeBy(observation, termination, stored);
    if (enforced !== undefined && (time === undefined || enforced < time)) return { kind: 'observed', time: enforced };
  }
  if (time !== undefined) return { kind: 'at', time };
  if (terminating && isLeft(termination, node) && stored === undefined) return { kind: 'stored' };
  const own = isObserved && !isKarpenters ? undefined : claim?.terminationGracePeriod;
  const gracePeriod = own ?? gracePeriodOf(settings)?.period;
  return gracePeriod === undefined || terminating
    ? { kind: 'none', terminating }
    : { kind: 'afterDeletion', gracePeriod };
}

const NO_TERMINATION = { kind: 'none', mode: 'Enforce', isBraked: false } as const;

function timeBy(
  { node, nodeClaims: [claim], isDeadlineTakenBack = false }: NodeObservation,
  settings: EffectiveTermination,
  stored: NodeObservation['stored'],
): EpochMs | undefined {
  const { deadline } = resolveDeadline({
    claim: claim && {
      deletionTime: claim.deletionTime,
      gracePeriod: claim.terminationGracePeriod,
      terminationTimestamp: claim.annotations[KARPENTER.terminationTimestampAnnotation],
    },
    nodes: [node],
    settings,
    storedDeadline: stored?.deadline,
    isDeadlineTakenBack,
  });
  return deadline?.time;
}
