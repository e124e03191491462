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
  /** Messages that met a bug and will be redelivered; Lambda itself counts no error for them, since the batch is answered. */
  messageFailed: 'MessageFailed',
} as const;

/** The dimensions of these metrics, as Powertools writes them for the service name of a function. */
export function metricDimensions(functionName: FunctionName): Record<'service', string> {
  return { service: `curfew-${functionName}` };
}
