/** A deployment of Curfew in an AWS account, as the outputs of its functions stack describe it. */
import { CloudFormationClient, DescribeStacksCommand, type Stack } from '@aws-sdk/client-cloudformation';
import { LOCAL_STACK_TAG } from '../../packages/local-aws/src/cloudformation.ts';
import { FUNCTION_NAMES, type FunctionName } from '../../shared/contract/names.ts';
import {
  ALARM_PREFIX_OUTPUT,
  CLUSTER_OUTPUT,
  compositeAlarmName,
  EVENT_BUS_OUTPUT,
  operationOutputId,
  RECORDS_TABLE_OUTPUT,
  VERSION_OUTPUT,
  type OperationOutput,
} from '../../shared/contract/operation-outputs.ts';
import { UsageError } from '../usage-error.ts';
import { describeAwsFailure } from './aws-failure.ts';

export interface DeployedFunction {
  readonly name: FunctionName;
  /** UUID of the event source mapping between inbox and function. */
  readonly eventSource: string;
  /** Name of the schedule that ticks it; absent when none does. */
  readonly schedule: string | undefined;
  readonly inboxUrl: string;
  readonly deadLettersUrl: string;
}

/**
 * Options of AWS clients; Region, credentials and endpoints come from the usual places (`AWS_REGION`, `AWS_PROFILE`,
 * …).
 */
export interface ClientOptions {
  readonly region?: string;
}

/** The functions of the stack. Throws `UsageError` when there is no such stack, or it is none of Curfew's. */
export async function readDeployment(stack: string, options: ClientOptions): Promise<readonly DeployedFunction[]> {
  const values = await readOutputs(stack, options);
  const functions = FUNCTION_NAMES.flatMap((name): DeployedFunction[] => {
    const value = (output: OperationOutput): string | undefined => values.get(operationOutputId(name, output));
    const [eventSource, inboxUrl, deadLettersUrl] = [value('EventSource'), value('Inbox'), value('DeadLetters')];
    if (eventSource === undefined || inboxUrl === undefined || deadLettersUrl === undefined) return [];
    return [{ name, eventSource, schedule: value('Schedule'), inboxUrl, deadLettersUrl }];
  });
  if (functions.length > 0) return functions;
  throw new UsageError(
    `the stack ${stack} has no functions of Curfew in its outputs: name the functions stack with --stack, and deploy this version first`,
  );
}

/** The log group with the audit lines of a function. */
export interface FunctionLogs {
  readonly name: FunctionName;
  readonly logGroup: string;
}

/** The log groups of the stack's functions. Throws `UsageError` as `readDeployment` does. */
export async function readLogGroups(stack: string, options: ClientOptions): Promise<readonly FunctionLogs[]> {
  const values = await readOutputs(stack, options);
  const found = FUNCTION_NAMES.flatMap((name): FunctionLogs[] => {
    const logGroup = values.get(operationOutputId(name, 'LogGroup'));
    return logGroup === undefined ? [] : [{ name, logGroup }];
  });
  if (found.length > 0) return found;
  throw new UsageError(
    `the stack ${stack} has no log groups of Curfew in its outputs: name the functions stack with --stack, and deploy this version first`,
  );
}

/** The name of the stack's table of records. Throws `UsageError` as `readDeployment` does. */
export const readRecordsTable = (stack: string, options: ClientOptions): Promise<string> =>
  readOutput(stack, RECORDS_TABLE_OUTPUT, options);

/** The name of the deployment's bus. Throws `UsageError` as `readDeployment` does. */
export const readBusName = (stack: string, options: ClientOptions): Promise<string> =>
  readOutput(stack, EVENT_BUS_OUTPUT, options);

/** The name of the deployment's cluster. Throws `UsageError` as `readDeployment` does. */
export const readClusterName = (stack: string, options: ClientOptions): Promise<string> =>
  readOutput(stack, CLUSTER_OUTPUT, options);

/**
 * Reads the prefix of the deployment's alarms, and the name of the composite one. Throws `UsageError` as
 * `readDeployment` does.
 */
export async function readAlarmNames(
  stack: string,
  options: ClientOptions,
): Promise<{ readonly prefix: string; readonly composite: string }> {
  const [stackName = stack, deployment = stackName] = stack.split('/');
  const prefix = (await readOutputs(stack, options)).get(ALARM_PREFIX_OUTPUT);
  return { prefix: prefix ?? `${stackName}-`, composite: compositeAlarmName(deployment) };
}

async function readOutput(stack: string, output: string, options: ClientOptions): Promise<string> {
  const value = (await readOutputs(stack, options)).get(output);
  if (value !== undefined) return value;
  throw new UsageError(
    `the stack ${stack} has no ${output} in its outputs: name the functions stack with --stack, and deploy this version first`,
  );
}

/** Whether the stack is one of `npm start -- --serve`, where much of AWS is not there. Throws `UsageError` when it cannot be read. */
export async function isOfThisMachine(stack: string, options: ClientOptions): Promise<boolean> {
  const tags = (await readStack(stack, options))?.Tags ?? [];
  return tags.some(({ Key }) => Key === LOCAL_STACK_TAG);
}

/** The version of what is deployed. Throws `UsageError` as `readDeployment` does. */
export async function readVersion(stack: string, options: ClientOptions): Promise<string> {
  const version = (await readOutputs(stack, options)).get(VERSION_OUTPUT);
  if (version !== undefined) return version;
  throw new UsageError(
    `the stack ${stack} has no ${VERSION_OUTPUT} in its outputs: it is older than 0.1.0, or no functions stack of Curfew`,
  );
}

async function readOutputs(
  stack: string,
  options: ClientOptions,
): Promise<ReadonlyMap<string | undefined, string | undefined>> {
  const [, deployment = ''] = stack.split('/');
  const found = await readStack(stack, options);
  const outputs = found?.Outputs?.filter(({ OutputKey = '' }) => OutputKey.startsWith(deployment)) ?? [];
  return new Map(outputs.map(({ OutputKey, OutputValue }) => [OutputKey?.slice(deployment.length), OutputValue]));
}

async function readStack(stack: string, options: ClientOptions): Promise<Stack | undefined> {
  const client = new CloudFormationClient(options);
  const answer = await orUsageError(`reading the stack ${stack}`, () =>
    client.send(new DescribeStacksCommand({ StackName: stackNameOf(stack) })),
  );
  return answer.Stacks?.[0];
}

/** `Platform` of `Platform/Prod`: a stack that has several deployments is named with the one that is meant. */
const stackNameOf = (stack: string): string => stack.split('/')[0] ?? stack;

/** Runs an AWS call; its failure becomes one line: credentials, Region, the stack's name and permissions are the user's to mend. */
export async function orUsageError<Answer>(doing: string, call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${doing}: ${error.message}`, { cause: error });
    throw new UsageError(`${doing}: ${describeAwsFailure(error)}`, { cause: error });
  }
}
