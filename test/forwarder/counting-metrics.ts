import type { MetricSink } from '../../shared/ports/metrics.ts';

/** Sums of counts by name, and by name and dimensions: `EventsSeen`, `EventsSeen{resource=nodes}`. */
export function createCountingMetrics() {
  const sums = new Map<string, number>();
  const add = (key: string, value: number): void => void sums.set(key, (sums.get(key) ?? 0) + value);
  const sink: MetricSink = {
    count(name, value = 1, dimensions) {
      add(name, value);
      if (dimensions === undefined) return;
      const pairs = Object.entries(dimensions).map(([key, text]) => `${key}=${text}`);
      add(`${name}{${pairs.join()}}`, value);
    },
    milliseconds: () => undefined,
  };
  return { sink, sum: (key: string): number => sums.get(key) ?? 0 };
}
