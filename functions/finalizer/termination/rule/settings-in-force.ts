/**
 * Settings of a termination: those in force now. If NodePool and policy have gone since, or cannot be read, those that were in force last count:
 * the clean-up that a finalizer stands for does not go with its policy (I1). Pure.
 */
import { deletionTimeOf, type KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import { readNodeClaim } from '../../../../shared/domain/node-claim.ts';
import { TRANSIENT_FAILURE } from '../../../../shared/domain/refusal.ts';
import type { GracePeriod, TerminationSettings } from '../../../../shared/domain/termination.ts';
import { addDuration, isDue, type EpochMs } from '../../../../shared/domain/time.ts';
import type { TerminationRecord, KeptSettings } from '../record.ts';
import { isManaged } from './objects.ts';

/** Termination settings of NodePool and policies. */
export type SettingsOfPool =
  | { readonly kind: 'none' }
  | { readonly kind: 'invalid'; readonly message: string; readonly gracePeriod: GracePeriod | undefined }
  | { readonly kind: 'custom'; readonly settings: TerminationSettings };

/** The settings that a termination goes by. @param stored of the termination under way */
export function settingsInForce(
  termination: SettingsOfPool,
  stored: Pick<TerminationRecord, 'settings' | 'hooks'> | undefined,
): KeptSettings | undefined {
  if (termination.kind === 'custom') {
    const { finalizerName, scope, hooks } = termination.settings;
    return { finalizerName, scope, hooks };
  }
  const kept = stored?.settings;
  if (kept === undefined || termination.kind === 'invalid') return kept;
  // A hook that delays its termination waits for a person: one has taken its policy away.
  const isDelaying = (name: string): boolean =>
    Object.hasOwn(stored?.hooks ?? {}, name) && stored?.hooks[name]?.phase === 'timedOut';
  return { ...kept, hooks: kept.hooks.filter(({ name }) => !isDelaying(name)) };
}

export interface UnreadableSettingsObservation {
  readonly now: EpochMs;
  /** NodeClaim or Node that is terminated. */
  readonly object: KubernetesObject;
  /** Nodes of it whose names are known. */
  readonly nodes: readonly KubernetesObject[];
  readonly isUnderWay: boolean;
  /** The settings cannot be read because a kind is not served. */
  readonly isNotServed: boolean;
}

/**
 * The next act of a termination while nobody gets to see NodePool or policies. `goOn`: it has begun, and keeps its deadline with the settings of
 * its record; nothing else of it goes on. `await`: it would begin, and waits as for a block that cannot be read, once that has lasted (I6), and at
 * the NodeClaim's own deadline at once. `tryAgain`: the message goes back to the queue.
 */
export function whileSettingsUnreadable({
  now,
  object,
  nodes,
  isUnderWay,
  isNotServed,
}: UnreadableSettingsObservation): 'goOn' | 'await' | 'tryAgain' {
  if (isUnderWay) return 'goOn';
  const deletion = deletionTimeOf(object);
  const isOurs = [object, ...nodes].some(isManaged);
  if (isNotServed || deletion === undefined || !isOurs) return 'tryAgain';
  const gracePeriod = object.kind === 'NodeClaim' ? readNodeClaim(object).terminationGracePeriod : undefined;
  const isForced = gracePeriod !== undefined && isDue(now, addDuration(deletion, gracePeriod));
  const isLasting = isDue(now, addDuration(deletion, TRANSIENT_FAILURE));
  return isLasting || isForced ? 'await' : 'tryAgain';
}
