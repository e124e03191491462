/** The forwarder's metrics in Prometheus' terms: counters from `metric-names.ts`, gauges read when somebody asks. */
import {
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
  type CounterConfiguration,
  type GaugeConfiguration,
} from 'prom-client';
import type { MetricSink } from '../shared/ports/metrics.ts';
import type { ForwarderStats } from './stats.ts';
import { METRICS } from './metric-names.ts';

const PREFIX = 'curfew_forwarder_';
const EVENT_LOOP_PRECISION_MS = 100;

export interface PrometheusMetrics {
  readonly sink: MetricSink;
  readonly registry: Registry;
}

/** `stats` answers undefined while the forwarder does not run (standby). */
export function createPrometheusMetrics(stats: () => ForwarderStats | undefined): PrometheusMetrics {
  const registry = new Registry();
  // The default precision wakes the process a hundred times a second.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS });

  const counters = new Map<string, Tally>();
  const histograms = new Map<string, Histogram>();
  for (const [name, { help, labels, ...rest }] of Object.entries(METRICS)) {
    const common = { help, labelNames: [...labels], registers: [registry] };
    if ('bucketsSeconds' in rest) {
      const buckets = [...rest.bucketsSeconds];
      histograms.set(name, new Histogram({ ...common, name: `${PREFIX}${snakeCase(name)}_seconds`, buckets }));
    } else {
      counters.set(name, tally({ ...common, name: `${PREFIX}${snakeCase(name)}_total` }));
    }
  }

  gauge(registry, { name: 'leading', help: 'Whether this forwarder works (1) or stands by (0).' }, () => [
    { labels: {}, value: stats() === undefined ? 0 : 1 },
  ]);
  gauge(registry, { name: 'queue_depth', help: 'Objects whose changes are not published yet.' }, () => [
    { labels: {}, value: stats()?.queueDepth ?? 0 },
  ]);
  gauge(
    registry,
    { name: 'staleness_seconds', help: 'Since a resource was last heard of.', labelNames: ['resource'] },
    () =>
      (stats()?.resources ?? []).map(({ resource, staleness }) => ({ labels: { resource }, value: staleness / 1000 })),
  );
  gauge(registry, { name: 'objects', help: 'Tracked objects.', labelNames: ['resource'] }, () =>
    (stats()?.resources ?? []).map(({ resource, objects }) => ({ labels: { resource }, value: objects })),
  );
  gauge(
    registry,
    {
      name: 'resource_synced',
      help: 'Whether a resource was listed (1) or not, or is not served (0).',
      labelNames: ['resource'],
    },
    () =>
      (stats()?.resources ?? []).map(({ resource, state }) => ({
        labels: { resource },
        value: state === 'synced' ? 1 : 0,
      })),
  );

  return {
    registry,
    sink: {
      count: (name, value = 1, dimensions = {}) => counters.get(name)?.add(dimensions, value),
      milliseconds: (name, value, dimensions = {}) => histograms.get(name)?.observe(dimensions, value / 1000),
    },
  };
}

interface Tally {
  add(labels: Readonly<Record<string, string>>, value: number): void;
}

/**
 * A counter that is added to thousands of times between two scrapes. Additions since the last scrape are kept beside it: to find the
 * counter of some labels takes prom-client longer than everything else that is done with a watch event.
 */
function tally(configuration: CounterConfiguration<string>): Tally {
  const fresh = new Map<string, { readonly labels: Record<string, string>; value: number }>();
  // It registers itself.
  void new Counter({
    ...configuration,
    collect() {
      for (const { labels, value } of fresh.values()) this.inc(labels, value);
      fresh.clear();
    },
  });
  return {
    add(labels, value) {
      const key = (configuration.labelNames ?? []).map(name => labels[name]).join('\n');
      const entry = fresh.get(key);
      if (entry === undefined) fresh.set(key, { labels: { ...labels }, value });
      else entry.value += value;
    },
  };
}

interface Sample {
  readonly labels: Record<string, string>;
  readonly value: number;
}

type GaugeDefinition = Pick<GaugeConfiguration<string>, 'name' | 'help'> & { readonly labelNames?: string[] };

function gauge(registry: Registry, { name, ...definition }: GaugeDefinition, read: () => readonly Sample[]): Gauge {
  return new Gauge({
    ...definition,
    name: `${PREFIX}${name}`,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, value } of read()) this.set(labels, value);
    },
  });
}

/** `EventsSeen` → `events_seen`. */
function snakeCase(name: string): string {
  return name.replaceAll(/(?<=.)[A-Z]/g, letter => `_${letter}`).toLowerCase();
}
