/**
 * The custom metrics that alarms watch, by the names that functions emit and alarms read. Metrics without an alarm are named where
 * they are counted.
 */
import type { FunctionName } from './names.ts';

/** CloudWatch namespace of every metric. */
export const METRIC_NAMESPACE = 'Curfew';

export const METRICS = {
  /**
   * Time by which the oldest due record is late, in milliseconds; written by the timer function at each sweep, 0 when
   * nothing is overdue. No data means that the sweep does not run.
   */
  oldestOverdueTimer: 'OldestOverdueTimer',
  /** Messages that will be tried again, with the dimension `reason`, a `RetryReason`. */
  retries: 'Retries',
  /**
   * Retries that mean a broken installation or an outage (`ACCESS_REASONS`), without a dimension of their own, so that
   * one alarm sees all.
   */
  accessFailures: 'AccessFailures',
  /** Messages that met a bug and will be redelivered; Lambda itself counts no error for them, since the batch is answered. */
  messageFailed: 'MessageFailed',
  /** Entries of the due index that could not be read and were skipped, counted at each sweep. */
  unreadableRecord: 'UnreadableRecord',
  /** The record that stands for all of them was not there: the table is new, or its records have vanished. */
  recordsVanished: 'RecordsVanished',
} as const;

/**
 * The reason why a message is tried again, as a dimension: one of a bounded set, whatever the other side called it. The
 * log line has the other side's word.
 */
export type RetryReason =
  | 'Unauthorized'
  | 'Forbidden'
  | 'AccessDenied'
  | 'NotFound'
  | 'Unreachable'
  | 'ServerError'
  | 'Throttled'
  | 'Conflict'
  | 'DeadlineReserve'
  | 'Other';

/** Reasons that do not pass by trying again soon: permissions, settings, or a part that is down. */
export const ACCESS_REASONS: ReadonlySet<RetryReason> = new Set([
  'Unauthorized',
  'Forbidden',
  'AccessDenied',
  'NotFound',
  'Unreachable',
  'ServerError',
]);

/** Metrics of the grace-period function, for dashboards: no dimension beside the service. */
export const GRACE_PERIOD_METRICS = {
  /** Changes of Nodes, by `decision`. */
  decision: 'GracePeriodDecision',
  /** Pods with an active protection on the node that was looked at: read its maximum or a percentile, not its sum. */
  protectedPods: 'ProtectedPods',
  /** From a look to the next end of a protection on that node, in milliseconds. */
  timeToNextExpiry: 'TimeToNextExpiry',
  /** Protections that ended. */
  elapsed: 'ElapsedProtections',
  /** Time from the end of a protection until it was noticed, in milliseconds. */
  elapsedLateness: 'ElapsedLateness',
  /** Values that are neither `"true"` nor a positive Go duration, once each. */
  invalid: 'InvalidAnnotations',
  /** Protections that a policy shortened, once each. */
  capped: 'CappedProtections',
  /** Warnings before the end. */
  expiring: 'ExpiringProtections',
  /** Protections that were announced under `compatibility: Karpenter`. */
  announced: 'AnnouncedProtections',
  /** Nodes with protected pods that carry somebody else's annotation, which does not protect. */
  notHeld: 'NodesNotHeld',
  /** Pods whose protection a block in mode Observe would change. */
  observed: 'ProtectionsObserved',
  /** Changes of Nodes that the API server refused for good, once each. */
  refused: 'NodeChangesRefused',
} as const;

/** Metrics of the finalizer function, most of which alarms watch; no dimension beside the service. */
export const TERMINATION_METRICS = {
  /** Objects that went before what their finalizer stood for was done: something may be left behind. */
  possibleOrphan: 'PossibleOrphan',
  /** Nodes that went in the middle of their NodeClaim's termination. */
  finalizerStripped: 'FinalizerStripped',
  /** Objects with the finalizer of a rule that is gone or cannot be read, each once a day and at its deletion. */
  finalizerWithoutRule: 'FinalizerWithoutRule',
  /** Terminations and clean-ups that are past their time, once each. */
  overdue: 'FinalizationOverdue',
  /** Terminations whose deadline has come. */
  forced: 'TerminationForced',
  /** Hooks without an answer in time, by `onTimeout`. */
  hookTimedOut: 'TerminationHookTimedOut',
} as const;

/** Metrics of the drain function that alarms watch. */
export const DRAIN_METRICS = {
  /** Drains that are over, by `status`. */
  completed: 'DrainCompleted',
} as const;

/** Metrics of the repair function, for dashboards; all by `nodePool`. */
export const REPAIR_METRICS = {
  /** Decisions about nodes, by `decision`. */
  decision: 'RepairDecision',
  /** Actions that were carried out, by `condition` and `action`. */
  started: 'RepairStarted',
  /** Due nodes that the last pass did not repair, by `reason`. */
  held: 'RepairHeld',
  /** Attempts under way after a pass. */
  underWay: 'RepairsUnderWay',
} as const;

/** The Powertools service name of a function. */
export function serviceNameOf(functionName: FunctionName): string {
  return `curfew-${functionName}`;
}

/** The dimensions of these metrics: several clusters of one account and Region stay apart. */
export function metricDimensions(functionName: FunctionName, cluster: string): Record<'service' | 'cluster', string> {
  return { service: serviceNameOf(functionName), cluster };
}
