/**
 * The rule of custom drains (docs/drain.md): a custom resource asks somebody else's
 * controller to empty the node. It is made, waited for, and ends complete, failed or out of time. Pure; part of `decide`.
 */
import { invariant } from '../../../shared/domain/invariant.ts';
import type { CustomDrainSettings, DrainSettings } from '../../../shared/domain/drain-settings.ts';
import { fieldsOf, listIn } from '../../../shared/domain/json.ts';
import {
  qualifiedName,
  type JsonValue,
  type KubernetesObject,
  type ResourceType,
} from '../../../shared/domain/kubernetes-object.ts';
import { readConditions, type NodeCondition } from '../../../shared/domain/node.ts';
import { notServed } from '../../../shared/domain/not-served.ts';
import { addDuration, earliest, isDue, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { FoundResource } from './observation.ts';
import { recordedResource } from './phase.ts';
import type { PodPlan } from './pod-plan.ts';
import type { ActiveDrain, CustomProgress } from '../record.ts';
import type { DrainOutcome } from '../request-record.ts';

export type CustomDrainDecision =
  /** The resource is noted before it is created: nobody else's object is ever taken for ours, and ours is never forgotten. */
  | { readonly kind: 'recordResource'; readonly active: ActiveDrain; readonly resource: CustomProgress }
  | { readonly kind: 'createResource'; readonly active: ActiveDrain; readonly resource: CustomProgress }
  | AwaitedResource
  /** The custom drain has failed; the built-in modes take over. */
  | { readonly kind: 'fallBack'; readonly active: ActiveDrain; readonly because: DrainOutcome }
  | {
      readonly kind: 'finish';
      readonly active: ActiveDrain;
      readonly outcome: DrainOutcome;
      readonly plan: undefined;
    };

export interface AwaitedResource {
  readonly kind: 'awaitResource';
  /** The drain, with the custom resource as it was seen. */
  readonly active: ActiveDrain;
  readonly reason: 'ResourceNotServed' | 'ResourceNotKnown' | 'AwaitingCustomDrain';
  readonly message: string;
  readonly until: EpochMs;
}

export interface CustomDrainInput {
  readonly now: EpochMs;
  readonly active: ActiveDrain;
  readonly settings: DrainSettings;
  readonly resource: FoundResource;
  /** The failure of the last try to make the resource. */
  readonly unmade?: string | undefined;
  /** Pods that are still there. */
  readonly plan: PodPlan;
}

/** Times that the custom resource is created again after somebody has removed it. */
const RECREATIONS = 1;

export function decideCustomDrain({
  now,
  active,
  settings,
  resource,
  unmade,
  plan,
}: CustomDrainInput): CustomDrainDecision {
  const { customDrain } = settings;
  invariant(customDrain !== undefined && resource.kind !== 'notAsked', 'a custom drain has settings and a resource');
  const fails = (reason: string, message: string): CustomDrainDecision =>
    fail(active, customDrain, { reason, message, left: remainingPods(plan) });
  const custom = recordedResource(active);
  // That of the custom resource which was made, whatever the configuration names by now.
  const kind = custom === undefined ? `${customDrain.kind}.${customDrain.apiGroup}` : `${custom.kind}.${custom.group}`;
  const start = custom?.createdTime ?? active.startTime;
  const deadline = addDuration(start, customDrain.timeout);

  const resourceState =
    resource.kind === 'present' && resource.isOurs ? conditionsOf(resource.object, customDrain) : IN_PROGRESS;
  if (resourceState.kind === 'complete') return { kind: 'finish', active, outcome: completed(plan), plan: undefined };
  if (resource.kind === 'present' && !resource.isOurs) {
    return fails(
      'ForeignResource',
      `${kind} ${resource.name} was not made for this drain, and has the name of its own`,
    );
  }
  if (resourceState.kind === 'failed') {
    const { type, status, reason, message } = resourceState.condition;
    return fails('CustomDrainFailed', `${type} is ${status}: ${reason}${message === '' ? '' : `: ${message}`}`);
  }
  if (isDue(now, deadline)) {
    const within = formatSeconds(customDrain.timeout);
    const unknown = resource.kind === 'unavailable' ? `, as far as is known: ${resource.message}` : '';
    const isMade = resource.kind !== 'absent' || unmade === undefined;
    return fails(
      'TimedOut',
      `not complete within ${within}${unknown}${isMade ? '' : `, for it was not made: ${unmade}`}`,
    );
  }
  if (resource.kind === 'unavailable') {
    const message = `whether the custom drain is complete is not known: ${resource.message}`;
    return { kind: 'awaitResource', active, reason: 'ResourceNotKnown', message, until: deadline };
  }
  if (resource.kind === 'notServed') {
    const { requestedKind, versions } = resource;
    const isMissing = versions.length === 0;
    const missing = `the API server does not serve ${kind}: its CustomResourceDefinition is waited for`;
    const message = isMissing ? missing : notServed(requestedKind, versions);
    return { kind: 'awaitResource', active, reason: 'ResourceNotServed', message, until: deadline };
  }
  if (resource.kind === 'absent') {
    if (custom?.uid === undefined) {
      const { name } = resource;
      const first = { ...(custom ?? firstOf(customDrain, name, now)), ...resource.type };
      return { kind: custom === undefined ? 'recordResource' : 'createResource', active, resource: first };
    }
    if (custom.recreated >= RECREATIONS) return fails('ResourceRemoved', `${kind} ${resource.name} was removed again`);
    const { uid: _, seen: __, ...recreated } = { ...custom, ...resource.type };
    return { kind: 'recordResource', active, resource: { ...recreated, recreated: custom.recreated + 1 } };
  }
  const progress = progressOf(custom ?? firstOf(customDrain, resource.name, now), resource, now);
  const { heartbeat, statusConditionType, statusConditionStatus } = customDrain;
  const beat = heartbeat === undefined ? undefined : addDuration(progress.seen.since, heartbeat);
  if (heartbeat !== undefined && beat !== undefined && isDue(now, beat)) {
    return fails('HeartbeatMissed', `${kind} ${resource.name} has not changed for ${formatSeconds(heartbeat)}`);
  }
  return {
    kind: 'awaitResource',
    active: { ...active, phase: { kind: 'custom', resource: progress } },
    reason: 'AwaitingCustomDrain',
    message: `waiting for ${statusConditionType}=${statusConditionStatus} of ${kind} ${resource.name}`,
    until: earliest(deadline, beat),
  };
}

/** The custom resource as it is seen now, and since when it has not changed. */
function progressOf(
  before: Omit<CustomProgress, keyof ResourceType>,
  { object, type }: Extract<FoundResource, { kind: 'present' }>,
  now: EpochMs,
): CustomProgress & Required<Pick<CustomProgress, 'seen'>> {
  const { uid, resourceVersion } = object.metadata;
  const isSame = before.uid === uid && before.seen?.resourceVersion === resourceVersion;
  const seen = isSame && before.seen !== undefined ? before.seen : { resourceVersion, since: now };
  return { ...before, ...type, uid, seen };
}

const firstOf = (
  { kind, namespace }: CustomDrainSettings,
  name: string,
  createdTime: EpochMs,
): Omit<CustomProgress, keyof ResourceType> => ({ name, namespace, kind, createdTime, recreated: 0 });

/** State of a drain, by the conditions of its custom resource. */
type ResourceState =
  { readonly kind: 'complete' | 'inProgress' } | { readonly kind: 'failed'; readonly condition: NodeCondition };

const IN_PROGRESS: ResourceState = { kind: 'inProgress' };

/**
 * Reads the conditions of a custom resource. Complete comes before failed: a controller that says both has emptied the node. The condition that
 * would say complete also says failed, with another status and a reason that is a failure; with any other reason, or none, the drain is in
 * progress. Conditions of an older generation do not count.
 */
function conditionsOf(
  { metadata, status }: KubernetesObject,
  { statusConditionType, statusConditionStatus, failedConditionType }: CustomDrainSettings,
): ResourceState {
  const generation = metadata.generation ?? 0;
  const isCurrent = (condition: JsonValue): boolean => {
    const { observedGeneration: observed } = fieldsOf(condition);
    return typeof observed !== 'number' || observed >= generation;
  };
  const conditions = readConditions(listIn(status, 'conditions').filter(isCurrent));
  const is = (each: NodeCondition, wanted: string): boolean => each.status.toLowerCase() === wanted.toLowerCase();
  const own = conditions.filter(({ type }) => type === statusConditionType);
  if (own.some(each => is(each, statusConditionStatus))) return { kind: 'complete' };
  const condition =
    conditions.find(each => each.type === failedConditionType && is(each, 'True')) ??
    own.find(({ reason }) => FAILURE.test(reason));
  return condition === undefined ? IN_PROGRESS : { kind: 'failed', condition };
}

/** Reasons that are a failure, `TransientFailure` and `PermanentFailure` among them. */
const FAILURE = /(?:Failed|Failure|Error)$|^(?:Cancelled|Superseded)$/;

/** Ends a custom drain that cannot go on, or falls back to the built-in modes. `left`: pods that still run, as far as somebody looked. */
export function fail(
  active: ActiveDrain,
  { fallbackMode }: CustomDrainSettings,
  why: Pick<DrainOutcome, 'reason' | 'message' | 'left'>,
): CustomDrainDecision {
  const outcome: DrainOutcome = { status: 'Failed', ...why };
  if (fallbackMode !== undefined) return { kind: 'fallBack', active, because: outcome };
  return { kind: 'finish', active, outcome, plan: undefined };
}

function completed(plan: PodPlan): DrainOutcome {
  const podNames = remainingPods(plan);
  if (podNames.length === 0)
    return {
      status: 'Succeeded',
      reason: 'CustomDrainComplete',
      message: 'the custom drain is complete',
      left: podNames,
    };
  const message = `the custom drain is complete, and ${podNames.length} of its pods still run`;
  return { status: 'Succeeded', reason: 'CustomDrainCompleteWithPodsLeft', message, left: podNames };
}

function remainingPods({ acts, waits, leftPods }: PodPlan): readonly string[] {
  const pods = new Map([...acts, ...waits, ...leftPods].map(({ pod }) => [pod.uid, pod]));
  return [...pods.values()].map(pod => `${qualifiedName(pod)} (Running)`);
}

const formatSeconds = (duration: DurationMs): string => `${duration / 1000} s`;
