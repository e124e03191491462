/**
 * The whole way of a change with the real adapters: the forwarder watches an API server on loopback, what it publishes goes by the deployed
 * routes to the functions, and these call the API server and a DynamoDB. EventBridge, SQS and EC2 are clients that answer at once.
 */
import type { EC2Client } from '@aws-sdk/client-ec2';
import type { AutoScalingClient } from '@aws-sdk/client-auto-scaling';
import type { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { createForwarder } from '../../forwarder/forwarder.ts';
import { serveApiServer } from '../../packages/kube-apiserver/src/http/server.ts';
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import { RECONCILERS } from '../../runtime/functions.ts';
import { createDueIndex, createRecordStore } from '../../shared/adapters/dynamodb/record-store.ts';
import { createInstances } from '../../shared/adapters/ec2/instances.ts';
import { createEventBus } from '../../shared/adapters/eventbridge/event-bus.ts';
import { createHooks } from '../../shared/adapters/hooks/hooks.ts';
import { createClusterWatch } from '../../shared/adapters/kubernetes/cluster-watch.ts';
import { createEventRecorder } from '../../shared/adapters/kubernetes/event-recorder.ts';
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { createAuditLog } from '../../shared/adapters/log/audit-log.ts';
import { createMetricSink } from '../../shared/adapters/log/metrics.ts';
import { createDeadLetters } from '../../shared/adapters/sqs/dead-letters.ts';
import { createMessageVisibility } from '../../shared/adapters/sqs/visibility.ts';
import { createWakeUpSender } from '../../shared/adapters/sqs/wake-up-sender.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import type { Envelope } from '../../shared/contract/envelope.ts';
import { FUNCTION_NAMES, type FunctionName } from '../../shared/contract/names.ts';
import { matchesPattern, ROUTES } from '../../shared/contract/routes.ts';
import { seconds, toIsoText } from '../../shared/domain/time.ts';
import { endOfCalls } from '../../shared/lambda/run-time.ts';
import { processBatch } from '../../shared/lambda/process-batch.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { createCluster } from '../../simulator/world.ts';
import { fakeClient } from '../shared/adapters/fake-client.ts';
import { clientFor, startStore } from '../shared/adapters/dynamodb/stores.ts';
import { TABLE_NAME } from '../shared/adapters/dynamodb/table.ts';
import { lambdaContext, sqsEvent } from '../shared/lambda/events.ts';

const CLUSTER = 'whole-path';
const INSTANCE = 'i-0abc';

interface Message {
  readonly target: FunctionName;
  readonly body: string;
}

export interface WholePath {
  readonly core: ApiServerCore;
  /** Calls of EC2 so far, by name. */
  readonly ec2Calls: () => readonly string[];
  /** Starts the forwarder, and forgets what it publishes of the objects that are there. */
  watch(): Promise<void>;
  /** Puts an event of somebody else on the bus. */
  publish(event: Pick<Envelope, 'source' | 'detail-type' | 'detail'>): void;
  /** Hands this function its messages until then. Those of other functions are left. */
  run(name: FunctionName, until: () => boolean): Promise<void>;
  stop(): Promise<void>;
}

/** @param seed puts the objects there that the forwarder finds at its start */
export async function startWholePath(seed: (core: ApiServerCore) => void): Promise<WholePath> {
  const core = createCluster(systemClock);
  seed(core);
  const server = await serveApiServer(core, { now: () => systemClock.now() });
  const store = await startStore('dynalite');
  const dynamo = clientFor(store.endpoint);
  const transportOf = (userAgent: string) =>
    createTransport({ server: server.url, clock: systemClock, userAgent, endOfCalls });

  const messages: Message[] = [];
  let arrived = Promise.withResolvers<void>();
  let events = 0;
  function publish(event: Pick<Envelope, 'source' | 'detail-type' | 'detail'>): void {
    const envelope: Envelope = { id: `event-${(events += 1)}`, time: toIsoText(systemClock.now()), ...event };
    const body = JSON.stringify(envelope);
    for (const { target, pattern } of ROUTES) {
      if (matchesPattern(pattern(CLUSTER), envelope)) messages.push({ target, body });
    }
    arrived.resolve();
    arrived = Promise.withResolvers();
  }
  const bus = createEventBus({ client: busClient(publish), busName: CLUSTER });
  const ec2 = fakeClient<EC2Client>(({ name }) => (name === 'DescribeInstancesCommand' ? RUNNING : {}));

  const functions = new Map(
    FUNCTION_NAMES.map(name => {
      const transport = transportOf(`curfew-${name}`);
      const instances = createInstances({
        ec2: ec2.client,
        autoScaling: fakeClient<AutoScalingClient>(() => ({})).client,
        clusterName: CLUSTER,
      });
      const run = createFunction(name, { transport, dynamo, bus, instances });
      return [name, { run, transport }];
    }),
  );
  const watching = transportOf('curfew-forwarder');
  const forwarder = createForwarder({
    watch: createClusterWatch(watching),
    bus,
    clock: systemClock,
    metrics: { count: () => undefined, milliseconds: () => undefined },
    config: { cluster: CLUSTER },
  });
  const isQuiet = (): boolean => forwarder.ready().ready && forwarder.stats().queueDepth === 0;

  return {
    core,
    publish,
    ec2Calls: () => ec2.sent.map(({ name }) => name),
    async watch() {
      forwarder.start();
      while (!isQuiet()) await new Promise(resolve => setImmediate(resolve));
      messages.length = 0;
    },
    async run(name, until) {
      while (!until()) {
        const index = messages.findIndex(({ target }) => target === name);
        const [message] = index < 0 ? [] : messages.splice(index, 1);
        if (message === undefined) await arrived.promise;
        else if (!(await functions.get(name)?.run(message.body))) messages.push(message);
      }
    },
    async stop() {
      await forwarder.stop({ drainTimeout: seconds(0) });
      for (const { transport } of functions.values()) transport.close();
      watching.close();
      dynamo.destroy();
      await server.close();
      await store.stop();
    },
  };
}

const RUNNING = {
  Reservations: [{ Instances: [{ InstanceId: INSTANCE, State: { Name: 'running' }, LaunchTime: new Date(0) }] }],
};

function busClient(publish: (event: Pick<Envelope, 'source' | 'detail-type' | 'detail'>) => void): EventBridgeClient {
  interface Entry {
    readonly Source: string;
    readonly DetailType: string;
    readonly Detail: string;
  }
  return fakeClient<EventBridgeClient>(({ input }) => {
    const entries = input['Entries'] as readonly Entry[];
    for (const { Source, DetailType, Detail } of entries)
      publish({ source: Source, 'detail-type': DetailType, detail: JSON.parse(Detail) });
    return { Entries: entries.map((_, index) => ({ EventId: String(index) })) };
  }).client;
}

interface Connections {
  readonly transport: ReturnType<typeof createTransport>;
  readonly dynamo: ReturnType<typeof clientFor>;
  readonly bus: FunctionDeps['bus'];
  readonly instances: FunctionDeps['instances'];
}

/** The function as Lambda runs it, one message at a time. */
function createFunction(name: FunctionName, { transport, dynamo, bus, instances }: Connections) {
  const kubernetes = createKubernetesApi(transport);
  const table = { client: dynamo, tableName: TABLE_NAME };
  const sqs = fakeClient<SQSClient>(() => ({})).client;
  const inboxUrls = Object.fromEntries(FUNCTION_NAMES.map(owner => [owner, `https://sqs.invalid/${owner}`]));
  const metrics = createMetricSink(new Metrics({ namespace: 'curfew', serviceName: name }));
  const deadLetters = createDeadLetters({ client: sqs, queueUrl: 'https://sqs.invalid/dead-letters' });
  const reconcile = RECONCILERS[name]({
    cluster: CLUSTER,
    kubernetes,
    records: createRecordStore(table),
    dueIndex: createDueIndex(table),
    wakeUps: createWakeUpSender({ client: sqs, inboxUrls }),
    bus,
    instances,
    events: createEventRecorder({ kubernetes, clock: systemClock, instance: name, onFailure: () => undefined }),
    audit: createAuditLog({
      serviceName: name,
      fields: () => ({}),
      print: () => undefined,
      now: () => systemClock.now(),
    }),
    metrics,
    clock: systemClock,
    deadLetters,
    hooks: createHooks({ bus, cluster: CLUSTER, invokeFunction: async () => ({ kind: 'failed', message: 'none' }) }),
  });
  const log = {
    warn: () => undefined,
    error: (message: string, { error }: Readonly<Record<string, unknown>>) => {
      throw new Error(message, { cause: error });
    },
  };
  /** Answers whether the message is done with. */
  return async (body: string): Promise<boolean> => {
    const { batchItemFailures } = await processBatch(
      sqsEvent([body], 1),
      lambdaContext(() => 30_000),
      {
        process: { function: name, cluster: CLUSTER, reconcile, clock: systemClock, deadLetters, metrics },
        visibility: createMessageVisibility({ client: sqs, queueUrl: 'https://sqs.invalid/inbox' }),
        metrics,
        log,
        clock: systemClock,
      },
    );
    return batchItemFailures.length === 0;
  };
}
