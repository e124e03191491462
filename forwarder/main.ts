/** The forwarder as a process: real adapters, probes and metrics, an orderly end on SIGTERM. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { pino, type Logger } from 'pino';
import { CLIENT_DEFAULTS } from '../shared/adapters/aws-errors.ts';
import { createEventBus } from '../shared/adapters/eventbridge/event-bus.ts';
import { createClusterWatch } from '../shared/adapters/kubernetes/cluster-watch.ts';
import { ClusterAccessError, loadInCluster, loadKubeconfig } from '../shared/adapters/kubernetes/kubeconfig.ts';
import { createKubernetesApi } from '../shared/adapters/kubernetes/kubernetes-api.ts';
import { serverVersion, warningOn } from '../shared/adapters/kubernetes/server-version.ts';
import { createTransport, type Transport } from '../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../shared/adapters/system-clock.ts';
import { VERSION } from '../shared/contract/version.ts';
import { seconds } from '../shared/domain/time.ts';
import { ConfigError, readConfig, usage, type ProcessConfig } from './config.ts';
import { createForwarder, type Forwarder } from './forwarder.ts';
import { startHealthServer } from './health.ts';
import { ALWAYS_HELD, createLease, DEFAULT_LEASE_TIMINGS } from './lease.ts';
import { createPrometheusMetrics } from './prometheus.ts';
import { runWhileLeading } from './standby.ts';

/** One page of a long list may take its time. */
const REQUEST_TIMEOUT = seconds(30);

/** Runs until `signal` aborts. */
async function run(config: ProcessConfig, signal: AbortSignal): Promise<void> {
  const log = pino({ level: config.logLevel, base: { cluster: config.settings.cluster } });
  const access = await (config.kubeconfig === undefined
    ? loadInCluster()
    : loadKubeconfig(config.kubeconfig, config.context));
  const transport = createTransport({
    ...access.options,
    clock: systemClock,
    userAgent: 'curfew-forwarder',
    requestTimeout: REQUEST_TIMEOUT,
  });
  const client = new EventBridgeClient({ ...CLIENT_DEFAULTS, region: config.region });
  // It makes a second copy of each request and answer for a log that nobody has asked for: a sixth of what publishing costs.
  client.middlewareStack.remove('loggerMiddleware');

  let working: Forwarder | undefined;
  const { sink, registry } = createPrometheusMetrics(() => working?.stats());
  const create = () => {
    const forwarder = createForwarder({
      watch: createClusterWatch(transport),
      bus: createEventBus({ client, busName: config.eventBusName }),
      clock: systemClock,
      metrics: sink,
      log,
      random: Math.random,
      config: config.settings,
    });
    working = forwarder;
    const stop = async (): Promise<void> => {
      await forwarder.stop();
      working = undefined;
    };
    return { start: () => forwarder.start(), stop };
  };

  const lease =
    config.lease === undefined
      ? ALWAYS_HELD
      : createLease({
          kubernetes: createKubernetesApi(transport),
          clock: systemClock,
          log,
          settings: { ...config.lease, ...DEFAULT_LEASE_TIMINGS, identity: `${hostname()}_${randomUUID()}` },
        });

  // A standby is ready: it is there to take over.
  const ready = () => working?.ready() ?? { ready: true, reasons: [] };
  const health = await startHealthServer({
    ...(config.healthHost !== undefined && { host: config.healthHost }),
    port: config.healthPort,
    ready,
    metrics: registry,
  });
  log.info(
    { version: VERSION, server: access.options.server, healthPort: health.port, standby: config.lease !== undefined },
    'started',
  );
  void warnIfTooOld(transport, log);
  try {
    await runWhileLeading({ lease, create }, signal);
  } finally {
    await health.close();
    transport.close();
    client.destroy();
  }
}

/** An API server that cannot be asked shows in the log of the watches. */
async function warnIfTooOld(transport: Transport, log: Logger): Promise<void> {
  const version = await serverVersion(transport).catch(() => undefined);
  const warning = version === undefined ? undefined : warningOn(version);
  if (warning !== undefined) log.warn(warning);
}

const stop = new AbortController();
// Once: a second signal ends the process at once.
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort(new Error(name)));

try {
  const config = readConfig(process.argv.slice(2), process.env);
  if (config === 'help') process.stdout.write(usage());
  else await run(config, stop.signal);
} catch (error) {
  if (!(error instanceof ConfigError) && !(error instanceof ClusterAccessError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
