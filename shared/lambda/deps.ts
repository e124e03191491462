/**
 * The adapters of a function, out of its environment. A handler names those that it uses: a function needs only their settings, and
 * pays at start only for their clients.
 */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createDynamoDbClient } from '../adapters/dynamodb/client.ts';
import { createDueIndex, createRecordStore } from '../adapters/dynamodb/record-store.ts';
import { createAccessProbe, type AccessProbe } from '../adapters/kubernetes/access-probe.ts';
import { createEksAuthenticator } from '../adapters/kubernetes/eks-token.ts';
import { createEventRecorder } from '../adapters/kubernetes/event-recorder.ts';
import { createKubernetesApi } from '../adapters/kubernetes/kubernetes-api.ts';
import { createTransport, type Transport } from '../adapters/kubernetes/transport.ts';
import type { Queues } from '../adapters/sqs/connect.ts';
import { systemClock } from '../adapters/system-clock.ts';
import { ENV, requireEnv } from '../contract/env.ts';
import type { FunctionName } from '../contract/names.ts';
import { PERMISSIONS } from '../contract/permissions.ts';
import { madeOnce } from '../contract/zod.ts';
import { invariant } from '../domain/invariant.ts';
import { messageOf } from '../errors.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import type { Hooks } from '../ports/hooks.ts';
import type { Instances } from '../ports/instances.ts';
import type { KubernetesApi } from '../ports/kubernetes-api.ts';
import type { MetricSink } from '../ports/metrics.ts';
import { connectEventBus } from '../adapters/eventbridge/connect.ts';
import { endOfCalls } from './run-time.ts';
import type { Env } from './sqs-queues.ts';

/** The ports that every function is given without asking. */
export type CommonAdapterName = 'audit' | 'metrics' | 'clock' | 'cluster';

/** Adapters that a function asks for by name. Those of `OtherAdapters` cost a client of their own and are handed in by the handler. */
export type AdapterName = Exclude<keyof FunctionDeps, CommonAdapterName | keyof OtherAdapters>;

/** Made by the handler that uses them, so that no other bundle carries their clients. */
export interface OtherAdapters {
  readonly instances: () => Instances;
  readonly hooks: () => Hooks;
}

/** The log for events that could not be recorded. */
export interface DepsLog {
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
}

export interface DepsOptions {
  readonly name: FunctionName;
  /** The cluster that it is deployed for. */
  readonly cluster: string;
  readonly env: Env;
  readonly audit: AuditLog;
  readonly metrics: MetricSink;
  readonly log: DepsLog;
  readonly queues: Queues;
}

/**
 * The adapters with these names, made at once out of the environment variables that they need, and of no others; and the probe of the
 * API server for a function that calls it.
 */
export function makeDeps<Name extends AdapterName>(
  names: readonly Name[],
  options: DepsOptions,
): { readonly deps: Pick<FunctionDeps, Name | CommonAdapterName>; readonly probe?: AccessProbe } {
  const { name, audit, metrics } = options;
  const clients = makeClients(options);
  const asked = new Set<AdapterName>(names);
  const made: Partial<FunctionDeps> = {
    ...(asked.has('kubernetes') && { kubernetes: clients.kubernetes() }),
    ...(asked.has('records') && { records: createRecordStore(clients.table()) }),
    ...(asked.has('dueIndex') && { dueIndex: createDueIndex(clients.table()) }),
    ...(asked.has('wakeUps') && { wakeUps: options.queues.wakeUps }),
    ...(asked.has('bus') && { bus: connectEventBus(requireEnv(options.env, ENV.eventBusName), endOfCalls) }),
    ...(asked.has('events') && { events: makeEvents(options, clients.kubernetes()) }),
    ...(asked.has('deadLetters') && { deadLetters: options.queues.deadLetters }),
    audit,
    metrics,
    clock: systemClock,
    cluster: options.cluster,
  };
  const deps = pick(made, [...names, 'audit', 'metrics', 'clock', 'cluster']);
  if (!asked.has('kubernetes')) return { deps };
  return { deps, probe: createAccessProbe(clients.transport(), PERMISSIONS[name].kubernetes) };
}

/** Clients that several adapters share, each made when the first of them asks. */
function makeClients(options: DepsOptions) {
  const dynamo = madeOnce(() => createDynamoDbClient({}, endOfCalls));
  const transport = madeOnce(() => connect(options, () => dynamo().config.credentials()));
  return {
    table: () => ({ client: dynamo(), tableName: requireEnv(options.env, ENV.tableName) }),
    transport,
    kubernetes: madeOnce(() => createKubernetesApi(transport())),
  };
}

function pick<Name extends keyof FunctionDeps>(
  made: Partial<FunctionDeps>,
  names: readonly Name[],
): Pick<FunctionDeps, Name> {
  const isWhole = (deps: Partial<FunctionDeps>): deps is Pick<FunctionDeps, Name> =>
    names.every(name => deps[name] !== undefined);
  invariant(isWhole(made), 'each adapter that was asked for was made');
  return made;
}

function makeEvents({ name, log }: DepsOptions, kubernetes: KubernetesApi): EventRecorder {
  return createEventRecorder({
    kubernetes,
    clock: systemClock,
    instance: name,
    onFailure: ({ reason, about }, error) =>
      log.warn('event not recorded', { reason, about: about.metadata.name, error: messageOf(error) }),
  });
}

type Credentials = ReturnType<DynamoDBClient['config']['credentials']>;

function connect({ name, env }: DepsOptions, credentials: () => Credentials): Transport {
  const ca = env[ENV.clusterCertificateAuthority] ?? '';
  return createTransport({
    server: requireEnv(env, ENV.clusterEndpoint),
    clock: systemClock,
    userAgent: `curfew-${name}`,
    endOfCalls,
    authenticator: createEksAuthenticator({
      clusterName: requireEnv(env, ENV.clusterName),
      region: requireEnv(env, 'AWS_REGION'),
      credentials,
      clock: systemClock,
    }),
    // Always the cluster's own CA: an endpoint that presents another certificate is not our cluster.
    tls: { ca: Buffer.from(ca, 'base64') },
  });
}
