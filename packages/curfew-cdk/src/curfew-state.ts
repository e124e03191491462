/** What must outlive every deployment. */
import { Duration, RemovalPolicy, Stack, Tags } from 'aws-cdk-lib';
import { AttributeType, Billing, ProjectionType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Queue, type IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { DEAD_LETTER_RETENTION_DAYS } from '../../../shared/contract/inbox.ts';
import { FUNCTION_NAMES, type FunctionName } from '../../../shared/contract/names.ts';
import { TABLE } from '../../../shared/contract/table.ts';
import { toConstructId } from './construct-id.ts';
import { acknowledgeDeadLetters } from './acknowledgements.ts';
import { queueEncryption } from './encryption.ts';
import { APP_TAG, refuseName } from './name.ts';

/** The props of {@link CurfewState}. */
export interface CurfewStateProps {
  /**
   * The name of the deployment, one in an account and Region. The bus has it too: users see it in the forwarder's settings. A letter, and up to 30
   * letters and digits.
   */
  readonly name: string;
  /**
   * KMS key for table, queues, log groups and the functions' variables. The stack must name its Region then.
   *
   * @default keys of AWS
   */
  readonly encryptionKey?: IKey | undefined;
}

/**
 * What must outlive every deployment: the promises (table), the bus that the forwarder knows by name, and the messages that nobody could
 * process. Retained when its stack is deleted; give that stack `terminationProtection`. What a first deployment that fails has made is
 * deleted again, so that the next one does not meet a bus of its name.
 *
 * {@link Curfew} makes one of its own, unless it is given this one, in a stack of its own.
 */
export class CurfewState extends Construct {
  /** The name of the deployment. */
  readonly name: string;
  readonly encryptionKey: IKey | undefined;
  readonly table: TableV2;
  readonly bus: EventBus;
  /**
   * One per function: what its inbox gave up, what EventBridge could not deliver to it, and what it parked with a reason.
   *
   * @internal
   */
  readonly deadLetterQueues: ReadonlyMap<FunctionName, IQueue>;

  constructor(scope: Construct, id: string, props: CurfewStateProps) {
    super(scope, id);
    refuseName(this, props.name);
    this.name = props.name;
    this.encryptionKey = props.encryptionKey;
    this.table = this.createTable();
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: props.name,
      description: 'Changes of the cluster and events between the functions of Curfew',
    });
    this.bus.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    this.deadLetterQueues = new Map(FUNCTION_NAMES.map(name => [name, this.createDeadLetterQueue(name)]));
    Tags.of(this).add(...APP_TAG);
    acknowledgeDeadLetters(this.deadLetterQueues.values());
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
    // The rules are made after this, maybe in another stack that depends on this one: they are named by their bus, not one by one.
    const resourceName = `${this.bus.eventBusName}/*`;
    queue.addToResourcePolicy(
      new PolicyStatement({
        sid: 'UndeliverableEvents',
        principals: [new ServicePrincipal('events.amazonaws.com')],
        actions: ['sqs:SendMessage'],
        resources: [queue.queueArn],
        conditions: {
          ArnLike: { 'aws:SourceArn': Stack.of(this).formatArn({ service: 'events', resource: 'rule', resourceName }) },
        },
      }),
    );
    return queue;
  }
}
