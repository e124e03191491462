/** The synthesized bundles at work on moto: Lambda's runtime client and its event sources are of this repository, everything that they call is moto. */
import { LambdaClient, paginateListFunctions } from '@aws-sdk/client-lambda';
import { DeleteMessageBatchCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { clientEnvironment } from '../../packages/local-aws/src/client-environment.ts';
import { startLambda } from '../../packages/local-aws/src/lambda-runtime.ts';
import type { LogLine } from '../../packages/local-aws/src/log-lines.ts';
import type { AwsModel } from '../../packages/local-aws/src/model.ts';
import { startPoller, type Poller } from '../../packages/local-aws/src/poller.ts';
import { startScheduler } from '../../packages/local-aws/src/scheduler.ts';
import type { ReceivedMessage } from '../../packages/local-aws/src/sqs.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { QUEUE_URL_IS_A_NAME } from '../../shared/adapters/sqs/connect.ts';
import { ENV } from '../../shared/contract/env.ts';
import { operationOutputId } from '../../shared/contract/operation-outputs.ts';

export interface OnMoto {
  /** Bundles, sizes and schedules. */
  readonly model: AwsModel;
  readonly endpoint: string;
  readonly region: string;
  /** Of the functions stack. */
  readonly outputs: ReadonlyMap<string, string>;
  /** In place of what the template says of the cluster. */
  readonly cluster: Readonly<Record<string, string>>;
  readonly onLog: (line: LogLine) => void;
  readonly onProblem: (problem: Error) => void;
}

/** For a process: every service is moto. The access key says who it is. */
export function environmentOnMoto(
  { endpoint, region }: Pick<OnMoto, 'endpoint' | 'region'>,
  accessKeyId: string,
): Readonly<Record<string, string>> {
  const services = {
    dynamoDb: endpoint,
    sqs: endpoint,
    eventBridge: endpoint,
    ec2: endpoint,
    lambda: endpoint,
    logs: endpoint,
    cloudFormation: endpoint,
  };
  return clientEnvironment(region, services, { accessKeyId, secretAccessKey: 'test' });
}

/** Starts all functions with the variables that CloudFormation has resolved in moto. */
export async function startFunctions(options: OnMoto): Promise<AsyncDisposable> {
  const { model, endpoint, region, outputs, cluster, onLog, onProblem } = options;
  await using parts = new AsyncDisposableStack();
  const connected = { endpoint, region, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
  const sqs = new SQSClient({ ...connected, ...QUEUE_URL_IS_A_NAME });
  parts.defer(() => sqs.destroy());
  const variables = await variablesByInbox(new LambdaClient(connected));
  const inboxOf = (name: string): string => {
    const url = outputs.get(operationOutputId(name, 'Inbox'));
    if (url === undefined) throw new Error(`the stack has no inbox of ${name}`);
    return url;
  };
  const functions = model.functions.map(fn => ({
    ...fn,
    environment: { ...variables.get(inboxOf(fn.name)), ...cluster },
  }));
  const lambda = startLambda({
    functions,
    environment: ({ name }) => environmentOnMoto(options, name),
    maxConcurrency: () => 1,
    onLog,
  });
  parts.defer(() => lambda.stop());
  const receive = async (QueueUrl: string, max: number): Promise<ReceivedMessage[]> => {
    const request = new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: max,
      WaitTimeSeconds: 1,
      MessageSystemAttributeNames: ['All'],
    });
    const { Messages = [] } = await sqs.send(request);
    return Messages.map(
      ({ MessageId = '', ReceiptHandle = '', Body = '', MD5OfBody = '', Attributes = {} }): ReceivedMessage => ({
        MessageId,
        ReceiptHandle,
        Body,
        MD5OfBody,
        Attributes,
        MessageAttributes: {},
      }),
    );
  };
  const pollers = functions.map(({ name, physicalName }): Poller => {
    const url = inboxOf(name);
    return startPoller({
      source: {
        queueName: url,
        functionName: physicalName,
        batchSize: 10,
        maxConcurrency: 1,
        reportsBatchItemFailures: true,
      },
      region,
      account: model.account,
      sqs: {
        receive: (queue, { max }) => receive(queue, max),
        async delete(QueueUrl, handles) {
          if (handles.length === 0) return;
          const Entries = handles.map((ReceiptHandle, index) => ({ Id: String(index), ReceiptHandle }));
          await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
        },
      },
      invoke: (functionName, payload) => lambda.invoke(functionName, payload),
      onProblem,
    });
  });
  parts.defer(async () => void (await Promise.all(pollers.map(poller => poller.stop()))));
  // moto fires no schedule.
  const queueOwner = new Map(model.eventSources.map(({ queueName, functionName }) => [queueName, functionName]));
  const scheduler = startScheduler({
    schedules: model.schedules,
    clock: systemClock,
    mayBeSent: () => true,
    async send(queueName, MessageBody) {
      const owner = functions.find(({ physicalName }) => physicalName === queueOwner.get(queueName));
      await sqs.send(new SendMessageCommand({ QueueUrl: inboxOf(owner?.name ?? queueName), MessageBody }));
    },
    onProblem,
  });
  parts.defer(() => scheduler.stop());
  return parts.move();
}

async function variablesByInbox(client: LambdaClient): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const found = new Map<string, Readonly<Record<string, string>>>();
  for await (const { Functions = [] } of paginateListFunctions({ client }, {})) {
    for (const { Environment } of Functions) {
      const variables = Environment?.Variables ?? {};
      found.set(variables[ENV.inboxUrl] ?? '', variables);
    }
  }
  client.destroy();
  return found;
}
