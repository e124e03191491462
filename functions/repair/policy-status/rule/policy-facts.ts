/** Facts by which the status of one policy is judged. Pure. */
import type { PoolRecord } from '../../pool-record.ts';
import type { JsonObject } from '../../../../shared/domain/kubernetes-object.ts';

/** The blocks of a policy. */
export const BLOCKS = ['repair', 'repairLimits', 'drain', 'termination', 'protection'] as const;
export type Block = (typeof BLOCKS)[number];

/** A NodePool that the policy selects, or the nodes without one. */
export interface SelectedPool {
  /** Undefined: the nodes without a NodePool. */
  readonly name: string | undefined;
  readonly nodes: number;
  /** Counts of its repairs; undefined: a newer version keeps the record of the pool, and counts them. */
  readonly repairs: PoolRecord['counts'] | undefined;
  /** Number of NodeClaims that carry Karpenter's finalizer and are not being deleted. */
  readonly claimsWithKarpenterFinalizer: number;
  /** The repair block in force there is the policy's. */
  readonly isRepairedByPolicy: boolean;
  /** Blocks of the policy that count there, before the NodePool's own. */
  readonly blocksInForce: readonly Block[];
}

/** The policy as it is in force. */
export interface PolicyInForce {
  readonly mode: 'Enforce' | 'Observe';
  readonly selectsByLabels: boolean;
  readonly blocks: readonly Block[];
  /** It has no block at all, not even an unknown one. */
  readonly isBlockless: boolean;
}

/** A warning about settings that are accepted and probably not what their author meant. */
export interface PolicyWarning {
  readonly reason: string;
  readonly message: string;
  /** It is reported in an Event, too. */
  readonly isReported: boolean;
}

export interface PolicyFacts {
  readonly generation: number | undefined;
  /** The status as it stands. */
  readonly statusBefore: JsonObject | undefined;
  /** Fault for which the policy cannot be accepted; undefined: it can. */
  readonly fault: string | undefined;
  /** The generation whose repair blocks are in force; undefined: none. */
  readonly acceptedGeneration: number | undefined;
  readonly gateOpen: boolean;
  /** Undefined: no generation of it could be read. */
  readonly inForce: PolicyInForce | undefined;
  readonly selected: readonly SelectedPool[];
  readonly warnings: readonly PolicyWarning[];
}
