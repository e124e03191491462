/**
 * How an alarm can hear the forwarder without the forwarder having any right but PutEvents: its heartbeats match a rule, and CloudWatch
 * counts what the rule delivers. A rule must deliver somewhere, so there is a queue that nobody reads and that forgets after a minute.
 */
import { Duration } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Rule, type EventBus } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { FORWARDER_HEARTBEAT, SOURCES } from '../shared/contract/names.ts';

export class ForwarderHeartbeat extends Construct {
  /** Heartbeats in 5 minutes; no data when there was none. */
  readonly received: Metric;
  readonly queue: Queue;
  readonly rule: Rule;

  constructor(scope: Construct, id: string, { bus }: { readonly bus: EventBus }) {
    super(scope, id);
    this.queue = new Queue(this, 'Forgotten', {
      retentionPeriod: Duration.minutes(1),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    this.rule = new Rule(this, 'Rule', {
      eventBus: bus,
      eventPattern: { source: [SOURCES.forwarder], detailType: [FORWARDER_HEARTBEAT] },
      targets: [new SqsQueue(this.queue, { maxEventAge: Duration.minutes(1), retryAttempts: 0 })],
    });
    this.received = new Metric({
      namespace: 'AWS/Events',
      metricName: 'Invocations',
      dimensionsMap: { EventBusName: bus.eventBusName, RuleName: this.rule.ruleName },
      statistic: Stats.SUM,
      period: Duration.minutes(5),
    });
  }
}
