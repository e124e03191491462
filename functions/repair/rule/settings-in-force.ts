/** Which repair settings and limits are in force for a pool. Types only. */
import type { VetoCarrier } from './vetoes.ts';
import type { RepairLimits, RepairSettings } from '../../../shared/domain/repair-policy.ts';

/** Which repair block is in force for a pool. */
export interface EffectiveRepair {
  /** undefined: no block applies; `invalid`: one applies that cannot be read. */
  readonly settings: RepairSettings | { readonly invalid: string } | undefined;
  readonly mode: 'Enforce' | 'Observe';
  /** Where the block stands, e.g. `NodePool default`. */
  readonly source: string | undefined;
  /** The `repairLimits` of policies; absent while no policy has any. */
  readonly limits?: RepairLimitsInForce | undefined;
}

/** What applies to the nodes of one pool. */
export interface RepairRules extends EffectiveRepair {
  readonly gateOpen: boolean;
  /** The veto of the pool itself. */
  readonly poolVeto: VetoCarrier | undefined;
}

/** What one policy says. */
export interface StatedLimits extends RepairLimits {
  /** `NodeLifecyclePolicy edge`. */
  readonly source: string;
}

/** The limits on repairs that hold for one pool. */
export interface RepairLimitsInForce {
  /**
   * The policies of the cluster that have limits, each with its generation. Between two times without any limit, and
   * between two with this one, nothing was left uncounted.
   */
  readonly basis: string;
  /** Those that bind the pool. */
  readonly binding: readonly StatedLimits[];
  /** A policy that selects the pool has limits that cannot be read: they might forbid what the others allow (I6). */
  readonly fault?: string | undefined;
}
