/**
 * The adapters of a function, out of its environment. Each is made when it is first used: a function is given only the settings
 * that it needs, and pays at start only for the clients that it uses.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SQSClient } from '@aws-sdk/client-sqs';
import { CLIENT_DEFAULTS } from '../adapters/aws-errors.ts';
import { createDueIndex, createRecordStore } from '../adapters/dynamodb/record-store.ts';
import { createEventBus } from '../adapters/eventbridge/event-bus.ts';
import { createEksAuthenticator } from '../adapters/kubernetes/eks-token.ts';
import { createEventRecorder } from '../adapters/kubernetes/event-recorder.ts';
import { createKubernetesApi } from '../adapters/kubernetes/kubernetes-api.ts';
import { createTransport } from '../adapters/kubernetes/transport.ts';
import { createDeadLetters } from '../adapters/sqs/dead-letters.ts';
import { createMessageVisibility, type MessageVisibility } from '../adapters/sqs/visibility.ts';
import { createWakeUpSender } from '../adapters/sqs/wake-up-sender.ts';
import { systemClock } from '../adapters/system-clock.ts';
import { ENV, requireEnv } from '../contract/env.ts';
import { FUNCTION_NAMES, type FunctionName } from '../contract/names.ts';
import * as z from '../contract/zod.ts';
import { messageOf } from '../errors.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { DeadLetters } from '../ports/dead-letters.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import type { Instances } from '../ports/instances.ts';
import type { KubernetesApi } from '../ports/kubernetes-api.ts';
import type { MetricSink } from '../ports/metrics.ts';
import type { WakeUpSender } from '../ports/inbox.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** What every function gets. `instances` costs the EC2 client and is asked for by name, see `handler.ts`. */
export type BaseDeps = Omit<FunctionDeps, 'instances'>;

/** What is said about events that could not be recorded. */
export interface DepsLog {
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
}

export interface DepsOptions {
  readonly name: FunctionName;
  readonly env: Env;
  readonly audit: AuditLog;
  readonly metrics: MetricSink;
  readonly log: DepsLog;
  readonly instances?: () => Instances;
}

export interface MadeDeps {
  readonly deps: FunctionDeps;
  readonly deadLetters: DeadLetters;
  readonly visibility: MessageVisibility;
}

export function makeDeps(options: DepsOptions): MadeDeps {
  const { env, name, audit, metrics, log } = options;
  const clock = systemClock;
  const dynamo = once(() => new DynamoDBClient(CLIENT_DEFAULTS));
  const sqs = once(() => new SQSClient(CLIENT_DEFAULTS));
  const table = once(() => ({ client: dynamo(), tableName: requireEnv(env, ENV.tableName) }));
  const kubernetes = once(() => connect(options, () => dynamo().config.credentials()));
  const records = once(() => createRecordStore(table()));
  const dueIndex = once(() => createDueIndex(table()));
  const wakeUps = once(() => makeWakeUpSender(env, sqs()));
  const bus = once(() =>
    createEventBus({ client: new EventBridgeClient(CLIENT_DEFAULTS), busName: requireEnv(env, ENV.eventBusName) }),
  );
  const instances = once(() => {
    if (options.instances === undefined) throw new Error(`${name} was made without the instances adapter`);
    return options.instances();
  });
  const events = once(() =>
    createEventRecorder({
      kubernetes: kubernetes(),
      clock,
      instance: name,
      onFailure: (event, error) =>
        log.warn('event not recorded', {
          reason: event.reason,
          about: event.about.metadata.name,
          error: messageOf(error),
        }),
    }),
  );
  return {
    deps: {
      get kubernetes() {
        return kubernetes();
      },
      get records() {
        return records();
      },
      get dueIndex() {
        return dueIndex();
      },
      get wakeUps() {
        return wakeUps();
      },
      get bus() {
        return bus();
      },
      get instances() {
        return instances();
      },
      get events() {
        return events();
      },
      audit,
      metrics,
      clock,
    },
    visibility: {
      hideFor: (receiptHandle, duration) =>
        createMessageVisibility({ client: sqs(), queueUrl: requireEnv(env, ENV.inboxUrl) }).hideFor(
          receiptHandle,
          duration,
        ),
    },
    deadLetters: {
      park: message =>
        createDeadLetters({ client: sqs(), queueUrl: requireEnv(env, ENV.deadLetterQueueUrl) }).park(message),
    },
  };
}

type Credentials = ReturnType<DynamoDBClient['config']['credentials']>;

function connect({ name, env }: DepsOptions, credentials: () => Credentials): KubernetesApi {
  const ca = env[ENV.clusterCertificateAuthority] ?? '';
  const transport = createTransport({
    server: requireEnv(env, ENV.clusterEndpoint),
    clock: systemClock,
    userAgent: `curfew-${name}`,
    authenticator: createEksAuthenticator({
      clusterName: requireEnv(env, ENV.clusterName),
      region: requireEnv(env, 'AWS_REGION'),
      credentials,
      clock: systemClock,
    }),
    // Always the cluster's own CA: an endpoint that presents another certificate is not our cluster.
    tls: { ca: Buffer.from(ca, 'base64') },
  });
  return createKubernetesApi(transport);
}

const inboxUrlsSchema = z.partialRecord(z.enum(FUNCTION_NAMES), z.string());

function makeWakeUpSender(env: Env, client: SQSClient): WakeUpSender {
  const inboxUrls = inboxUrlsSchema.parse(JSON.parse(requireEnv(env, ENV.inboxUrls)));
  const configured: Partial<Record<FunctionName, string>> = {};
  for (const name of FUNCTION_NAMES) {
    const url = inboxUrls[name];
    if (url !== undefined) configured[name] = url;
  }
  return createWakeUpSender({ client, inboxUrls: configured });
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
