/** What of an AWS deployment runs on one machine, read out of the synthesized templates with every reference resolved. */
import type { Statement, TrustModel } from './iam/statements.ts';

export interface AwsModel {
  readonly region: string;
  readonly account: string;
  readonly stacks: readonly StackModel[];
  readonly tables: readonly TableModel[];
  readonly queues: readonly QueueModel[];
  readonly queuePolicies: readonly QueuePolicyModel[];
  readonly buses: readonly string[];
  readonly rules: readonly RuleModel[];
  readonly functions: readonly FunctionModel[];
  readonly eventSources: readonly EventSourceModel[];
  readonly schedules: readonly ScheduleModel[];
  readonly roles: readonly RoleModel[];
  readonly accessEntries: readonly AccessEntryModel[];
  readonly podIdentities: readonly PodIdentityModel[];
}

/** A stack as CloudFormation describes it. */
export interface StackModel {
  readonly name: string;
  readonly outputs: Readonly<Record<string, string>>;
}

/** A role with all statements of its policies. */
export interface RoleModel {
  readonly name: string;
  readonly arn: string;
  readonly trust: readonly TrustModel[];
  readonly statements: readonly Statement[];
}

/** Whose EKS tokens are in which Kubernetes groups. */
export interface AccessEntryModel {
  readonly roleArn: string;
  readonly kubernetesGroups: readonly string[];
}

/** The role of a service account. */
export interface PodIdentityModel {
  readonly clusterName: string;
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly roleArn: string;
}

export interface KeyModel {
  readonly AttributeName: string;
  readonly KeyType: 'HASH' | 'RANGE';
}

/** In DynamoDB's own spelling, as CreateTable takes it. */
export interface TableModel {
  readonly TableName: string;
  readonly AttributeDefinitions: readonly { readonly AttributeName: string; readonly AttributeType: 'S' | 'N' | 'B' }[];
  readonly KeySchema: readonly KeyModel[];
  readonly GlobalSecondaryIndexes: readonly {
    readonly IndexName: string;
    readonly KeySchema: readonly KeyModel[];
    readonly Projection: {
      readonly ProjectionType?: 'ALL' | 'KEYS_ONLY' | 'INCLUDE' | undefined;
      readonly NonKeyAttributes?: readonly string[] | undefined;
    };
  }[];
}

export interface QueueModel {
  readonly name: string;
  readonly arn: string;
  readonly url: string;
  /** In SQS's spelling, as CreateQueue takes them. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** The statements by which EventBridge may do something. */
export interface QueuePolicyModel {
  readonly queueUrls: readonly string[];
  readonly statements: readonly Statement[];
  /** Patterns of the principals of the account that alone may send; undefined: whoever has the permission. */
  readonly senders: readonly string[] | undefined;
}

export interface RuleModel {
  readonly name: string;
  readonly arn: string;
  readonly busName: string;
  readonly pattern: unknown;
  readonly targets: readonly TargetModel[];
}

export interface TargetModel {
  readonly queueName: string;
  /** Where an event goes that may not be sent to the queue. */
  readonly deadLetterQueueName: string | undefined;
}

export interface FunctionModel {
  /** The concern (`repair`), from the tag that infra sets; else the physical name. */
  readonly name: string;
  readonly physicalName: string;
  readonly arn: string;
  readonly roleArn: string;
  /** Folder of the bundle. */
  readonly taskRoot: string;
  readonly handler: string;
  readonly runtime: string;
  readonly memoryMiB: number;
  readonly timeoutSeconds: number;
  readonly logGroup: string;
  readonly logFormat: 'JSON' | 'Text';
  readonly environment: Readonly<Record<string, string>>;
}

/** An SQS event source mapping. */
export interface EventSourceModel {
  readonly queueName: string;
  /** Physical name. */
  readonly functionName: string;
  readonly batchSize: number;
  /** Invocations at once. */
  readonly maxConcurrency: number;
  readonly reportsBatchItemFailures: boolean;
}

export interface ScheduleModel {
  readonly name: string;
  readonly expression: string;
  /** The schedule group, by which a trust policy may know the schedule. */
  readonly groupName: string;
  readonly roleArn: string;
  readonly queueName: string;
  /** Body of the message. */
  readonly input: string;
}
