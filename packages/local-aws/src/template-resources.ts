/** One reader per resource type: resolved properties in, a piece of the model out. Throws a ZodError or an Error for what does not run locally. */
import { z } from 'zod';
import { FUNCTION_TAG } from '../../../shared/contract/tags.ts';
import type { ResourceIdentity } from './intrinsics.ts';
import { queuePolicySchema } from './iam/queue-policies.ts';
import type {
  EventSourceModel,
  FunctionModel,
  QueueModel,
  QueuePolicyModel,
  RuleModel,
  ScheduleModel,
  TableModel,
} from './model.ts';

export interface ReadContext {
  readonly properties: unknown;
  readonly identity: ResourceIdentity;
  /** S3 key → folder of the assembly. */
  readonly assets: ReadonlyMap<string, string>;
}

const keySchema = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }));
const queueArn = z.string().regex(/^arn:aws:sqs:/, 'only queues are supported as targets');
const queueNameOf = (arn: string) => arn.slice(arn.lastIndexOf(':') + 1);

const tableSchema = z.object({
  AttributeDefinitions: z.array(z.object({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) })),
  KeySchema: keySchema,
  GlobalSecondaryIndexes: z
    .array(
      z.object({
        IndexName: z.string(),
        KeySchema: keySchema,
        Projection: z.object({
          ProjectionType: z.enum(['ALL', 'KEYS_ONLY', 'INCLUDE']).optional(),
          NonKeyAttributes: z.array(z.string()).optional(),
        }),
      }),
    )
    .default([]),
});

export function toTable({ properties, identity }: ReadContext): TableModel {
  return { TableName: identity.ref, ...tableSchema.parse(properties) };
}

const QUEUE_ATTRIBUTES = [
  'DelaySeconds',
  'MaximumMessageSize',
  'MessageRetentionPeriod',
  'ReceiveMessageWaitTimeSeconds',
  'VisibilityTimeout',
  'FifoQueue',
  'ContentBasedDeduplication',
] as const;
const queueSchema = z.looseObject({
  RedrivePolicy: z.object({ deadLetterTargetArn: z.string(), maxReceiveCount: z.int() }).optional(),
});

export function toQueue({ properties, identity }: ReadContext): QueueModel {
  const { RedrivePolicy, ...rest } = queueSchema.parse(properties);
  const attributes = QUEUE_ATTRIBUTES.filter(name => rest[name] !== undefined).map(name => [name, String(rest[name])]);
  if (RedrivePolicy !== undefined) attributes.push(['RedrivePolicy', JSON.stringify(RedrivePolicy)]);
  const { QueueName: name = '', Arn: arn = '' } = identity.attributes;
  return { name, arn, url: identity.ref, attributes: Object.fromEntries(attributes) };
}

export const toQueuePolicy = ({ properties }: ReadContext): QueuePolicyModel => queuePolicySchema.parse(properties);

const ruleSchema = z.object({
  EventBusName: z.string().default('default'),
  EventPattern: z.unknown().optional(),
  State: z.string().default('ENABLED'),
  // Strict: an input transformer would change what arrives.
  Targets: z.array(
    z.strictObject({
      Arn: queueArn,
      Id: z.string(),
      DeadLetterConfig: z.object({ Arn: queueArn }).optional(),
      RetryPolicy: z.unknown().optional(),
    }),
  ),
});

/** A disabled rule has no targets. Throws for one without an event pattern: schedules are `toSchedule`. */
export function toRule({ properties, identity }: ReadContext): RuleModel {
  const { EventBusName, EventPattern, State, Targets } = ruleSchema.parse(properties);
  if (EventPattern === undefined) throw new Error('only rules with an event pattern are supported');
  return {
    name: identity.ref,
    arn: identity.attributes['Arn'] ?? '',
    busName: EventBusName,
    pattern: EventPattern,
    targets:
      State === 'DISABLED'
        ? []
        : Targets.map(({ Arn, DeadLetterConfig }) => ({
            queueName: queueNameOf(Arn),
            deadLetterQueueName: DeadLetterConfig && queueNameOf(DeadLetterConfig.Arn),
          })),
  };
}

const functionSchema = z.object({
  Code: z.object({ S3Key: z.string() }),
  Role: z.string(),
  Handler: z.string(),
  Runtime: z.string().regex(/^nodejs/, 'only Node functions are supported'),
  MemorySize: z.int().default(128),
  Timeout: z.int().default(3),
  LoggingConfig: z
    .object({ LogGroup: z.string().optional(), LogFormat: z.enum(['JSON', 'Text']).default('Text') })
    .prefault({}),
  Environment: z.object({ Variables: z.record(z.string(), z.string()).default({}) }).prefault({}),
  Tags: z.array(z.object({ Key: z.string(), Value: z.string() })).default([]),
});

/** Throws when its code is not in the assembly. */
export function toFunction({ properties, identity, assets }: ReadContext): FunctionModel {
  const { Code, Role, Handler, Runtime, MemorySize, Timeout, LoggingConfig, Environment, Tags } =
    functionSchema.parse(properties);
  const taskRoot = assets.get(Code.S3Key);
  if (taskRoot === undefined) throw new Error(`its code ${Code.S3Key} is not in the assembly`);
  return {
    name: Tags.find(({ Key }) => Key === FUNCTION_TAG)?.Value ?? identity.ref,
    physicalName: identity.ref,
    arn: identity.attributes['Arn'] ?? '',
    roleArn: Role,
    taskRoot,
    handler: Handler,
    runtime: Runtime,
    memoryMiB: MemorySize,
    timeoutSeconds: Timeout,
    logGroup: LoggingConfig.LogGroup ?? `/aws/lambda/${identity.ref}`,
    logFormat: LoggingConfig.LogFormat,
    environment: Environment.Variables,
  };
}

const eventSourceSchema = z
  .object({
    EventSourceArn: queueArn,
    FunctionName: z.string(),
    BatchSize: z.int().min(1).max(10, 'batches above 10 are not supported').default(10),
    FunctionResponseTypes: z.array(z.string()).default([]),
    ScalingConfig: z.object({ MaximumConcurrency: z.int().optional() }).prefault({}),
    FilterCriteria: z.undefined('filters are not supported').optional(),
    Enabled: z.literal(true, 'disabled event sources are not supported').default(true),
  })
  .readonly();

/** Lambda's own beginning where the template sets no limit. */
const DEFAULT_CONCURRENCY = 5;

export function toEventSource({ properties }: ReadContext): EventSourceModel {
  const { EventSourceArn, FunctionName, BatchSize, FunctionResponseTypes, ScalingConfig } =
    eventSourceSchema.parse(properties);
  return {
    queueName: queueNameOf(EventSourceArn),
    // A name, or an ARN that ends in it.
    functionName: FunctionName.slice(FunctionName.lastIndexOf(':') + 1),
    batchSize: BatchSize,
    maxConcurrency: ScalingConfig.MaximumConcurrency ?? DEFAULT_CONCURRENCY,
    reportsBatchItemFailures: FunctionResponseTypes.includes('ReportBatchItemFailures'),
  };
}

const scheduleSchema = z.object({
  ScheduleExpression: z.string(),
  GroupName: z.string().default('default'),
  Target: z.object({ Arn: queueArn, RoleArn: z.string(), Input: z.string().default('{}') }),
});

export function toSchedule({ properties, identity }: ReadContext): ScheduleModel {
  const { ScheduleExpression, GroupName, Target } = scheduleSchema.parse(properties);
  return {
    name: identity.ref,
    expression: ScheduleExpression,
    groupName: GroupName,
    roleArn: Target.RoleArn,
    queueName: queueNameOf(Target.Arn),
    input: Target.Input,
  };
}
