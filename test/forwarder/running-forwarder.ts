import { onTestFinished } from 'vitest';
import { createForwarder } from '../../forwarder/forwarder.ts';
import type { ForwarderSettings } from '../../forwarder/settings.ts';
import { seconds } from '../../shared/domain/time.ts';
import { createManualClock } from '../fakes/manual-clock.ts';
import { createCountingMetrics } from './counting-metrics.ts';
import { createFakeBus } from './fake-bus.ts';
import { createFakeClusterWatch } from './fake-cluster-watch.ts';

/** A forwarder over fakes, to be started by the test and stopped after it. */
export function aForwarder(settings: Partial<ForwarderSettings> = {}) {
  const clock = createManualClock();
  const kubernetes = createFakeClusterWatch();
  const bus = createFakeBus();
  const metrics = createCountingMetrics();
  const config = { cluster: 'test', ...settings };
  const forwarder = createForwarder({ watch: kubernetes.cluster, bus: bus.bus, clock, metrics: metrics.sink, config });
  onTestFinished(() => forwarder.stop({ drainTimeout: seconds(0) }));
  let read = 0;
  /** Lines of the events since the last call. */
  const news = (): string[] => {
    const lines = bus.lines().slice(read);
    read += lines.length;
    return lines;
  };
  return { clock, kubernetes, bus, metrics, forwarder, news };
}
