/**
 * The rule of terminations (docs/terminations.md; I1, I5, I7): the finalizers that a NodeClaim and its Nodes carry while they live, and the acts
 * that a deletion asks for. Pure: no I/O, no clock.
 */
import {
  deadlineInForce,
  DEFAULT_TERMINATION_FINALIZER,
  KARPENTER_FINALIZER,
  type Deadline,
  type GracePeriod,
  type TerminationScope,
  type TerminationSettings,
} from '../../../shared/domain/termination.ts';
import { addDuration, earliest, isDue, parseTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import type { TerminatedClaim, TerminatedObject } from './rule/objects.ts';
import type { SettingsOfPool } from './rule/settings-in-force.ts';

export { attachmentsOf, blockingAttachments, podsThatStay } from './rule/drain-plan.ts';
export { type DrainPlan, isDrained, planDrain, type PodStep } from './rule/drain-plan.ts';
export { afterAnswer, hookTimeoutTime, nextTimeout, progressOf } from './rule/hook-progress.ts';
export { withAnswers, withCalls, withLaterCalls } from './rule/hook-progress.ts';
export type { ResourceAnswer } from './rule/hook-progress.ts';
export { type HookObservation, nextForHook } from './rule/hook.ts';
export { type HookOwner, nextAtPoint, ownerByNode, unawaitedNews, type UnawaitedNews } from './rule/hooks.ts';
export {
  afterRefusedCall,
  endingClaim,
  hasReadyNode,
  isEnding,
  isMissing,
  needsAnswer,
  nextForInstance,
  precedesDestructiveCall,
  shareOf,
  sharingWith,
  UNSHARED,
  withoutStrays,
} from './rule/instance.ts';
export type { InstanceLook, InstanceSharing } from './rule/instance.ts';
export {
  settingsInForce,
  type UnreadableSettingsObservation,
  whileSettingsUnreadable,
} from './rule/settings-in-force.ts';
export { afterFailedStep, deadlineText, nextAnnouncement, nextLook, waitOfTurn } from './rule/turn.ts';
export type { Announcement, StepRole } from './rule/turn.ts';

export interface TerminationObservation {
  readonly now: EpochMs;
  /** The NodeClaim, where there is exactly one. */
  readonly claim: TerminatedClaim | undefined;
  /** Its Nodes; or the one Node without a NodeClaim. */
  readonly nodes: readonly TerminatedObject[];
  readonly settings: SettingsOfPool & {
    readonly mode: 'Enforce' | 'Observe';
    /** The brake alone makes it `Observe`. */
    readonly isBraked: boolean;
  };
  /** The deadline of the termination under way. */
  readonly storedDeadline: Deadline | undefined;
  /** The NodePool or policy that set it was edited and sets none any more. */
  readonly isDeadlineTakenBack: boolean;
  /** The start was reported: its settings are in its record. */
  readonly isStartReported: boolean;
  /** Names under which an earlier look knew our finalizer on these objects. */
  readonly storedNames: readonly string[];
}

/** The finalizers and the mark of one object as they must be. */
export interface FinalizerChange {
  readonly object: TerminatedObject;
  readonly finalizers: readonly string[];
  readonly finalizerMark: string | undefined;
}

export type TerminationDecision =
  | { readonly kind: 'ignore'; readonly reason: 'HandsOff' | 'AsWanted' }
  | { readonly kind: 'refuse'; readonly message: string }
  | { readonly kind: 'prepare'; readonly changes: readonly FinalizerChange[] }
  | { readonly kind: 'wouldTerminate'; readonly deadline: Deadline | undefined }
  /** The settings of the termination cannot be read. Without a deadline it may have one there, so only a person can tell. */
  | { readonly kind: 'awaitSettings'; readonly message: string; readonly deadline: Deadline | undefined }
  | {
      readonly kind: 'terminate';
      readonly deadline: Deadline | undefined;
      /** No waiting for grace, volumes or hooks any more. */
      readonly isForced: boolean;
      /** The names of our finalizer on these objects. */
      readonly finalizerNames: readonly string[];
      /** Set when the deadline annotation cannot be read: it counts as absent. */
      readonly badTimestamp: string | undefined;
    };

/** Source of a deadline that stands in Karpenter's annotation. */
export const FROM_ANNOTATION = 'annotation';
/** Source of a deadline that is the NodeClaim's own grace period. */
export const FROM_NODE_CLAIM = 'NodeClaim';

/**
 * Decides about a NodeClaim and its Nodes. A deletion counts while our finalizer is on one of the objects that go. It is seen through, whatever
 * becomes of the settings, but for two cases:
 *
 * - In mode Observe it is only said. Where the brake alone makes the mode, what has begun goes on.
 * - While the settings cannot be read, none begins before its deadline (I6).
 */
export function decide(observation: TerminationObservation): TerminationDecision {
  const { claim, nodes, settings } = observation;
  const objects = [...(claim === undefined ? [] : [claim]), ...nodes];
  const names = ourNames(observation, objects);
  const isDeletedUnregistered = claim?.deletionTime !== undefined && !claim.isRegistered;
  const hasOurFinalizer = ({ finalizers, deletionTime }: TerminatedObject): boolean =>
    finalizers.some(name => names.includes(name)) && !(isDeletedUnregistered && deletionTime === undefined);

  if (objects.some(object => object.deletionTime !== undefined) && objects.some(hasOurFinalizer)) {
    const { deadline, badTimestamp } = resolveDeadline(observation);
    // The brake holds what would begin, whatever settings there are for it.
    const goesOn = settings.isBraked && observation.isStartReported;
    if (settings.mode === 'Observe' && !goesOn) return { kind: 'wouldTerminate', deadline };
    const isForced = deadline !== undefined && isDue(observation.now, deadline.time);
    if (settings.kind === 'invalid' && !isForced && !observation.isStartReported) {
      return { kind: 'awaitSettings', message: settings.message, deadline };
    }
    return { kind: 'terminate', deadline, isForced, finalizerNames: names, badTimestamp };
  }
  if (settings.kind === 'invalid') return { kind: 'refuse', message: settings.message };
  if (settings.kind === 'custom' && settings.mode === 'Observe') return { kind: 'ignore', reason: 'HandsOff' };
  const changes = objects.flatMap(object => changeOf(object, settings, names) ?? []);
  if (changes.length > 0) return { kind: 'prepare', changes };
  return { kind: 'ignore', reason: settings.kind === 'none' ? 'HandsOff' : 'AsWanted' };
}

/** Names of our finalizer on these objects: by the settings in force, by the mark, by default. */
function ourNames(
  { settings, storedNames }: TerminationObservation,
  objects: readonly TerminatedObject[],
): readonly string[] {
  const inForce = settings.kind === 'custom' ? [settings.settings.finalizerName] : [];
  const marks = objects.flatMap(({ finalizerMark }) => finalizerMark ?? []);
  const names = new Set([DEFAULT_TERMINATION_FINALIZER, ...inForce, ...marks, ...storedNames]);
  names.delete(KARPENTER_FINALIZER);
  return [...names].toSorted();
}

/** The change that a living object needs; undefined: none. A finalizer cannot be added once the deletion has begun. */
function changeOf(
  object: TerminatedObject,
  settings: Exclude<TerminationObservation['settings'], { kind: 'invalid' }>,
  names: readonly string[],
): FinalizerChange | undefined {
  const { finalizers, finalizerMark, deletionTime, kind } = object;
  if (deletionTime !== undefined) return undefined;
  const wanted =
    settings.kind === 'custom' && inScope(kind, settings.settings.scope) ? settings.settings.finalizerName : undefined;
  // I1: where ours is the only one that ends the instance, it stays when nobody asks for it any more; a deletion runs our steps.
  if (wanted === undefined && !finalizers.includes(KARPENTER_FINALIZER)) return undefined;
  // I7: what somebody else put on stays. The default name and the marked one are ours; so is the one that is asked for.
  const ours = names.filter(name => name === DEFAULT_TERMINATION_FINALIZER || name === finalizerMark);
  const kept = finalizers.filter(name => name === wanted || !ours.includes(name));
  const next = wanted === undefined || kept.includes(wanted) ? kept : [...kept, wanted];
  const isSame = next.length === finalizers.length && finalizerMark === wanted;
  return isSame ? undefined : { object, finalizers: next, finalizerMark: wanted };
}

function inScope(kind: TerminatedObject['kind'], scope: TerminationScope): boolean {
  return scope === 'NodeClaimAndNode' || (scope === 'NodeOnly' && kind === 'Node');
}

/**
 * The deadline: Karpenter's annotation first, for it is absolute, and repair forces by it. Else the deletion plus the NodeClaim's own grace
 * period, else that of NodePool or policy. An earlier deadline counts as in `deadlineInForce`.
 */
function resolveDeadline(observation: TerminationObservation): {
  deadline: Deadline | undefined;
  badTimestamp: string | undefined;
} {
  const { claim, nodes, settings, storedDeadline } = observation;
  const { terminationTimestamp, gracePeriod } = claim ?? {};
  const declared = terminationTimestamp === undefined ? undefined : parseTimestamp(terminationTimestamp);
  const badTimestamp = declared === undefined ? terminationTimestamp : undefined;
  const deletion = claim?.deletionTime ?? nodes.map(({ deletionTime }) => deletionTime).reduce(earliest, undefined);
  const ofSettings =
    settings.kind === 'custom'
      ? settings.settings.gracePeriod
      : settings.kind === 'invalid'
        ? settings.gracePeriod
        : undefined;
  const grace: GracePeriod | undefined =
    gracePeriod === undefined ? ofSettings : { period: gracePeriod, source: FROM_NODE_CLAIM };
  const current =
    declared !== undefined
      ? { time: declared, source: FROM_ANNOTATION }
      : deletion === undefined || grace === undefined
        ? undefined
        : endOf(grace, deletion);
  // Removing the annotation takes back what it asked for. An unreadable annotation does not.
  const isTakenBack =
    observation.isDeadlineTakenBack ||
    (claim !== undefined && storedDeadline?.source === FROM_ANNOTATION && terminationTimestamp === undefined);
  return { deadline: deadlineInForce(isTakenBack ? undefined : storedDeadline, current), badTimestamp };
}

const endOf = ({ period, ...by }: GracePeriod, deletion: EpochMs): Deadline => ({
  time: addDuration(deletion, period),
  ...by,
});

export interface DeletionObservation {
  readonly claim: TerminatedClaim | undefined;
  readonly nodes: readonly TerminatedObject[];
  /** Another NodeClaim has the instance, too. */
  readonly isShared: boolean;
  /** The names of our finalizer on these objects. */
  readonly finalizerNames: readonly string[];
  readonly settings: Pick<TerminationSettings, 'scope' | 'finalizerName'> | undefined;
}

export type NextDeletion =
  | { readonly kind: 'done' }
  | { readonly kind: 'delete'; readonly object: TerminatedObject }
  /** The Node gets our finalizer first: without one it would be gone with its pods before anybody drains it. */
  | { readonly kind: 'addFinalizer'; readonly object: TerminatedObject; readonly finalizerName: string };

/** The next deletion of NodeClaim and Nodes, which follow the one that was deleted, one at a time. */
export function nextDeletion(observation: DeletionObservation): NextDeletion {
  const { claim, nodes, isShared, finalizerNames } = observation;
  const isOurs = ({ finalizers }: TerminatedObject): boolean => finalizers.some(name => finalizerNames.includes(name));
  if (claim === undefined || isShared) return { kind: 'done' };
  if (claim.deletionTime === undefined) {
    const hasFinalizer = isOurs(claim) || claim.finalizers.includes(KARPENTER_FINALIZER);
    return hasFinalizer ? { kind: 'delete', object: claim } : { kind: 'done' };
  }
  const node = claim.isRegistered ? nodes.find(({ deletionTime }) => deletionTime === undefined) : undefined;
  if (node === undefined) return { kind: 'done' };
  const finalizerName = isOurs(node) ? undefined : finalizerToAdd(observation, node, claim);
  return finalizerName === undefined
    ? { kind: 'delete', object: node }
    : { kind: 'addFinalizer', object: node, finalizerName };
}

/**
 * The finalizer for a Node that is to be deleted: the one in force. Where nothing asks for it any more, it is the one that still keeps the
 * NodeClaim, for a deletion runs our steps then too (I1, I2). A Node that Karpenter's keeps does not go before it is drained.
 */
function finalizerToAdd(
  { settings, finalizerNames }: DeletionObservation,
  node: TerminatedObject,
  claim: TerminatedObject,
): string | undefined {
  if (settings !== undefined && settings.scope !== 'None') return settings.finalizerName;
  if (node.finalizers.includes(KARPENTER_FINALIZER)) return undefined;
  return claim.finalizers.find(name => finalizerNames.includes(name));
}
