/**
 * What must outlive every deployment: the promises (table), the bus that the forwarder knows by name, and the messages that nobody could
 * process. Retained when the stack is deleted, and the stack itself refuses deletion. What a first deployment that fails has made is
 * deleted again, so that the next one does not meet a bus of its name.
 */
import { Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { AttributeType, Billing, ProjectionType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Queue, type IQueue } from 'aws-cdk-lib/aws-sqs';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { DEAD_LETTER_RETENTION_DAYS } from '../shared/contract/inbox.ts';
import { FUNCTION_NAMES, type FunctionName } from '../shared/contract/names.ts';
import { TABLE } from '../shared/contract/table.ts';
import { toConstructId } from './constructs/construct-id.ts';
import { encryptionKeyOf, queueEncryption } from './encryption.ts';

export interface StateStackProps extends StackProps {
  /** Of the deployment. The bus has it too: users see it in the forwarder's settings. */
  readonly name: string;
  /** Of a KMS key. */
  readonly encryptionKeyArn: string | undefined;
}

export class StateStack extends Stack {
  readonly encryptionKey: IKey | undefined;
  readonly table: TableV2;
  readonly bus: EventBus;
  /** One per function: what its inbox gave up, what EventBridge could not deliver to it, and what it parked with a reason. */
  readonly deadLetterQueues: ReadonlyMap<FunctionName, IQueue>;

  constructor(scope: Construct, id: string, props: StateStackProps) {
    super(scope, id, { ...props, terminationProtection: true });
    this.encryptionKey = encryptionKeyOf(this, props.encryptionKeyArn);
    this.table = this.createTable();
    // Also while functions use a restored one: CloudFormation takes no export away that is in use, nor would it come back in time.
    this.exportValue(this.table.tableName);
    this.exportValue(this.table.tableArn);
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: props.name,
      description: 'Changes of the cluster and events between the functions of Curfew',
    });
    this.bus.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    this.deadLetterQueues = new Map(FUNCTION_NAMES.map(name => [name, this.createDeadLetterQueue(name)]));
  }

  private createTable(): TableV2 {
    const { partitionKey, dueIndex, ttlAttribute } = TABLE;
    return new TableV2(this, 'Records', {
      partitionKey: { name: partitionKey, type: AttributeType.STRING },
      globalSecondaryIndexes: [
        {
          indexName: dueIndex.name,
          partitionKey: { name: dueIndex.partitionKey, type: AttributeType.STRING },
          sortKey: { name: dueIndex.sortKey, type: AttributeType.NUMBER },
          projectionType: ProjectionType.INCLUDE,
          nonKeyAttributes: [...dueIndex.projectedAttributes],
        },
      ],
      timeToLiveAttribute: ttlAttribute,
      billing: Billing.onDemand(),
      encryption:
        this.encryptionKey === undefined
          ? TableEncryptionV2.dynamoOwnedKey()
          : TableEncryptionV2.customerManagedKey(this.encryptionKey),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      // Also when the first deployment fails: CloudFormation could not delete it. Its name is generated, so it is in nobody's way.
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }

  private createDeadLetterQueue(name: FunctionName): Queue {
    const queue = new Queue(this, `${toConstructId(name)}DeadLetters`, {
      retentionPeriod: Duration.days(DEAD_LETTER_RETENTION_DAYS),
      ...queueEncryption(this.encryptionKey),
      enforceSSL: true,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    // The rules are in the functions stack, which depends on this one: they are named by their bus, not one by one.
    const resourceName = `${this.bus.eventBusName}/*`;
    queue.addToResourcePolicy(
      new PolicyStatement({
        sid: 'UndeliverableEvents',
        principals: [new ServicePrincipal('events.amazonaws.com')],
        actions: ['sqs:SendMessage'],
        resources: [queue.queueArn],
        conditions: {
          ArnLike: { 'aws:SourceArn': this.formatArn({ service: 'events', resource: 'rule', resourceName }) },
        },
      }),
    );
    return queue;
  }
}
