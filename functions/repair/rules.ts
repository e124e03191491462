/** What holds for the nodes of one pool. Types. */
import { type RepairLimits, type RepairSettings } from '../../shared/domain/repair-policy.ts';
import type { Vetoer } from './others.ts';

/** What holds for the nodes of one pool. */
export interface RepairRules {
  readonly gateOpen: boolean;
  /** `undefined`: no repair block applies to the pool. */
  readonly settings: RepairSettings | { readonly invalid: string } | undefined;
  readonly mode: 'Enforce' | 'Observe';
  /** Where the block stands, e.g. `NodePool default`. */
  readonly source: string | undefined;
  /** The veto of the pool itself. */
  readonly poolVeto: Vetoer | undefined;
  /** The `repairLimits` of policies; absent while no policy has any. */
  readonly limits?: LimitsInForce | undefined;
}

export const readableSettings = ({ settings }: RepairRules): RepairSettings | undefined =>
  settings === undefined || 'invalid' in settings ? undefined : settings;

/** What one policy says. */
export interface StatedLimits extends RepairLimits {
  /** `NodeLifecyclePolicy edge`. */
  readonly source: string;
}

export interface LimitsInForce {
  /**
   * The policies of the cluster that have limits, each with its generation. Between two times without any limit, and between two
   * with this one, nothing was left uncounted.
   */
  readonly basis: string;
  /** Those that bind the pool. */
  readonly binding: readonly StatedLimits[];
  /** A policy that selects the pool has limits that cannot be read: they might forbid what the others allow (I6). */
  readonly fault?: string | undefined;
}
