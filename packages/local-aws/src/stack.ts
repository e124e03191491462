/**
 * The synthesized app on one machine, without an account: DynamoDB, SQS, EventBridge, Scheduler and Lambda made of what `cdk.out` says, running the
 * very bundles that would be deployed.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import { clientEnvironment, NOBODY, type Endpoints } from './client-environment.ts';
import type { DynamoDbServer } from './dynamodb-server.ts';
import { startCloudFormation } from './cloudformation.ts';
import { startDynamoDb, type DynamoDbOptions } from './dynamodb.ts';
import { startEc2, type LocalEc2 } from './ec2/ec2.ts';
import { startEventBus } from './event-bus.ts';
import { concurrencyOf, deadLetterQueueOf, inboxOf } from './function-queues.ts';
import { createQueuePolicies } from './iam/queue-policies.ts';
import { FAKE_CREDENTIALS } from './fake-credentials.ts';
import { createAccess, type Access } from './iam/access.ts';
import { guardDynamoDb } from './iam/dynamodb-guard.ts';
import { mayBeSent } from './iam/trust.ts';
import { startLambdaEndpoint } from './lambda-endpoint.ts';
import { startLambda } from './lambda-runtime.ts';
import { startLogs } from './logs.ts';
import type { LogLine } from './log-lines.ts';
import type { AwsModel } from './model.ts';
import type { AcceptedEntry } from './put-events.ts';
import { toFunctionModel, type OtherFunction } from './other-functions.ts';
import { startPoller } from './poller.ts';
import { startScheduler } from './scheduler.ts';
import { startSqs, type QueueContents } from './sqs.ts';
import { loadAssembly } from './template.ts';

/** fauxqs knows no other account. */
const ACCOUNT = '000000000000';
const REGION = 'us-east-1';
export interface LocalAwsOptions {
  /** `cdk.out`, synthesized with bundling. */
  readonly assemblyDir: string;
  /** Variables that win over the template's for every function that has them, e.g. `CLUSTER_ENDPOINT`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Values of CloudFormation parameters by name, as given to a deployment. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** More variables for every function, e.g. `AWS_ENDPOINT_URL_S3`. */
  readonly extraEnv?: Readonly<Record<string, string>>;
  /** Functions that do not stand in the template, as those of users; others invoke them by name. */
  readonly otherFunctions?: readonly OtherFunction[];
  /** Keeps the table over runs; without it a temporary folder that is removed at the end. */
  readonly dataDir?: string;
  readonly onLog?: (line: LogLine) => void;
  /** Every event that a bus takes. */
  readonly onEvent?: (event: AcceptedEntry) => void;
  /** What went wrong outside of the functions' own logs, e.g. a function that was killed or ran out of time. */
  readonly onProblem?: (problem: Error) => void;
  /** Of the bus and the scheduler; functions, SQS delays and DynamoDB run on the machine's. */
  readonly clock?: Clock;
  readonly dynamoDb?: DynamoDbOptions['implementation'];
  /** Processes of one function at work at once, if the template allows as many. Default: one per core. */
  readonly maxConcurrency?: number;
}

export interface LocalAws {
  readonly model: AwsModel;
  readonly endpoints: Endpoints;
  /** Without an instance at the start. */
  readonly ec2: Pick<LocalEc2, 'fleet' | 'fail'>;
  /** For another process to speak to these endpoints by the unchanged SDK as the account itself, which may do everything: region, credentials, `AWS_ENDPOINT_URL_*`. */
  readonly clientEnv: Readonly<Record<string, string>>;
  /** The same as the role of a service account, such as the forwarder's. Throws when none is associated with it. */
  clientEnvOf(namespace: string, serviceAccount: string): Readonly<Record<string, string>>;
  /** Who an access key is: the ARN of its role. */
  roleOf(accessKeyId: string): string | undefined;
  /** `EVENT_BUS_NAME` of the forwarder. Throws when the app has not exactly one bus. */
  readonly eventBusName: string;
  readonly dynamoDb: Pick<DynamoDbServer, 'implementation' | 'kill' | 'start'>;
  /** `kill -9` of the DynamoDB process, and back again with its data; `downMs` in between. */
  restartDynamoDb(downMs?: number): Promise<void>;
  /** `kill -9` of all processes of a function, by its name (`repair`). Answers how many there were. */
  killFunction(name: string): Promise<number>;
  /** Process ids by function name. */
  functionPids(name: string): number[];
  /** A function's inbox, without receiving. */
  inbox(functionName: string): Promise<QueueContents>;
  /** What a function's inbox gave up or the function parked, without receiving. */
  deadLetters(functionName: string): Promise<QueueContents>;
  stop(): Promise<void>;
}

/** Throws an Error that says what did not start; everything else is stopped again by then. */
export async function startLocalAws(options: LocalAwsOptions): Promise<LocalAws> {
  await using parts = new AsyncDisposableStack();
  const { clock = systemClock, onLog = () => {}, onProblem = () => {} } = options;
  let stopping = false;
  // What breaks because it is being stopped is no problem.
  const report = (problem: Error) => {
    if (!stopping) onProblem(problem);
  };

  const dataDir = openDataDir(options.dataDir, parts);
  // Queue URLs stand in the template, so SQS is there before the roles are known.
  let access: Access | undefined;
  const sqs = await startSqs({ region: REGION, account: ACCOUNT, access: () => access });
  parts.defer(() => sqs.stop());
  const model = loadAssembly(options.assemblyDir, {
    region: REGION,
    account: ACCOUNT,
    sqsEndpoint: sqs.endpoint,
    environment: options.env ?? {},
    parameters: options.parameters ?? {},
  });
  const known = (access = createAccess(model));
  await sqs.createQueues(model.queues);
  const dynamoDb = await startDynamoDb({
    region: REGION,
    tables: model.tables,
    dataDir,
    onProblem: message => report(new Error(message)),
    ...(options.dynamoDb && { implementation: options.dynamoDb }),
  });
  parts.defer(() => dynamoDb.stop());
  const guard = await guardDynamoDb({ upstream: dynamoDb.endpoint, model, access });
  parts.defer(() => guard.stop());
  const bus = await startEventBus({
    model,
    clock,
    access,
    send: (queueName, body, attributes) => sqs.send(queueName, body, attributes),
    mayDeliver: createQueuePolicies(model),
    onProblem: report,
    ...(options.onEvent && { onEvent: options.onEvent }),
  });
  parts.defer(() => bus.stop());
  const ec2 = await startEc2({ model, clock, access, publish: event => bus.publish(event) });
  parts.defer(() => ec2.stop());
  const functions = [...model.functions, ...(options.otherFunctions ?? []).map(fn => toFunctionModel(fn, model))];
  const lambdaEndpoint = await startLambdaEndpoint({
    model,
    access,
    invoke: (name, payload) =>
      functions.some(fn => fn.physicalName === name) ? lambda.invoke(name, payload) : undefined,
  });
  parts.defer(() => lambdaEndpoint.stop());
  const logs = await startLogs({ groups: functions.map(fn => fn.logGroup), clock, access: known });
  parts.defer(() => logs.stop());
  const cloudFormation = await startCloudFormation({ model, access: known });
  parts.defer(() => cloudFormation.stop());
  const endpoints = {
    dynamoDb: guard.endpoint,
    sqs: sqs.endpoint,
    eventBridge: bus.endpoint,
    ec2: ec2.endpoint,
    lambda: lambdaEndpoint.endpoint,
    logs: logs.endpoint,
    cloudFormation: cloudFormation.endpoint,
  };
  const clientEnv = clientEnvironment(REGION, endpoints, FAKE_CREDENTIALS);
  const limit = options.maxConcurrency ?? availableParallelism();
  const sources = model.eventSources.map(source => ({
    ...source,
    maxConcurrency: Math.min(source.maxConcurrency, limit),
  }));
  const lambda = startLambda({
    functions,
    environment: ({ roleArn }) => ({
      ...clientEnvironment(REGION, endpoints, roleArn === '' ? NOBODY : known.credentialsOf(roleArn)),
      ...options.extraEnv,
    }),
    maxConcurrency: physicalName => concurrencyOf(sources, physicalName),
    onLog(line) {
      const group = functions.find(fn => fn.name === line.function)?.logGroup;
      if (group !== undefined) logs.add(group, line.text);
      onLog(line);
    },
  });
  const pollers = sources.map(source =>
    startPoller({
      source,
      region: REGION,
      account: ACCOUNT,
      sqs,
      invoke: (physicalName, payload) => lambda.invoke(physicalName, payload),
      onProblem: report,
    }),
  );
  parts.defer(async () => {
    const stopped = pollers.map(poller => poller.stop());
    // Their batches end with the functions.
    await lambda.stop();
    await Promise.all(stopped);
  });
  const scheduler = startScheduler({
    schedules: model.schedules,
    clock,
    mayBeSent: schedule => mayBeSent(model, schedule),
    send: (queueName, body) => sqs.send(queueName, body),
    onProblem: report,
  });
  parts.defer(() => scheduler.stop());

  const running = parts.move();
  return {
    model,
    endpoints,
    ec2,
    clientEnv,
    clientEnvOf(namespace, serviceAccount) {
      const identity = model.podIdentities.find(
        each => each.namespace === namespace && each.serviceAccount === serviceAccount,
      );
      if (identity === undefined) throw new Error(`service account ${namespace}/${serviceAccount} has no role`);
      return clientEnvironment(REGION, endpoints, known.credentialsOf(identity.roleArn));
    },
    roleOf: accessKeyId => known.roleOf(accessKeyId),
    get eventBusName() {
      const [name, ...others] = model.buses;
      if (name === undefined || others.length > 0)
        throw new Error(`the app has ${model.buses.length} event buses, not one`);
      return name;
    },
    dynamoDb,
    async restartDynamoDb(downMs = 0) {
      await dynamoDb.kill();
      await sleep(downMs);
      await dynamoDb.start();
    },
    killFunction: name => lambda.kill(name),
    functionPids: name => lambda.pids(name),
    inbox: async name => sqs.inspect(inboxOf(model, name)),
    deadLetters: async name => sqs.inspect(deadLetterQueueOf(model, inboxOf(model, name))),
    async stop() {
      stopping = true;
      await running.disposeAsync();
    },
  };
}

function openDataDir(given: string | undefined, parts: AsyncDisposableStack): string {
  if (given !== undefined) {
    mkdirSync(given, { recursive: true });
    return given;
  }
  const dir = mkdtempSync(join(tmpdir(), 'curfew-'));
  parts.defer(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
