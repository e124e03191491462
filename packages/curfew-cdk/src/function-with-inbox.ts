/**
 * What every function has: a bundle, a role of its own, a log group with retention, an inbox queue that redrives to its dead letters, and the event
 * source between the two. What it may touch comes by the methods below, each of which sets the variable and grants the permission together.
 */
import { ArnFormat, Duration, RemovalPolicy, Stack, Tags } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  Function,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
  type Code,
} from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Queue, type IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { ENV } from '../../../shared/contract/env.ts';
import {
  FUNCTION_TIMEOUT_SECONDS,
  INBOX_RETENTION_DAYS,
  MAX_RECEIVES,
  VISIBILITY_TIMEOUT_SECONDS,
} from '../../../shared/contract/inbox.ts';
import type { FunctionName } from '../../../shared/contract/names.ts';
import type { InstanceAction, Permissions } from '../../../shared/contract/permissions.ts';
import { KNOWN_POOLS, partitionKeyPrefix, TABLE } from '../../../shared/contract/table.ts';
import { CLUSTER_TAGS, FUNCTION_TAG } from '../../../shared/contract/tags.ts';
import type { CurfewCluster } from './props.ts';
import { onlyFromSources } from './event-sources.ts';
import { allowKey, queueEncryption } from './encryption.ts';
import type { FunctionDefinition } from './function-definitions.ts';
import type { PrivateAccess } from './private-access.ts';
import { HANDLER } from './code.ts';

/** Messages that one invocation gets at most. */
export const BATCH_SIZE = 10;

export interface FunctionWithInboxProps {
  readonly functionName: FunctionName;
  readonly definition: FunctionDefinition;
  readonly permissions: Permissions;
  readonly code: Code;
  readonly deadLetterQueue: IQueue;
  readonly logRetention: RetentionDays;
  readonly privateAccess: PrivateAccess | undefined;
  readonly fipsEndpoints: boolean;
  readonly encryptionKey: IKey | undefined;
}

export class FunctionWithInbox extends Construct {
  readonly functionName: FunctionName;
  readonly function: Function;
  readonly inbox: Queue;
  readonly logGroup: LogGroup;
  readonly role: Role;
  readonly eventSourceMappingId: string;
  private readonly permissions: Permissions;

  constructor(scope: Construct, id: string, props: FunctionWithInboxProps) {
    super(scope, id);
    const { definition, deadLetterQueue } = props;
    this.functionName = props.functionName;
    this.permissions = props.permissions;
    Tags.of(this).add(FUNCTION_TAG, props.functionName);
    this.inbox = new Queue(this, 'Inbox', {
      visibilityTimeout: Duration.seconds(VISIBILITY_TIMEOUT_SECONDS),
      retentionPeriod: Duration.days(INBOX_RETENTION_DAYS),
      ...queueEncryption(props.encryptionKey),
      enforceSSL: true,
      deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount: MAX_RECEIVES },
    });
    // The audit lines are in here: they outlive the function.
    this.logGroup = new LogGroup(this, 'Logs', {
      retention: props.logRetention,
      ...(props.encryptionKey && { encryptionKey: props.encryptionKey }),
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    // Not the managed policy for basic execution: that one may write to every log group of the account.
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.logGroup.grantWrite(this.role);
    allowKey(this.role, props.encryptionKey);
    props.privateAccess?.allowNetworkInterfaces(this.role);
    this.function = this.createFunction(props);
    const eventSource = new SqsEventSource(this.inbox, {
      batchSize: BATCH_SIZE,
      reportBatchItemFailures: true,
      maxConcurrency: definition.maxConcurrency,
    });
    this.function.addEventSource(eventSource);
    this.eventSourceMappingId = eventSource.eventSourceMappingId;
    if (props.fipsEndpoints) this.function.addEnvironment(ENV.fipsEndpoints, 'true');
    this.function.addEnvironment(ENV.inboxUrl, this.inbox.queueUrl);
    this.function.addEnvironment(ENV.deadLetterQueueUrl, deadLetterQueue.queueUrl);
    this.allow(['sqs:SendMessage'], [deadLetterQueue.queueArn]);
  }

  private createFunction(props: FunctionWithInboxProps): Function {
    const { definition, privateAccess } = props;
    return new Function(this, 'Function', {
      description: definition.description,
      code: props.code,
      handler: HANDLER,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: definition.memoryMiB,
      timeout: Duration.seconds(FUNCTION_TIMEOUT_SECONDS),
      role: this.role,
      logGroup: this.logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      systemLogLevelV2: SystemLogLevel.WARN,
      // A record that is looked at every few minutes is a chain inbox → function → inbox by design; Lambda would cut it after 16 links.
      recursiveLoop: RecursiveLoop.ALLOW,
      ...(props.encryptionKey && { environmentEncryption: props.encryptionKey }),
      ...privateAccess?.functionProps,
    });
  }

  /** Names the cluster, for its metrics and to compare events; only one that calls the API server is told how to reach it. */
  connectsTo(cluster: CurfewCluster): void {
    this.function.addEnvironment(ENV.clusterName, cluster.name);
    if (this.permissions.kubernetes.length === 0) return;
    this.function.addEnvironment(ENV.clusterEndpoint, cluster.endpoint);
    this.function.addEnvironment(ENV.clusterCertificateAuthority, cluster.certificateAuthority);
  }

  /** Names the table; the permissions say whose records it may touch, and whether it may query the due index. */
  uses(table: Pick<ITable, 'tableName' | 'tableArn'>): void {
    const { records, readsKnownPools, readsDueIndex } = this.permissions;
    if (records.length > 0 || readsDueIndex) this.function.addEnvironment(ENV.tableName, table.tableName);
    if (records.length > 0) {
      this.allow(['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:DeleteItem'], [table.tableArn], {
        'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': records.map(owner => `${partitionKeyPrefix(owner)}*`) },
      });
    }
    if (readsKnownPools) {
      const keys = `${partitionKeyPrefix(KNOWN_POOLS.owner)}${KNOWN_POOLS.idPrefix}*`;
      this.allow(['dynamodb:GetItem'], [table.tableArn], {
        'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [keys] },
      });
    }
    if (readsDueIndex) this.allow(['dynamodb:Query'], [`${table.tableArn}/index/${TABLE.dueIndex.name}`]);
  }

  /** Names the bus; without a source the function may not publish. */
  publishesTo(bus: EventBus): void {
    const { publishesAs } = this.permissions;
    if (publishesAs.length === 0) return;
    this.function.addEnvironment(ENV.eventBusName, bus.eventBusName);
    this.allow(['events:PutEvents'], [bus.eventBusArn], onlyFromSources(publishesAs));
  }

  /** Lets it call the user's hooks of terminations, by the names in the configuration. */
  invokes(functionNames: readonly string[]): void {
    if (functionNames.length === 0 || !this.permissions.invokesHooks) return;
    this.allow(
      ['lambda:InvokeFunction'],
      functionNames.map(resourceName =>
        Stack.of(this).formatArn({
          service: 'lambda',
          resource: 'function',
          resourceName,
          arnFormat: ArnFormat.COLON_RESOURCE_NAME,
        }),
      ),
    );
  }

  /** Names the inboxes that it sends wake-ups to; `inboxOf` answers those of all functions. */
  sendsWakeUps(inboxOf: (owner: FunctionName) => IQueue): void {
    const inboxes = this.permissions.wakes.map(owner => [owner, inboxOf(owner)] as const);
    if (inboxes.length === 0) return;
    const urls = Object.fromEntries(inboxes.map(([owner, inbox]) => [owner, inbox.queueUrl]));
    this.function.addEnvironment(ENV.inboxUrls, Stack.of(this).toJsonString(urls));
    this.allow(
      ['sqs:SendMessage'],
      inboxes.map(([, inbox]) => inbox.queueArn),
    );
  }

  /**
   * Lets it act on instances. EC2's reads know no resources. Writes are limited to the instances and Auto Scaling groups that are tagged as the
   * cluster's.
   */
  actsOnInstances(cluster: CurfewCluster): void {
    for (const action of this.permissions.ec2) {
      if (action === 'ec2:DescribeInstances' || action === 'ec2:DescribeInstanceStatus') {
        this.allow([action], ['*']);
        continue;
      }
      for (const tag of CLUSTER_TAGS) {
        this.allow([action], [this.arnPatternOf(action)], {
          StringEquals: { [`aws:ResourceTag/${tag}`]: cluster.name },
        });
      }
    }
  }

  /** The ARNs of the resources that an action can be limited to. */
  private arnPatternOf(action: InstanceAction): string {
    return Stack.of(this).formatArn(
      action === 'autoscaling:TerminateInstanceInAutoScalingGroup'
        ? {
            service: 'autoscaling',
            resource: 'autoScalingGroup',
            resourceName: '*:autoScalingGroupName/*',
            arnFormat: ArnFormat.COLON_RESOURCE_NAME,
          }
        : { service: 'ec2', resource: 'instance', resourceName: '*' },
    );
  }

  private allow(actions: string[], resources: string[], conditions?: Record<string, Record<string, unknown>>): void {
    this.role.addToPolicy(new PolicyStatement({ actions, resources, ...(conditions && { conditions }) }));
  }
}
