/** `MetricSink` as embedded metric format on the function's log: no call, no wait. */
import { MetricUnit, type Metrics } from '@aws-lambda-powertools/metrics';
import type { MetricSink } from '../../ports/metrics.ts';

type Dimensions = Readonly<Record<string, string>>;
type Unit = (typeof MetricUnit)[keyof typeof MetricUnit];

/** Metrics without dimensions of their own are collected and written at the end of the invocation (`publishStoredMetrics`). */
export function createMetricSink(metrics: Metrics): MetricSink {
  /** Made once: it makes a console for itself, and is empty again after each line. */
  let single: Metrics | undefined;
  const add = (name: string, unit: Unit, value: number, dimensions: Dimensions): void => {
    if (Object.keys(dimensions).length === 0) {
      metrics.addMetric(name, unit, value);
      return;
    }
    // All metrics of one EMF line share its dimensions, so one with its own gets a line of its own.
    single ??= metrics.singleMetric();
    for (const [key, text] of Object.entries(dimensions)) single.addDimension(key, text);
    single.addMetric(name, unit, value);
  };
  return {
    count: (name, value = 1, dimensions = {}) => add(name, MetricUnit.Count, value, dimensions),
    milliseconds: (name, value, dimensions = {}) => add(name, MetricUnit.Milliseconds, value, dimensions),
  };
}
