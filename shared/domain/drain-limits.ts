/** A policy's `drain` block: how many nodes of a pool are drained at the same time, and how long one drain may take. */
import { resolveNodeCount, type NodeCount } from './repair-policy.ts';
import type { DurationMs } from './time.ts';

export const DRAIN_ON_DEADLINES = ['Fail', 'Force'] as const;
/** The end of a drain at its deadline: it fails, or its unprotected pods are deleted in time first. */
export type DrainOnDeadline = (typeof DRAIN_ON_DEADLINES)[number];

export interface DrainLimits {
  /** Nodes of one pool that are drained at the same time; undefined: no limit. */
  readonly maxConcurrent: NodeCount | undefined;
  /** From the start of a drain. A drain that waits for its turn has the same time again; undefined: no deadline. */
  readonly deadline: DurationMs | undefined;
  readonly onDeadline: DrainOnDeadline;
}

export type KnownLimits = DrainLimits & { readonly kind: 'known' };

export type DrainLimitsInForce =
  | KnownLimits
  /** A block that may limit the pool cannot be read, and why. */
  | { readonly kind: 'unreadable'; readonly message: string };

export const NO_DRAIN_LIMITS: KnownLimits = {
  kind: 'known',
  maxConcurrent: undefined,
  deadline: undefined,
  onDeadline: 'Fail',
};

/**
 * Number of the `total` nodes of a pool that may be drained at once: a percentage is rounded up, and one always may.
 */
export const slotsOf = (maxConcurrent: NodeCount, total: number): number =>
  Math.max(1, resolveNodeCount(maxConcurrent, total));
