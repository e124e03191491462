/**
 * The plan of a drain for every pod of a node: when it goes, and what is in its way. By the rules of `functions/drain`.
 * Pure.
 */
import {
  deadlineOf,
  forcedEndTime,
  ALL_PODS,
  type DrainConfiguration,
  type OutOfScope,
  type DrainUnderWay,
  type DeletionTimes,
  compileSettings,
  podDrainability,
  podCriteriaOf,
  readUnderWay,
  timedDeletionOf,
} from '../../functions/drain/explain.ts';
import { ANNOTATIONS } from '../../shared/contract/names.ts';
import { evictionRefusal } from '../pod-disruption-budget.ts';
import { NO_DRAIN_LIMITS } from '../../shared/domain/drain-limits.ts';
import { drainResourceName } from '../../shared/domain/drain-resource-name.ts';
import { forceTime } from '../../shared/domain/forced-deletion.ts';
import { DRAIN_IN_PROGRESS, isOwnCondition } from '../../shared/domain/node-drain-conditions.ts';
import { isFinished, isTerminating, type PodView } from '../../shared/domain/pod.ts';
import { kubeletSilentSince } from '../../shared/domain/node.ts';
import { isActive, protectionOf } from '../../shared/domain/protection.ts';
import {
  addDuration,
  isDue,
  toDurationMs,
  toTimestamp,
  type DurationMs,
  type EpochMs,
} from '../../shared/domain/time.ts';
import type { NodeObservation } from '../explain/observation.ts';
import type { LiveConfiguration } from './observe.ts';

export interface PlannedPod {
  readonly namespace: string;
  readonly name: string;
  /** `leave`: it stays; `ignore`: it should go, and is not waited for; `delegate`: left to the custom resource's controller. */
  readonly action: 'evict' | 'delete' | 'await' | 'delegate' | 'ignore' | 'leave' | 'unknown';
  readonly because: string;
  /** Time at which a pod is deleted. */
  readonly time: EpochMs | undefined;
  /** Reasons why the pod cannot go now. */
  readonly blockers: readonly string[];
}

export interface PlannedDeadline {
  readonly period: DurationMs;
  /** `turn`: its turn must come in that time; `fail`: the drain ends; `force`: unprotected pods are deleted before. */
  readonly kind: 'turn' | 'fail' | 'force';
  /** Without pauses, which the Node does not show. undefined: the Node does not show since when the drain waits for its turn. */
  readonly time: EpochMs | undefined;
}

export interface DrainPlan {
  readonly node: string;
  /** The reason why nothing would begin. */
  readonly held: string | undefined;
  /** The custom resource that is asked for the drain. `isServed` false: its CustomResourceDefinition is missing, or serves other versions. */
  readonly custom:
    | { readonly kind: string; readonly namespace: string; readonly name: string; readonly isServed: boolean }
    | undefined;
  /** Time that the custom drain has, from the creation of its resource on. */
  readonly timeout: DurationMs | undefined;
  /** By the policy; undefined: it has none. */
  readonly deadline: PlannedDeadline | undefined;
  readonly pods: readonly PlannedPod[];
}

/** @param drain the one under way, or one that would begin now */
export function planDrain(
  observation: NodeObservation,
  live: LiveConfiguration,
  drain: DrainUnderWay,
  now: EpochMs,
): DrainPlan {
  const { node } = observation;
  const hasBegun = readUnderWay(node.annotations[ANNOTATIONS.drainUnderWay])?.isWaiting === false;
  const held = hasBegun ? undefined : observation.drainsHeld;
  const configured = live.kind === 'valid' ? live.configuration.drain : undefined;
  const settings = drain.allPods === true ? ALL_PODS.settings : configured;
  if (settings === undefined) {
    const because = 'no valid configuration says how it goes';
    const pods = inOrder(observation.pods.filter(pod => !isFinished(pod))).map(({ namespace, name }): PlannedPod => ({
      namespace,
      name,
      action: 'unknown',
      because,
      time: undefined,
      blockers: [],
    }));
    return {
      node: node.name,
      custom: undefined,
      timeout: undefined,
      deadline: undefined,
      pods,
      held: live.kind === 'invalid' ? heldBy(live.message) : NO_CONFIGURATION,
    };
  }
  const configuration: DrainConfiguration =
    drain.allPods === true ? ALL_PODS : { settings, ...compileSettings(settings) };
  const custom = configuration.isCustom(node.labels) ? settings.customDrain : undefined;
  const deadline = drain.allPods === true ? undefined : plannedDeadline(observation, drain, custom !== undefined, now);
  const context: PlanContext = {
    observation,
    now,
    deleteTime: addDuration(drain.since, settings.deleteAfterTimeout),
    forcedEndTime: deadline?.kind === 'force' ? deadline.time : undefined,
    deadline: deadline?.kind === 'turn' ? undefined : deadline?.time,
    protection: observation.protection.policy,
    isProtectionOverridden: false,
    isCustom: custom !== undefined,
    isHeld: held !== undefined,
    isWaiting: drain.isWaiting,
    criteria: podCriteriaOf({ ...drain, phase: { kind: 'draining' } }, configuration, {
      labels: node.labels,
      kubeletSilentSince: kubeletSilentSince(node.conditions),
    }),
  };
  return {
    node: node.name,
    held,
    custom: custom && {
      kind: custom.kind,
      namespace: custom.namespace,
      name: drainResourceName(node.name, drain.id),
      isServed: live.kind === 'valid' && live.isCustomServed,
    },
    timeout: custom?.timeout,
    deadline,
    pods: inOrder(observation.pods).map(pod => planPod(pod, context)),
  };
}

/** From the start of the drain on, which its condition says. */
function plannedDeadline(
  { node, drainLimits: limits = NO_DRAIN_LIMITS }: NodeObservation,
  { isWaiting }: DrainUnderWay,
  isCustom: boolean,
  now: EpochMs,
): PlannedDeadline | undefined {
  if (limits.kind === 'unreadable' || limits.deadline === undefined) return undefined;
  const shown = node.conditions.find(each => each.type === DRAIN_IN_PROGRESS && isOwnCondition(each));
  const { deadline: period } = limits;
  if (isWaiting) return { period, kind: 'turn', time: undefined };
  const began = { startTime: shown?.lastTransitionTime ?? now, pausedFor: toDurationMs(0) };
  const kind = forcedEndTime(began, limits, isCustom) === undefined ? 'fail' : 'force';
  return { period, kind, time: deadlineOf(began, limits) };
}

function inOrder(pods: readonly PodView[]): readonly PodView[] {
  return pods.toSorted((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
}

export const NO_CONFIGURATION =
  'no key of config.toml in ConfigMap curfew/curfew-config says how nodes are drained: the drain waits for userNamespaces, podDrainPolicies or customDrain';

const heldBy = (message: string): string =>
  `the configuration is not valid: ${message}. A drain follows the last valid one, or waits if there was none; which one that is cannot be seen here`;

interface PlanContext extends DeletionTimes {
  readonly observation: NodeObservation;
  readonly now: EpochMs;
  readonly isCustom: boolean;
  readonly isHeld: boolean;
  /** The drain waits for its turn. */
  readonly isWaiting: boolean;
  readonly criteria: ReturnType<typeof podCriteriaOf>;
}

function planPod(pod: PodView, context: PlanContext): PlannedPod {
  const { observation, now, isCustom, isHeld, criteria } = context;
  const { namespace, name } = pod;
  const planned = (action: PlannedPod['action'], because: string, more: Partial<PlannedPod> = {}): PlannedPod => ({
    namespace,
    name,
    action,
    because,
    time: undefined,
    blockers: [],
    ...more,
  });
  const drainability = podDrainability(pod, criteria, now);
  if (drainability.kind === 'outOfScope') return planned('leave', OUT_OF_SCOPE[drainability.because]);
  if (drainability.kind === 'unknown')
    return planned('unknown', drainability.message, { blockers: [drainability.message] });
  if (isCustom) return planned('delegate', 'left to the controller of the custom resource');
  if (isTerminating(pod)) {
    return drainability.kind === 'leftBehind'
      ? planned('ignore', 'does not stop: not waited for')
      : planned('await', 'is stopping');
  }
  const held = protectionOf(pod, observation.protection.policy);
  const forceAt = forceTime(pod, context.forcedEndTime);
  const forcedTime = forceAt !== undefined && !isActive(held, forceAt) ? forceAt : undefined;
  if (drainability.mode === 'AllowCompletion') {
    if (drainability.kind === 'leftBehind') return planned('ignore', 'is not ready: not waited for');
    const because = 'waited for until it ends by itself';
    if (forcedTime === undefined) return planned('await', because);
    return planned('await', `${because}, and deleted at ${toTimestamp(forcedTime)}`, { time: forcedTime });
  }
  const protectedUntil = held.kind === 'until' ? ` until ${toTimestamp(held.expiry)}` : '';
  const protections = isActive(held, now) ? [`protected${protectedUntil}`] : [];
  const note = drainability.kind === 'leftBehind' ? '; is not ready: not waited for' : '';
  if (drainability.mode === 'DeleteAfterTimeout') {
    if (!isHeld) return planned(...timedPlan(pod, context, protections, note));
    const first = held.kind === 'indefinite' ? 'its protection is taken off and ' : '';
    const because = `deleted when ${first}its time is over, which stands still while the drain is held${note}`;
    return planned('delete', because, { blockers: protections });
  }
  const refusal = evictionRefusal(pod, observation.budgets);
  const blockers = [...protections, ...(refusal === undefined ? [] : [refusal])];
  if (held.kind === 'until' && isActive(held, now)) {
    const because = `evicted at ${toTimestamp(held.expiry)}, when its protection ends${note}`;
    return planned('evict', because, { time: held.expiry, blockers: refusal === undefined ? [] : [refusal] });
  }
  const orDeleted = forcedTime === undefined ? '' : `, or deleted at ${toTimestamp(forcedTime)}`;
  const free = refusal === undefined ? 'at once' : `once that is allowed${orDeleted}`;
  const when = isActive(held, now) ? 'once its protection is taken off' : free;
  return planned('evict', `evicted ${when}${note}`, { blockers });
}

function timedPlan(
  pod: PodView,
  times: PlanContext,
  protections: readonly string[],
  note: string,
): [action: PlannedPod['action'], because: string, more: Partial<PlannedPod>] {
  const deletion = timedDeletionOf(pod, times);
  if (deletion.kind === 'kept') {
    const because = `waited for until it ends by itself: the drain ends at ${toTimestamp(deletion.deadline)}, before the pod would be deleted`;
    return ['await', `${because}${note}`, { blockers: deletion.isProtected ? protections : [] }];
  }
  const time = toTimestamp(deletion.time);
  switch (deletion.kind) {
    case 'atTimeout': {
      if (!times.isWaiting)
        return ['delete', `deleted at ${time} unless it ends before${note}`, { time: deletion.time }];
      const noticed = 'up to ten minutes after the drain gets its turn';
      const when = isDue(times.now, deletion.time) ? noticed : `at ${time}, or ${noticed} if that is later,`;
      return ['delete', `deleted ${when} unless it ends before${note}`, {}];
    }
    case 'atExpiry': {
      const because = `deleted at ${time}, when its protection ends, unless it ends before${note}`;
      return ['delete', because, { time: deletion.time }];
    }
    case 'onceUnprotected': {
      const because = `deleted once its protection is taken off, at ${time} at the earliest, unless it ends before${note}`;
      return ['delete', because, { blockers: protections }];
    }
  }
}

const OUT_OF_SCOPE: Readonly<Record<OutOfScope, string>> = {
  SystemNamespace: 'stays: its namespace is a system namespace',
  NoRule: 'stays: no rule of the configuration matches it',
  DaemonSet: 'stays: it is of a DaemonSet',
  Static: 'stays: its kubelet runs it from a file',
  Finished: 'stays: it has ended',
  NoDevices: 'stays: it has no device annotation (drainGPUPods)',
  OtherEntity: 'stays: it uses none of the GPUs of the drain',
};
