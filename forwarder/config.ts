/**
 * The process's configuration: command-line option, else environment variable, else default. What must be set and is not, or
 * cannot be right, keeps the process from starting.
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { ENV } from '../shared/contract/env.ts';
import { hours, seconds } from '../shared/domain/time.ts';
import { messageOf } from '../shared/errors.ts';
import { DEFAULT_SETTINGS, type ForwarderSettings } from './settings.ts';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

const text = z.string().min(1, 'must not be empty');

/** Digits within bounds. */
const wholeNumber = (from: number, to: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .refine(value => value >= from && value <= to, `must be from ${from} to ${to}`);

const schema = z.object({
  'cluster-name': text,
  'event-bus-name': text,
  region: text,
  kubeconfig: text.optional(),
  context: text.optional(),
  'health-host': text.optional(),
  'health-port': wholeNumber(0, 65_535).prefault('8080'),
  'log-level': z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
  'lease-name': text.optional(),
  'lease-namespace': text.default('curfew'),
  'queued-objects-max': wholeNumber(1, 1_000_000).prefault(String(DEFAULT_SETTINGS.queuedObjectsMax)),
  // Below the silence after which a watch is cut, a healthy forwarder would look stale.
  'stale-after-seconds': wholeNumber(180, 86_400).prefault(String(DEFAULT_SETTINGS.staleAfter / 1000)),
  'drain-timeout-seconds': wholeNumber(0, 600).prefault(String(DEFAULT_SETTINGS.drainTimeout / 1000)),
  'heartbeat-seconds': wholeNumber(0, 3600).prefault('60'),
  'publish-interval-seconds': wholeNumber(0, 3600).prefault(String(DEFAULT_SETTINGS.publishInterval.period / 1000)),
  'resync-hours': wholeNumber(0, 168).prefault(String(DEFAULT_SETTINGS.resync.period / 3_600_000)),
  'resync-per-second': wholeNumber(1, 1000).prefault(String(DEFAULT_SETTINGS.resync.perSecondMax)),
});
type OptionName = keyof z.input<typeof schema>;

/** The environment variable behind each option, and what it is for. */
const OPTIONS: Readonly<Record<OptionName, { readonly env: string; readonly help: string }>> = {
  'cluster-name': { env: ENV.clusterName, help: 'name of the cluster, stands in every event' },
  'event-bus-name': { env: ENV.eventBusName, help: 'name or ARN of the EventBridge bus' },
  region: { env: 'AWS_REGION', help: 'AWS Region of the bus' },
  kubeconfig: { env: 'KUBECONFIG', help: "path of a kubeconfig (default: the pod's service account)" },
  context: { env: 'KUBE_CONTEXT', help: 'context in the kubeconfig (default: its current one)' },
  'health-host': { env: 'HEALTH_HOST', help: 'address for probes and metrics (default: all)' },
  'health-port': { env: 'HEALTH_PORT', help: 'port for probes and metrics (default 8080)' },
  'log-level': { env: 'LOG_LEVEL', help: `${LOG_LEVELS.join(', ')} (default info)` },
  'lease-name': { env: 'LEASE_NAME', help: 'Lease that one of several forwarders holds (default: no standby)' },
  'lease-namespace': { env: 'LEASE_NAMESPACE', help: 'namespace of the Lease (default curfew)' },
  'queued-objects-max': { env: 'QUEUED_OBJECTS_MAX', help: 'most objects that wait for the bus (default 50000)' },
  'stale-after-seconds': { env: 'STALE_AFTER_SECONDS', help: 'not ready after so much silence (default 300)' },
  'drain-timeout-seconds': { env: 'DRAIN_TIMEOUT_SECONDS', help: 'for publishing at the end (default 10)' },
  'heartbeat-seconds': { env: 'HEARTBEAT_SECONDS', help: 'period of the sign of life, 0 for none (default 60)' },
  'publish-interval-seconds': {
    env: 'PUBLISH_INTERVAL_SECONDS',
    help: 'after three changes of one part of an object, one per interval; 0 for no floor (default 30)',
  },
  'resync-hours': {
    env: 'RESYNC_HOURS',
    help: 'every object is published again in this time, 0 for never (default 4)',
  },
  'resync-per-second': {
    env: 'RESYNC_PER_SECOND',
    help: 'most objects a second that are published again (default 20)',
  },
};
const OPTION_NAMES = schema.keyof().options;

export interface ProcessConfig {
  readonly settings: Pick<ForwarderSettings, 'cluster'> & Partial<ForwarderSettings>;
  readonly eventBusName: string;
  readonly region: string;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** Without it, probes are answered on every address. */
  readonly healthHost: string | undefined;
  readonly healthPort: number;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** Without it no standby: the process works as soon as it starts. */
  readonly lease: { readonly namespace: string; readonly name: string } | undefined;
}

/** The faults of a configuration, one on each line. */
export class ConfigError extends Error {
  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
    this.name = 'ConfigError';
  }
}

/** Reads options and environment; an empty variable counts as not set. Throws `ConfigError`. */
export function readConfig(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ProcessConfig | 'help' {
  const options = parseOptions(args);
  if (options['help'] === true) return 'help';
  const given = OPTION_NAMES.map(name => [name, options[name] ?? (env[OPTIONS[name].env] || undefined)] as const);
  const result = schema.safeParse(Object.fromEntries(given.filter(([, value]) => value !== undefined)));
  if (!result.success) throw new ConfigError(result.error.issues.map(toLine));
  const { data } = result;
  const heartbeat = data['heartbeat-seconds'];
  return {
    settings: {
      cluster: data['cluster-name'],
      queuedObjectsMax: data['queued-objects-max'],
      staleAfter: seconds(data['stale-after-seconds']),
      drainTimeout: seconds(data['drain-timeout-seconds']),
      publishInterval: { ...DEFAULT_SETTINGS.publishInterval, period: seconds(data['publish-interval-seconds']) },
      resync: { period: hours(data['resync-hours']), perSecondMax: data['resync-per-second'] },
      ...(heartbeat === 0 ? {} : { heartbeatPeriod: seconds(heartbeat) }),
    },
    eventBusName: data['event-bus-name'],
    region: data.region,
    kubeconfig: data.kubeconfig,
    context: data.context,
    healthHost: data['health-host'],
    healthPort: data['health-port'],
    logLevel: data['log-level'],
    lease:
      data['lease-name'] === undefined ? undefined : { namespace: data['lease-namespace'], name: data['lease-name'] },
  };
}

/** The text for `--help`. */
export function usage(): string {
  const lines = OPTION_NAMES.map(name => `  --${name} (${OPTIONS[name].env})\n      ${OPTIONS[name].help}`);
  return `Publishes what happens in a cluster to an EventBridge bus.\n\nOptions (and environment variables):\n${lines.join('\n')}\n`;
}

function parseOptions(args: readonly string[]): Readonly<Record<string, string | boolean | undefined>> {
  const named = OPTION_NAMES.map(name => [name, { type: 'string' }] as const);
  try {
    return parseArgs({ args: [...args], options: { ...Object.fromEntries(named), help: { type: 'boolean' } } }).values;
  } catch (error) {
    throw new ConfigError([messageOf(error)]);
  }
}

function toLine(issue: z.core.$ZodIssue): string {
  const name = OPTION_NAMES.find(option => option === issue.path[0]);
  if (name === undefined) return issue.message;
  const missing = issue.code === 'invalid_type' && issue.input === undefined;
  return `--${name} (environment variable ${OPTIONS[name].env}) ${missing ? 'must be set' : issue.message}`;
}
