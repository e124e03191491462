/** Custom metrics that an alarm watches: the functions emit exactly these names, infra's alarms read them. */
import type { FunctionName } from './names.ts';

/** CloudWatch namespace of every metric. */
export const METRIC_NAMESPACE = 'Curfew';

export const METRICS = {
  /**
   * How far the oldest due record is past its time, in milliseconds; written by the timer function at each sweep, 0 when nothing is
   * overdue. No data means that the sweep does not run.
   */
  oldestOverdueTimer: 'OldestOverdueTimer',
} as const;

/** The dimensions of every metric: `service` is what Powertools calls the function, `cluster` keeps two clusters in one account apart. */
export function metricDimensions(cluster: string, functionName: FunctionName): Record<'cluster' | 'service', string> {
  return { cluster, service: functionName };
}
