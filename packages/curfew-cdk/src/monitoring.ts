/**
 * The alarms, one dashboard, saved queries. Each alarm says in its description which paragraph of the runbook to read; a test checks that the
 * paragraph exists.
 */
import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Rule } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import { METRIC_NAMESPACE, METRICS, metricDimensions } from '../../../shared/contract/metrics.ts';
import { Alarms, SILENT_MINUTES } from './alarms.ts';
import type { CurfewCluster, CurfewProps } from './props.ts';
import type { FunctionWithInbox } from './function-with-inbox.ts';
import { createDashboard } from './dashboard.ts';
import { watchOutcomes } from './outcome-alarms.ts';
import { countOutcomes } from './outcome-metrics.ts';
import { watchFunction } from './function-alarms.ts';
import { ForwarderHeartbeat } from './forwarder-heartbeat.ts';
import { metricNameOfRule } from './rule-name.ts';
import { saveQueries } from './saved-queries.ts';
import type { CurfewState } from './curfew-state.ts';

/** The time within which what is due happens (I5). */
const OVERDUE_MS = Duration.minutes(5).toMilliseconds();
/** The most metrics that an alarm on an expression takes. */
const MAX_METRICS = 10;
const ONE_MINUTE = Duration.minutes(1);
const FIVE_MINUTES = Duration.minutes(5);

export interface MonitoringProps {
  readonly settings: Pick<
    CurfewProps,
    'name' | 'alarmTopics' | 'alarms' | 'dashboard' | 'terminationsPerHour' | 'runbookUrl'
  >;
  /** The name of the cluster, a dimension of every custom metric. */
  readonly cluster: Pick<CurfewCluster, 'name'>;
  readonly state: CurfewState;
  readonly functions: readonly FunctionWithInbox[];
  readonly rules: readonly Rule[];
}

export class Monitoring extends Construct {
  readonly heartbeat: ForwarderHeartbeat;
  private readonly cluster: string;
  private readonly alarms: Alarms;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { settings, state, functions, rules } = props;
    const { name, dashboard = true, terminationsPerHour = 10 } = settings;
    this.cluster = props.cluster.name;
    this.alarms = new Alarms(this, settings);
    this.heartbeat = new ForwarderHeartbeat(this, 'ForwarderHeartbeat', {
      bus: state.bus,
      cluster: this.cluster,
      encryptionKey: state.encryptionKey,
    });
    const overdue = new Metric({
      namespace: METRIC_NAMESPACE,
      metricName: METRICS.oldestOverdueTimer,
      dimensionsMap: metricDimensions('timer', this.cluster),
      statistic: Stats.MAXIMUM,
      period: ONE_MINUTE,
    });
    this.alarms.add('OverdueTimers', {
      metric: overdue,
      threshold: OVERDUE_MS,
      evaluationPeriods: 2,
      says: 'Timers are overdue by more than 5 minutes.',
      runbook: 'Overdue timers',
      urgency: 'impaired',
    });
    this.alarms.add('RecordsVanished', {
      metric: new Metric({
        namespace: METRIC_NAMESPACE,
        metricName: METRICS.recordsVanished,
        dimensionsMap: metricDimensions('timer', this.cluster),
        statistic: Stats.SUM,
        period: FIVE_MINUTES,
      }),
      says: 'The table is new, or its records have vanished.',
      runbook: 'Records vanished',
      urgency: 'page',
    });
    this.alarms.addSilence('SweepSilent', {
      metric: overdue,
      says: `The timer function has not swept for ${SILENT_MINUTES} minutes: timers fire late or not at all.`,
      runbook: 'Sweep silent',
    });
    this.alarms.addSilence('ForwarderSilent', {
      metric: this.heartbeat.received,
      says: `The forwarder has not been heard for ${SILENT_MINUTES} minutes: changes of the cluster do not arrive.`,
      runbook: 'Forwarder silent',
    });
    for (const fn of functions) watchFunction(this.alarms, fn, { cluster: this.cluster, state });
    const count = countOutcomes(this, functions, name);
    watchOutcomes(this.alarms, { cluster: this.cluster, count, terminationsPerHour });
    this.watchDelivery(rules, state);
    this.alarms.addComposite({
      says: 'Curfew cannot do its work, or not in time: the alarms that ring with this one say why.',
      runbook: 'Curfew impaired',
    });
    saveQueries(
      this,
      functions.map(({ logGroup }) => logGroup),
      name,
    );
    if (dashboard) {
      const heartbeat = this.heartbeat.received;
      createDashboard(this, { cluster: this.cluster, count, functions, overdue, heartbeat });
    }
  }

  /** The alarms on what rules could not deliver, as few as `MAX_METRICS` allows. */
  private watchDelivery(rules: readonly Rule[], state: CurfewState): void {
    for (let start = 0; start < rules.length; start += MAX_METRICS) {
      const some = rules.slice(start, start + MAX_METRICS);
      const failed = some.map((rule, index) => [`rule${index}`, ruleMetric('FailedInvocations', rule, state)] as const);
      this.alarms.add(`Undelivered${start / MAX_METRICS + 1}`, {
        metric: new MathExpression({
          expression: `SUM([${failed.map(([id]) => `FILL(${id}, 0)`).join(', ')}])`,
          usingMetrics: Object.fromEntries(failed),
          period: FIVE_MINUTES,
        }),
        says: `EventBridge could not deliver events of ${some.map(({ node }) => node.id).join(', ')}, of one or more, and has given up on them.`,
        runbook: 'Undelivered events',
        urgency: 'page',
      });
    }
  }
}

/** Rules of a custom bus report under both names; under the rule's alone only those of the default bus do. */
function ruleMetric(metricName: string, rule: Rule, state: CurfewState): Metric {
  return new Metric({
    namespace: 'AWS/Events',
    metricName,
    dimensionsMap: { EventBusName: state.bus.eventBusName, RuleName: metricNameOfRule(rule) },
    statistic: Stats.SUM,
    period: FIVE_MINUTES,
  });
}
