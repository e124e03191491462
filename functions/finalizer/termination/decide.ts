/**
 * The rule of terminations (docs/terminations.md; I1, I5, I7): the finalizers that a NodeClaim and its Nodes carry while they live, and the acts
 * that a deletion asks for. Pure: no I/O, no clock.
 *
 * | question | function | in | asked by |
 * |---|---|---|---|
 * | what NodeClaim and Nodes need now | `decide` | `decide.ts` | `reconcile.ts`, `../wake-ups.ts` |
 * | by which settings it goes, and what it does without them | `settingsInForce`, `whileSettingsUnreadable` | `rule/settings-in-force.ts` | `observe.ts`, `record-writer.ts` |
 * | what is reported before the steps | `nextAnnouncement`, `deadlineText` | `rule/turn.ts` | `terminate.ts` |
 * | what follows a step that failed | `afterFailedStep` | `rule/turn.ts` | `refusals.ts` |
 * | when the next look is | `waitOfTurn`, `nextLook` | `rule/turn.ts` | `context.ts`, `terminate.ts` |
 * | which object is deleted next | `nextDeletion` | `rule/deletion.ts` | `delete-objects.ts` |
 * | which pods go, and when | `planDrain` | `rule/drain-plan.ts` | `delete-objects.ts`, `drain.ts`, `due-pods.ts` |
 * | which volumes are waited for | `attachmentsOf`, `blockingAttachments`, `podsThatStay` | `rule/drain-plan.ts` | `volumes.ts` |
 * | who calls the hooks | `ownerByNode` | `rule/hooks.ts` | `hook-owner.ts` |
 * | which hooks are called, and what is next for each | `nextAtPoint`, `nextForHook`, `afterAnswer`, `nextTimeout`, `unawaitedNews` | `rule/hooks.ts`, `rule/hook.ts`, `rule/hook-progress.ts` | `hooks.ts` |
 * | what came of a hook | `progressOf`, `lastMessageOf` | `rule/hook-progress.ts` | `hooks.ts`, `report.ts` |
 * | whose the instance is | `ownershipOf`, `instanceSharing`, `precedesDestructiveCall` | `rule/instance.ts` | `hooks.ts`, `instance-sharing.ts`, `instance.ts`, `report.ts` |
 * | in which of several terminations it ends | `endingClaim` | `rule/instance.ts` | `observe.ts` |
 * | how it ends | `nextForInstance`, `afterRefusedCall`, `needsAnswer` | `rule/instance.ts` | `instance.ts`, `missing-instance.ts` |
 * | when it was launched | `launchTimeOf` | `rule/objects.ts` | `instance.ts`, `record-writer.ts` |
 */
import {
  DEFAULT_TERMINATION_FINALIZER,
  KARPENTER_FINALIZER,
  type Deadline,
  type TerminationScope,
} from '../../../shared/domain/termination.ts';
import { isDue, type EpochMs } from '../../../shared/domain/time.ts';
import { type DeadlineObservation, resolveDeadline } from './rule/deadline.ts';
import type { TerminatedClaim, TerminatedObject } from './rule/objects.ts';
import type { SettingsOfPool } from './rule/settings-in-force.ts';

export interface TerminationObservation extends Pick<DeadlineObservation, 'storedDeadline' | 'isDeadlineTakenBack'> {
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
  | ({ readonly kind: 'terminate'; readonly deadline: Deadline | undefined } & Termination)
  /** The deadline has come: no waiting for grace, volumes or hooks any more. */
  | ({ readonly kind: 'force'; readonly deadline: Deadline } & Termination);

interface Termination {
  /** The names of our finalizer on these objects. */
  readonly finalizerNames: readonly string[];
  /** Set when the deadline annotation cannot be read: it counts as absent. */
  readonly badTimestamp: string | undefined;
}

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
    // The brake stops what would begin, whatever settings there are for it.
    const goesOn = settings.isBraked && observation.isStartReported;
    if (settings.mode === 'Observe' && !goesOn) return { kind: 'wouldTerminate', deadline };
    const termination = { finalizerNames: names, badTimestamp };
    if (deadline !== undefined && isDue(observation.now, deadline.time))
      return { kind: 'force', deadline, ...termination };
    if (settings.kind === 'invalid' && !observation.isStartReported) {
      return { kind: 'awaitSettings', message: settings.message, deadline };
    }
    return { kind: 'terminate', deadline, ...termination };
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
