/** The event sources, functions, schedules, queues and the table of a deployment. */
import { DescribeContinuousBackupsCommand, DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  GetAccountSettingsCommand,
  GetEventSourceMappingCommand,
  GetFunctionConfigurationCommand,
  LambdaClient,
} from '@aws-sdk/client-lambda';
import { GetScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { QUEUE_URL_IS_A_NAME } from '../../shared/adapters/sqs/connect.ts';
import { ENV } from '../../shared/contract/env.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import { TABLE } from '../../shared/contract/table.ts';
import type { ClientOptions, DeployedFunction } from '../operate/deployment.ts';
import { failed, ok, warning, type Check, type Finding } from './finding.ts';

/** The role and the environment variables with which a function runs. */
export interface RunningFunction {
  readonly name: FunctionName;
  readonly roleArn: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** Batches that all functions together may work on at once, by `packages/curfew-cdk/src/function-definitions.ts`. */
const CONCURRENT_BATCHES = 37;
const RESTORE = 'npx cdk deploy --all --revert-drift, or restore it: docs/runbook.md, "Restoring the table"';

/** Undefined where the event source or the function cannot be read. */
export async function readFunction(
  lambda: LambdaClient,
  { name, eventSource }: DeployedFunction,
): Promise<RunningFunction> {
  const { FunctionArn } = await lambda.send(new GetEventSourceMappingCommand({ UUID: eventSource }));
  const { Role = '', Environment } = await lambda.send(
    new GetFunctionConfigurationCommand({ FunctionName: FunctionArn }),
  );
  return { name, roleArn: Role, variables: Environment?.Variables ?? {} };
}

export function checksOfParts(
  functions: readonly DeployedFunction[],
  tableName: string,
  { stack, ...options }: ClientOptions & { readonly stack: string },
): readonly Check[] {
  const lambda = new LambdaClient(options);
  const scheduler = new SchedulerClient(options);
  const resume = `curfew resume --stack ${stack}`;
  return [
    ...functions.map(({ name, eventSource }): Check => ({
      subject: `event source of ${name}`,
      needs: 'lambda:GetEventSourceMapping',
      look: async () => {
        const { State = 'unknown' } = await lambda.send(new GetEventSourceMappingCommand({ UUID: eventSource }));
        const subject = `event source of ${name}`;
        return [State === 'Enabled' ? ok(subject, State) : failed(subject, State, resume)];
      },
    })),
    ...functions.map(({ name, schedule }): Check => ({
      subject: `tick of ${name}`,
      needs: 'scheduler:GetSchedule',
      look: async () => {
        const subject = `tick of ${name}`;
        if (schedule === undefined) {
          return [failed(subject, 'no output names its schedule', 'deploy this version: npx cdk deploy --all')];
        }
        const { State = 'unknown' } = await scheduler.send(new GetScheduleCommand({ Name: schedule }));
        return [State === 'ENABLED' ? ok(subject, State) : failed(subject, State, resume)];
      },
    })),
    ...checksOfInboxes(functions, options),
    ...checksOfDeadLetters(functions, { ...options, stack }),
    {
      subject: 'table',
      needs: 'dynamodb:DescribeTable and dynamodb:DescribeContinuousBackups',
      whenMissing: RESTORE,
      look: () => lookAtTable(tableName, options),
    },
    {
      subject: 'concurrency of Lambda',
      needs: 'lambda:GetAccountSettings',
      look: async () => {
        const { AccountLimit } = await lambda.send(new GetAccountSettingsCommand({}));
        const free = AccountLimit?.UnreservedConcurrentExecutions ?? 0;
        const subject = 'concurrency of Lambda';
        const says = `${free} of the account are not reserved`;
        const remedy = `Curfew works on up to ${CONCURRENT_BATCHES} batches at once: ask for a higher limit, or expect throttles`;
        return [free >= CONCURRENT_BATCHES ? ok(subject, says) : warning(subject, says, remedy)];
      },
    },
  ];
}

/** An event source stays enabled when its inbox is deleted. */
export function checksOfInboxes(functions: readonly DeployedFunction[], options: ClientOptions): readonly Check[] {
  const waitingIn = queueReader(options);
  return functions.map(({ name, inboxUrl }) => ({
    subject: `inbox of ${name}`,
    needs: 'sqs:GetQueueAttributes',
    look: async () => [ok(`inbox of ${name}`, `${await waitingIn(inboxUrl)} wait`)],
  }));
}

/** Checks for messages that no function could process. */
export function checksOfDeadLetters(
  functions: readonly DeployedFunction[],
  { stack, ...options }: ClientOptions & { readonly stack: string },
): readonly Check[] {
  const waitingIn = queueReader(options);
  return functions.map(({ name, deadLettersUrl }) => ({
    subject: `dead letters of ${name}`,
    needs: 'sqs:GetQueueAttributes',
    look: async () => {
      const subject = `dead letters of ${name}`;
      const waiting = await waitingIn(deadLettersUrl);
      const remedy = `curfew redrive --stack ${stack} --function ${name} --dry-run says why; docs/runbook.md, "Dead letters"`;
      return [waiting === 0 ? ok(subject, 'none') : warning(subject, `${waiting} wait`, remedy)];
    },
  }));
}

/** Reads the number of messages that wait in a queue. */
function queueReader(options: ClientOptions): (queueUrl: string) => Promise<number> {
  const sqs = new SQSClient({ ...options, ...QUEUE_URL_IS_A_NAME });
  const AttributeNames = ['ApproximateNumberOfMessages'] as const;
  return async QueueUrl => {
    const request = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...AttributeNames] });
    const { Attributes } = await sqs.send(request);
    return Number(Attributes?.[AttributeNames[0]] ?? 0);
  };
}

async function lookAtTable(tableName: string, options: ClientOptions): Promise<readonly Finding[]> {
  const client = new DynamoDBClient(options);
  const subject = 'table';
  const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
  const index = Table?.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === TABLE.dueIndex.name);
  const states = `${tableName} ${Table?.TableStatus ?? 'unknown'}, index ${index?.IndexStatus ?? 'missing'}`;
  if (Table?.TableStatus !== 'ACTIVE' || index?.IndexStatus !== 'ACTIVE') {
    return [failed(subject, states, RESTORE)];
  }
  const { ContinuousBackupsDescription } = await client.send(
    new DescribeContinuousBackupsCommand({ TableName: tableName }),
  );
  const recovery = ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus;
  const isProtected = Table.DeletionProtectionEnabled === true;
  const missing = [
    ...(recovery === 'ENABLED' ? [] : ['point-in-time recovery is off']),
    ...(isProtected ? [] : ['deletion protection is off']),
  ];
  if (missing.length === 0) return [ok(subject, states)];
  return [
    warning(subject, `${states}; ${missing.join(', ')}`, 'switch both on: docs/runbook.md, "Restoring the table"'),
  ];
}

/** The cluster that the functions work for, the same for all. */
export function clusterOf(functions: readonly RunningFunction[]): string | undefined {
  return functions.map(({ variables }) => variables[ENV.clusterName]).find(name => name !== undefined);
}
