/**
 * How an alarm can hear the forwarder without the forwarder having any right but PutEvents: its heartbeats match a rule, and CloudWatch
 * counts what the rule delivers. A rule must deliver somewhere, so there is a queue that nobody reads and that forgets after a minute.
 */
import { Duration } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Rule, type EventBus } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { heartbeatPattern } from '../../../shared/contract/routes.ts';
import { queueEncryption } from './encryption.ts';
import { metricNameOfRule } from './rule-name.ts';
import { toRulePattern } from './rule-pattern.ts';

export interface ForwarderHeartbeatProps {
  readonly bus: EventBus;
  readonly cluster: string;
  readonly encryptionKey: IKey | undefined;
}

/** The heartbeats that the rule delivered: a forwarder whose events are refused is silent, too. */
export class ForwarderHeartbeat extends Construct {
  /** Heartbeats in a minute; no data when there was none. */
  readonly received: Metric;
  readonly queue: Queue;
  readonly rule: Rule;

  constructor(scope: Construct, id: string, { bus, cluster, encryptionKey }: ForwarderHeartbeatProps) {
    super(scope, id);
    this.queue = new Queue(this, 'Heartbeats', {
      retentionPeriod: Duration.minutes(1),
      ...queueEncryption(encryptionKey),
      enforceSSL: true,
    });
    this.rule = new Rule(this, 'Rule', {
      eventBus: bus,
      eventPattern: toRulePattern(heartbeatPattern(cluster)),
      targets: [new SqsQueue(this.queue, { maxEventAge: Duration.minutes(1), retryAttempts: 0 })],
    });
    this.received = new Metric({
      namespace: 'AWS/Events',
      metricName: 'Invocations',
      dimensionsMap: { EventBusName: bus.eventBusName, RuleName: metricNameOfRule(this.rule) },
      statistic: Stats.SUM,
      period: Duration.minutes(1),
    });
  }
}
