/** The rule of one FinalizerRule: whether a finalizer of its own keeps it, and when it goes. Pure: no I/O, no clock. */
import { listed } from '../../../shared/domain/cut-text.ts';
import type { FinalizerRule } from '../../../shared/domain/finalizer-rule.ts';
import { qualifiedName, type KubernetesObject, type ResourceType } from '../../../shared/domain/kubernetes-object.ts';
import { RUN_ENDS_WITHIN } from '../../../shared/domain/run-end.ts';
import { addDuration, isDue, minutes, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';

export interface FinalizerRuleInForce {
  readonly object: KubernetesObject;
  readonly rule: FinalizerRule;
  /** Whether its finalizer is put on objects that do not carry it: a FinalizerRule in conflict does not, nor one that is refused. */
  readonly addsFinalizer: boolean;
  /**
   * The FinalizerRule has a finalizer of its own. Without one it could go before its objects, so nothing is held before it is put on, or was refused.
   */
  readonly hasOwnFinalizer: boolean;
  /** The kind as the API server serves it; undefined until the forwarder watches it. */
  readonly type: ResourceType | undefined;
}

/** The standing of a FinalizerRule among all. */
export type FinalizerRuleAcceptance =
  | { readonly kind: 'inForce'; readonly value: FinalizerRuleInForce }
  /** `cleansUp`: objects that carry its finalizer are still cleaned up by it. Absent: its clean-up or name cannot be used. */
  | { readonly kind: 'invalid'; readonly message: string; readonly cleansUp: FinalizerRuleInForce | undefined }
  /** An older FinalizerRule has the kind. */
  | { readonly kind: 'conflict'; readonly olderFinalizerRule: string; readonly cleansUp: FinalizerRuleInForce };

/** The clean-up of the objects that carry the FinalizerRule's finalizer; undefined: there is none. */
export const cleanUpOf = (acceptance: FinalizerRuleAcceptance): FinalizerRuleInForce | undefined =>
  acceptance.kind === 'inForce' ? acceptance.value : acceptance.cleansUp;

export type FinalizerRuleDecision =
  /** The FinalizerRule's own finalizer is put on, before any object carries the one that it names. */
  | { readonly kind: 'addFinalizer'; readonly cleanUp: FinalizerRuleInForce }
  /** Its own finalizer is on. */
  | { readonly kind: 'keep'; readonly cleanUp: FinalizerRuleInForce }
  /** Nothing is cleaned up by it, so nothing keeps it. */
  | { readonly kind: 'free' }
  /** It is being deleted, and goes after the objects that carry its finalizer. */
  | { readonly kind: 'awaitObjects'; readonly cleanUp: FinalizerRuleInForce };

/** Decides what a FinalizerRule needs now. */
export function decide({
  object: { metadata },
  acceptance,
}: {
  readonly object: KubernetesObject;
  readonly acceptance: FinalizerRuleAcceptance;
}): FinalizerRuleDecision {
  const cleanUp = cleanUpOf(acceptance);
  if (cleanUp === undefined) return { kind: 'free' };
  if (metadata.deletionTimestamp !== undefined) return { kind: 'awaitObjects', cleanUp };
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

/**
 * Decides whether a FinalizerRule that is being deleted goes: when no object carries its finalizer, be it served or not. That is looked at once a
 * minute.
 */
export function decideRelease(observation: ReleaseObservation): ReleaseDecision {
  const { now, deletionTime, objectsWithFinalizer, isUnwatched } = observation;
  // Without access to the kind we never put a finalizer on. Nobody will grant access just to end the FinalizerRule.
  if (isUnwatched && objectsWithFinalizer.kind === 'unavailable' && objectsWithFinalizer.isForbidden)
    return { kind: 'release' };
  // A run that read the FinalizerRule before its deletion may still put the finalizer on an object: the last list counts once such runs are over.
  const settled = addDuration(deletionTime, RUN_ENDS_WITHIN);
  const isSettled = isDue(now, settled);
  if (objectsWithFinalizer.kind === 'none' && isSettled) return { kind: 'release' };
  const next = addDuration(now, minutes(1));
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

/** Counts and names objects: `3 objects (prod/a, prod/b, c)`. */
export function countedNames(objects: readonly KubernetesObject[]): string {
  const names = objects.map(({ metadata }) => qualifiedName(metadata)).toSorted();
  return `${names.length} ${names.length === 1 ? 'object' : 'objects'} (${listed(names)})`;
}
