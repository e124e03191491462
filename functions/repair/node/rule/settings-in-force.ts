/** Repair settings and limits in force for a pool. Types only. */
import type { VetoSource } from './vetoes.ts';
import type { RepairLimits, RepairSettings } from '../../../../shared/domain/repair-policy.ts';

/** The repair block in force for a pool. */
export interface RepairBlockInForce {
  /** Settings of the block; undefined: no block applies; `invalid`: one applies that cannot be read. */
  readonly settings: RepairSettings | { readonly invalid: string } | undefined;
  readonly mode: 'Enforce' | 'Observe';
  /** Object that has the block, e.g. `NodePool default`. */
  readonly source: string | undefined;
  /** The `repairLimits` of policies; absent while no policy has any. */
  readonly limits?: RepairLimitsInForce | undefined;
}

/** The repair that applies to the nodes of one pool. */
export interface RepairInForce extends RepairBlockInForce {
  readonly gateOpen: boolean;
  /** The veto of the pool itself. */
  readonly poolVeto: VetoSource | undefined;
}

/** Limits that one policy states. */
export interface StatedLimits extends RepairLimits {
  /** The policy, e.g. `NodeLifecyclePolicy edge`. */
  readonly source: string;
}

/** The limits on repairs that apply to one pool. */
export interface RepairLimitsInForce {
  /**
   * The policies of the cluster that have limits, each with its generation. While this is the same as in the record of
   * the reservations, no repair in flight was left uncounted.
   */
  readonly policyGenerations: string;
  /** Limits that bind the pool. */
  readonly binding: readonly StatedLimits[];
  /** A policy that selects the pool has limits that cannot be read: they might forbid what the others allow (I6). */
  readonly fault?: string | undefined;
}
