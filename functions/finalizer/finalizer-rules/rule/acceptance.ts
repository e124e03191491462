/** The standing of a FinalizerRule among all, and what it cleans up. Pure. */
import type { FinalizerRule } from '../../../../shared/domain/finalizer-rule.ts';
import type { KubernetesObject, ResourceType } from '../../../../shared/domain/kubernetes-object.ts';

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
