/**
 * Plan of the built-in modes for the pods of a node (I2), also for those that come back onto it because they tolerate the cordon or are bound
 * past the scheduler. Each pod is planned by itself: one that is blocked delays no other. Pure: the API server's answers are the caller's.
 */
import type { DrainMode } from '../../../shared/domain/drain-settings.ts';
import { gracePeriodOf } from '../../../shared/domain/drainable-pod.ts';
import { forcedGraceSeconds, forceTime, isForced } from '../../../shared/domain/forced-deletion.ts';
import { qualifiedName } from '../../../shared/domain/kubernetes-object.ts';
import { isTerminating, type PodView } from '../../../shared/domain/pod.ts';
import { isActive, protectedWait, protectionOf, type Protection } from '../../../shared/domain/protection.ts';
import {
  addDuration,
  CLOCK_SKEW,
  earliest,
  isDue,
  latest,
  rightAfter,
  seconds,
  minutes,
  type DurationMs,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import type { DrainConfiguration, DrainedNode } from './observation.ts';
import { isCustomDrain } from './phase.ts';
import { podDrainability, type PodCriteria, type LeftBehind } from './pods.ts';
import { timedDeletionOf, type DeletionTimes } from './timed-deletion.ts';
import type { ActiveDrain, PodReturn } from '../record.ts';

export interface PodPlanInput extends DeletionTimes {
  readonly now: EpochMs;
  readonly pods: readonly PodView[];
  readonly criteria: PodCriteria;
  /** Grace period of an eviction; undefined: each pod's own. */
  readonly evictionGracePeriod: DurationMs | undefined;
  /** UIDs of pods whose owners were warned of the deletion. */
  readonly warnedUids: readonly string[];
  /** The drain under way: pods that are made after its start have come back. */
  readonly active: Pick<ActiveDrain, 'startTime' | 'returns' | 'tried'>;
}

/** The criteria of a drain for pods: which are its own, and how each goes. */
export function podCriteriaOf(
  active: Pick<ActiveDrain, 'scope' | 'force' | 'phase'>,
  configuration: DrainConfiguration,
  node: Pick<DrainedNode, 'labels' | 'kubeletSilentSince'>,
): PodCriteria {
  const { settings } = configuration;
  const custom = isCustomDrain(active, configuration, node) ? settings.customDrain : undefined;
  const mode = custom?.fallbackMode ?? 'AllowCompletion';
  return {
    scope: active.scope,
    // The custom drain is for all pods but those of system namespaces.
    modeOf:
      custom === undefined ? configuration.modeOf : pod => (configuration.modeOf(pod) === 'system' ? 'system' : mode),
    force: active.force,
    gpuPodsOnly: settings.gpuPodsOnly,
    notReadyTimeout: settings.notReadyTimeout,
    kubeletSilentSince: node.kubeletSilentSince,
  };
}

export type PodAct =
  | {
      readonly kind: 'evict';
      readonly pod: PodView;
      readonly gracePeriodSeconds: number | undefined;
      readonly overriddenProtection: Overridden;
    }
  | {
      readonly kind: 'delete';
      readonly pod: PodView;
      readonly gracePeriodSeconds: number;
      readonly overriddenProtection: Overridden;
    }
  /**
   * The owner is warned first. The deletion comes with the next look at `deleteTime` or later; with `onceUnprotected` it waits for the end of
   * the protection.
   */
  | {
      readonly kind: 'warn';
      readonly pod: PodView;
      readonly deleteTime: EpochMs;
      readonly onceUnprotected: boolean;
    };

/** The protection that would keep the pod otherwise; the audit names it (I2). */
type Overridden = Protection | undefined;

export type PodWait = {
  readonly pod: PodView;
  /** End of the wait by time alone; undefined: only an event ends it. */
  readonly until: EpochMs | undefined;
} & (
  | { readonly because: 'Protected' | 'Terminating' | 'Completion' | 'Deadline' | 'ComesBack' }
  /** Nothing says whether the pod has to go. */
  | { readonly because: 'Unknown'; readonly message: string }
);

export interface PodPlan {
  readonly acts: readonly PodAct[];
  /** Pods that wait: nothing is done with them now. */
  readonly waits: readonly PodWait[];
  /** Pods that should go and are not waited for. */
  readonly leftPods: readonly { readonly pod: PodView; readonly because: LeftBehind | 'ComesBack' }[];
  /** Pods of `acts` that came back. */
  readonly returnedPods: readonly PodView[];
  /** No pod is waited for. */
  readonly isDrained: boolean;
  /** The earliest instant at which this changes by time alone. */
  readonly nextTime: EpochMs | undefined;
}

/** Plans what is done with each pod of the node now, and when to look again. Pure. */
export function planPods(input: PodPlanInput): PodPlan {
  const returnOf = createPodReturns(input.active, input.pods, input.now);
  const parts = inOrder(input.pods).map(pod => planPod(pod, input, returnOf));
  return {
    acts: parts.flatMap(({ acts = [] }) => acts),
    waits: parts.flatMap(({ waits = [] }) => waits),
    leftPods: parts.flatMap(({ leftPods = [] }) => leftPods),
    returnedPods: parts.flatMap(({ returnedPods = [] }) => returnedPods),
    isDrained: !parts.some(({ isAwaited }) => isAwaited === true),
    nextTime: parts.flatMap(({ times = [] }) => times).reduce(earliest, undefined),
  };
}

/** The part of a plan that is about one pod. */
interface PodPart extends Partial<Pick<PodPlan, 'acts' | 'waits' | 'leftPods' | 'returnedPods'>> {
  readonly isAwaited?: boolean;
  /** Instants at which this changes by time alone. */
  readonly times?: readonly (EpochMs | undefined)[];
}

function planPod(pod: PodView, input: PodPlanInput, returnOf: ReturnType<typeof createPodReturns>): PodPart {
  const { now, criteria } = input;
  const drainability = podDrainability(pod, criteria, now);
  if (drainability.kind === 'outOfScope') return {};
  if (drainability.kind === 'unknown') {
    const { message } = drainability;
    return { isAwaited: true, waits: [{ pod, because: 'Unknown', until: undefined, message }] };
  }
  const planned = actsOn(pod, drainability.mode, input);
  const returnState = planned.some(isAct) ? returnOf(pod) : undefined;
  const comesBack = planned.some(isEnd) ? returnState : undefined;
  // Nobody is warned of a deletion that does not come.
  if (returnState?.kind === 'ignored') return { leftPods: [{ pod, because: 'ComesBack' }] };
  // Nobody waits for a pod that is left.
  if (drainability.kind !== 'counts') {
    const leftPods = [{ pod, because: drainability.because }];
    if (isTerminating(pod)) return { leftPods };
    if (comesBack?.kind === 'waits') return { leftPods, times: [comesBack.until] };
    return { leftPods, acts: planned.filter(isAct), returnedPods: comesBack?.kind === 'due' ? [pod] : [] };
  }
  const { until } = drainability;
  const forced = forcedEnd(pod, input);
  // Right after it, because `podDrainability` compares strictly.
  const change = until === undefined ? undefined : rightAfter(until);
  const times = [change, forced?.next];
  if (forced?.act !== undefined) return { isAwaited: true, acts: [forced.act], times };
  if (isTerminating(pod)) return { isAwaited: true, waits: [{ pod, because: 'Terminating', until }], times };
  if (comesBack?.kind === 'waits') {
    const wait: PodWait = { pod, because: 'ComesBack', until: comesBack.until };
    return { isAwaited: true, waits: [wait], times: [...times, wait.until] };
  }
  const waits = planned.filter(isWait);
  return {
    isAwaited: true,
    acts: planned.filter(isAct).map(act => (returnState?.kind === 'waits' ? notBefore(act, returnState.until) : act)),
    waits,
    returnedPods: comesBack?.kind === 'due' ? [pod] : [],
    times: [...times, ...waits.map(wait => wait.until)],
  };
}

const isAct = (entry: PodAct | PodWait): entry is PodAct => 'kind' in entry;
const isWait = (entry: PodAct | PodWait): entry is PodWait => !isAct(entry);

/** The act, where it warns of a deletion that does not come before this instant. */
const notBefore = (act: PodAct, time: EpochMs): PodAct =>
  act.kind === 'warn' ? { ...act, deleteTime: latest(act.deleteTime, time) } : act;

const isEnd = (entry: PodAct | PodWait): boolean => isAct(entry) && entry.kind !== 'warn';

/**
 * The deletion of a pod by the deadline, and the next instant that changes it; undefined: the deadline forces nothing, or a protection keeps the
 * pod.
 */
function forcedEnd(
  pod: PodView,
  { now, forcedEndTime, protection, isProtectionOverridden }: PodPlanInput,
): { readonly act: PodAct | undefined; readonly next: EpochMs | undefined } | undefined {
  if (forcedEndTime === undefined) return undefined;
  const podProtection = protectionOf(pod, protection);
  const overriddenProtection = isActive(podProtection, now) ? podProtection : undefined;
  if (overriddenProtection !== undefined && !isProtectionOverridden) return undefined;
  const time = forceTime(pod, forcedEndTime);
  const next = time !== undefined && time > now ? time : undefined;
  if (!isForced(pod, forcedEndTime, now)) return { act: undefined, next };
  const gracePeriodSeconds = forcedGraceSeconds(pod, forcedEndTime, now);
  return { act: { kind: 'delete', pod, gracePeriodSeconds, overriddenProtection }, next };
}

function actsOn(pod: PodView, mode: DrainMode, input: PodPlanInput): readonly (PodAct | PodWait)[] {
  const { now, deleteTime, evictionGracePeriod } = input;
  if (mode === 'AllowCompletion') return [{ pod, because: 'Completion', until: undefined }];
  if (mode === 'DeleteAfterTimeout' && !isDue(now, deleteTime)) return beforeTimeout(pod, input);
  const podProtection = protectionOf(pod, input.protection);
  const overriddenProtection = isActive(podProtection, now) ? podProtection : undefined;
  const wait = protectedWait(podProtection, now);
  if (wait !== undefined && !input.isProtectionOverridden) return [{ pod, because: 'Protected', ...wait }];
  if (mode === 'Immediate') {
    const gracePeriodSeconds = evictionGracePeriod === undefined ? undefined : wholeSeconds(evictionGracePeriod);
    return [{ kind: 'evict', pod, gracePeriodSeconds, overriddenProtection }];
  }
  if (!isWarned(pod, input)) return [{ kind: 'warn', pod, deleteTime: now, onceUnprotected: false }];
  const grace = evictionGracePeriod ?? gracePeriodOf(pod);
  return [{ kind: 'delete', pod, gracePeriodSeconds: wholeSeconds(grace), overriddenProtection }];
}

const isWarned = ({ uid }: PodView, { warnedUids }: PodPlanInput): boolean => warnedUids.includes(uid);

/** Plans for a pod before the time-out. Its owner is warned if it will be deleted; a pod that is protected longer waits for the end of that. */
function beforeTimeout(pod: PodView, input: PodPlanInput): readonly (PodAct | PodWait)[] {
  const { now, protection } = input;
  const deletion = timedDeletionOf(pod, input);
  const kept = { pod, because: 'Protected', until: protectedWait(protectionOf(pod, protection), now)?.until } as const;
  if (deletion.kind === 'kept') {
    return [deletion.isProtected ? kept : { pod, because: 'Completion', until: undefined }];
  }
  const { kind, time } = deletion;
  const onceUnprotected = kind === 'onceUnprotected';
  const warning: PodAct = { kind: 'warn', pod, deleteTime: latest(time, now), onceUnprotected };
  const wait: PodWait = kind === 'atTimeout' ? { pod, because: 'Deadline', until: time } : kept;
  return isWarned(pod, input) ? [wait] : [warning, wait];
}

/** Seconds of a grace period, rounded up. Never 0, which removes the object while its containers run on. */
const wholeSeconds = (period: DurationMs): number => Math.max(Math.ceil(period / 1000), 1);

/** Orders by namespace and name: the text stays the same while nothing changes. */
function inOrder(pods: readonly PodView[]): readonly PodView[] {
  return pods.toSorted((a, b) => (qualifiedName(a) < qualifiedName(b) ? -1 : 1));
}

/** Returns after which pods are evicted again. From the third return on nobody waits for them: they count as the pods of a DaemonSet (I11). */
const RETURNS_EVICTED = 2;
/** Time from the return before, or from the pod's creation, to the eviction; one for each return. */
const DELAYS: readonly DurationMs[] = [seconds(10), minutes(1)];
/** Most pods of one controller that are evicted for one return. */
const EVICTED_AT_ONCE = 10;
/** Most returns that are kept, the newest ones; a kubelet runs fewer pods. */
const MAX_RETURNS = 250;

type ReturningPod = Pick<PodView, 'uid' | 'name' | 'namespace' | 'ownerReferences' | 'creationTime'>;

/** Part of the drain that tells returns. From its start the node takes no new pods; `tried`: UIDs of pods that it has set out to end. */
type DrainReturns = Pick<ActiveDrain, 'returns' | 'startTime' | 'tried'>;

/** The key of pods that come back: the UID of their controller, else `namespace/name`. */
function returnKeyOf(pod: ReturningPod): string {
  return pod.ownerReferences.find(({ controller }) => controller === true)?.uid ?? qualifiedName(pod);
}

/** A creation time is a whole second. */
const CREATION_PRECISION = seconds(1);

/** Whether the pod came after the last return. A pod that came with it and still waits for its turn belongs to that return. */
const isNextReturn = ({ creationTime }: ReturningPod, last: PodReturn | undefined): boolean =>
  last === undefined || creationTime === undefined || addDuration(creationTime, CREATION_PRECISION) > last.time;

/** Whether the pod was made after the start of the drain. Shortly after the cordon the scheduler may not know of it yet. */
export const hasComeLate = ({ creationTime }: Pick<PodView, 'creationTime'>, startTime: EpochMs): boolean =>
  creationTime !== undefined && creationTime > addDuration(startTime, CLOCK_SKEW);

export type PodReturnState =
  /** The pod was there when the drain began, or was evicted for this return and is still there. */
  | { readonly kind: 'stays' }
  | { readonly kind: 'waits'; readonly until: EpochMs }
  | { readonly kind: 'due' }
  /** The pod has come back too often. */
  | { readonly kind: 'ignored' };

/**
 * Tells of a pod for which an act is planned whether it has come back, and when it is evicted again. Once one pod has come back too often, those
 * of the same controller that still wait for their turn are left as well.
 */
export function createPodReturns(
  { returns, startTime, tried }: DrainReturns,
  pods: readonly ReturningPod[],
  now: EpochMs,
) {
  const returnsByKey = new Map(returns.map(podReturn => [podReturn.of, podReturn]));
  const isBack = (pod: ReturningPod): boolean => hasComeLate(pod, startTime) && !tried.includes(pod.uid);
  const hasReturnedTooOften = (pod: ReturningPod): boolean => {
    const last = returnsByKey.get(returnKeyOf(pod));
    return last !== undefined && last.times >= RETURNS_EVICTED && isNextReturn(pod, last);
  };
  const ignored = new Set(pods.filter(pod => isBack(pod) && hasReturnedTooOften(pod)).map(returnKeyOf));
  const planned = new Map<string, number>();
  return (pod: ReturningPod): PodReturnState => {
    const { creationTime } = pod;
    if (creationTime === undefined || !isBack(pod)) return { kind: 'stays' };
    const key = returnKeyOf(pod);
    if (ignored.has(key)) return { kind: 'ignored' };
    const last = returnsByKey.get(key);
    const until = addDuration(last?.time ?? creationTime, DELAYS[last?.times ?? 0] ?? minutes(1));
    if (until > now) return { kind: 'waits', until };
    const count = (planned.get(key) ?? 0) + 1;
    planned.set(key, count);
    return count <= EVICTED_AT_ONCE ? { kind: 'due' } : { kind: 'waits', until: addDuration(now, minutes(1)) };
  };
}

/** Counts the returns of these pods, which are about to be evicted for it. */
export function withPodReturns(
  returns: readonly PodReturn[],
  pods: readonly ReturningPod[],
  now: EpochMs,
): readonly PodReturn[] {
  const lastOf = new Map(returns.map(podReturn => [podReturn.of, podReturn]));
  const keys = new Set(pods.filter(pod => isNextReturn(pod, lastOf.get(returnKeyOf(pod)))).map(returnKeyOf));
  if (keys.size === 0) return returns;
  const others = returns.filter(({ of }) => !keys.has(of));
  const next = [...keys].map(of => ({ of, times: (lastOf.get(of)?.times ?? 0) + 1, time: now }));
  return [...others, ...next].slice(-MAX_RETURNS);
}
