/**
 * The rule of one FinalizerRule: whether a finalizer of its own keeps it, and when it goes. Pure: no I/O, no clock.
 *
 * | question | function | in | asked by |
 * |---|---|---|---|
 * | what the FinalizerRule needs now | `decide` | `decide.ts` | `reconcile.ts` |
 * | whether one that is being deleted goes | `decideRelease` | `decide.ts` | `finalizer.ts` |
 * | what it cleans up | `cleanUpOf` | `rule/acceptance.ts` | `finalizer-rule-set.ts`, `wake-ups.ts` |
 * | which objects carry its finalizer, in words | `countedNames` | `rule/counted-names.ts` | `status.ts` |
 */
import { cleanUpOf, type FinalizerRuleAcceptance, type FinalizerRuleInForce } from './rule/acceptance.ts';
import { countedNames } from './rule/counted-names.ts';
import type { FinalizerRule } from '../../../shared/domain/finalizer-rule.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { RUN_ENDS_WITHIN } from '../../../shared/domain/run-end.ts';
import { addDuration, type EpochMs, isDue, minutes, toTimestamp } from '../../../shared/domain/time.ts';

export type FinalizerRuleDecision =
  /** The FinalizerRule's own finalizer is put on, before any object carries the one that it names. */
  | { readonly kind: 'addFinalizer'; readonly cleanUp: FinalizerRuleInForce }
  /** Its own finalizer is on. */
  | { readonly kind: 'keep'; readonly cleanUp: FinalizerRuleInForce }
  /** Nothing is cleaned up by it, so nothing keeps it: also one that is being deleted while another one has its objects. */
  | { readonly kind: 'free' }
  /** It is being deleted, and goes after the objects that carry its finalizer. */
  | { readonly kind: 'awaitObjects'; readonly cleanUp: FinalizerRuleInForce };

/** Decides what a FinalizerRule needs now. */
export function decide({
  object: { metadata },
  acceptance,
  isReplaced,
}: {
  readonly object: KubernetesObject;
  readonly acceptance: FinalizerRuleAcceptance;
  /** Another FinalizerRule sees to the objects with its finalizer. */
  readonly isReplaced: boolean;
}): FinalizerRuleDecision {
  const cleanUp = cleanUpOf(acceptance);
  if (cleanUp === undefined) return { kind: 'free' };
  if (metadata.deletionTimestamp !== undefined)
    return isReplaced ? { kind: 'free' } : { kind: 'awaitObjects', cleanUp };
  return { kind: cleanUp.hasOwnFinalizer ? 'keep' : 'addFinalizer', cleanUp };
}

/** Objects that carry the finalizer of a FinalizerRule. `notServed`: its kind is not served in the version that the FinalizerRule names. */
export type ObjectsWithFinalizer =
  | { readonly kind: 'none' | 'notServed' }
  | { readonly kind: 'some'; readonly objects: readonly KubernetesObject[] }
  /** The objects could not be listed. */
  | { readonly kind: 'unavailable'; readonly message: string; readonly isForbidden: boolean };

export interface ReleaseObservation {
  readonly now: EpochMs;
  readonly rule: FinalizerRule;
  readonly deletionTime: EpochMs;
  readonly objectsWithFinalizer: ObjectsWithFinalizer;
  /** Its kind was never watched, as far as its status says. */
  readonly isUnwatched: boolean;
}

export type ReleaseDecision =
  | { readonly kind: 'release' }
  /** `because`: the condition `ObjectsReleased` meanwhile. */
  | { readonly kind: 'wait'; readonly until: EpochMs; readonly because: WaitReason };

export interface WaitReason {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** A FinalizerRule that is being deleted is looked at this often: no event of it tells that another object has gone. */
const RELEASE_CHECK = minutes(1);

/** Decides whether a FinalizerRule that is being deleted goes: when no object carries its finalizer, be it served or not. */
export function decideRelease(observation: ReleaseObservation): ReleaseDecision {
  const { now, deletionTime, objectsWithFinalizer, isUnwatched } = observation;
  // Without access to the kind we never put a finalizer on. Nobody will grant access just to end the FinalizerRule.
  if (isUnwatched && objectsWithFinalizer.kind === 'unavailable' && objectsWithFinalizer.isForbidden)
    return { kind: 'release' };
  // A run that read the FinalizerRule before its deletion may still put the finalizer on an object: the last list counts once such runs are over.
  const settled = addDuration(deletionTime, RUN_ENDS_WITHIN);
  const isSettled = isDue(now, settled);
  if (objectsWithFinalizer.kind === 'none' && isSettled) return { kind: 'release' };
  const next = addDuration(now, RELEASE_CHECK);
  const until = isSettled || settled > next ? next : settled;
  return { kind: 'wait', until, because: reasonOf(observation, settled) };
}

/** The reason why the FinalizerRule stays. */
function reasonOf({ objectsWithFinalizer, rule }: ReleaseObservation, settled: EpochMs): WaitReason {
  const { kind, version, finalizerName } = rule;
  switch (objectsWithFinalizer.kind) {
    case 'none':
      return {
        status: 'True',
        reason: 'Released',
        message: `no object carries ${finalizerName}; the rule goes at ${toTimestamp(settled)}, for somebody may have read it before its deletion`,
      };
    case 'notServed':
      return {
        status: 'False',
        reason: 'NotServed',
        message: `${kind} is not served in version ${version}: its objects are out of sight`,
      };
    case 'unavailable':
      return {
        status: 'False',
        reason: 'ListFailed',
        message: `which objects carry ${finalizerName} is not known: ${objectsWithFinalizer.message}`,
      };
    case 'some': {
      const carries = objectsWithFinalizer.objects.length === 1 ? 'carries' : 'carry';
      return {
        status: 'False',
        reason: 'Waiting',
        message: `${countedNames(objectsWithFinalizer.objects)} ${carries} ${finalizerName}`,
      };
    }
  }
}
