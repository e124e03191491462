/**
 * The alarms and one small dashboard. Each alarm says in its description which paragraph of the runbook to read; a test checks that the
 * paragraph exists.
 */
import { Duration } from 'aws-cdk-lib';
import { Dashboard, GraphWidget, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Rule } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import { METRIC_NAMESPACE, METRICS, metricDimensions, TERMINATION_METRICS } from '../shared/contract/metrics.ts';
import { ROUTES } from '../shared/contract/routes.ts';
import { Alarms, SILENT_MINUTES } from './alarms.ts';
import type { ClusterConnection } from './cluster-connection.ts';
import type { CurfewConfig } from './config.ts';
import type { FunctionWithInbox } from './constructs/function-with-inbox.ts';
import { watchFunction } from './function-alarms.ts';
import { ForwarderHeartbeat } from './forwarder-heartbeat.ts';
import { metricNameOfRule } from './rule-name.ts';
import type { StateStack } from './state-stack.ts';

/** I5: what is due happens within 5 minutes. */
const OVERDUE_MS = Duration.minutes(5).toMilliseconds();
const ONE_MINUTE = Duration.minutes(1);
const FIVE_MINUTES = Duration.minutes(5);

export interface MonitoringProps {
  readonly config: CurfewConfig;
  /** Its name is a dimension of every custom metric. */
  readonly cluster: Pick<ClusterConnection, 'name'>;
  readonly state: StateStack;
  readonly functions: readonly FunctionWithInbox[];
  readonly rules: readonly Rule[];
}

export class Monitoring extends Construct {
  readonly heartbeat: ForwarderHeartbeat;
  private readonly cluster: string;
  private readonly alarms: Alarms;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { config, state, functions, rules } = props;
    this.cluster = props.cluster.name;
    this.alarms = new Alarms(this, config);
    this.heartbeat = new ForwarderHeartbeat(this, 'ForwarderHeartbeat', { bus: state.bus, cluster: this.cluster });
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
    this.watchFinalizers();
    for (const rule of rules) {
      this.alarms.add(`${rule.node.id}Undelivered`, {
        metric: ruleMetric('FailedInvocations', rule, state),
        says: `EventBridge could not deliver events of rule ${rule.node.id} and has given up on them.`,
        runbook: 'Undelivered events',
      });
    }
    this.createDashboard({ functions, overdue, heartbeat: this.heartbeat.received });
  }

  /** What no retry cures: somebody has to look at these objects. */
  private watchFinalizers(): void {
    const counted = (metricName: string): Metric =>
      new Metric({
        namespace: METRIC_NAMESPACE,
        metricName,
        dimensionsMap: metricDimensions('finalizer', this.cluster),
        statistic: Stats.SUM,
        period: FIVE_MINUTES,
      });
    this.alarms.add('FinalizationOverdue', {
      metric: counted(TERMINATION_METRICS.overdue),
      says: 'A termination or a clean-up is past its deadline, or has waited for a day without one.',
      runbook: 'Overdue finalization',
    });
    this.alarms.add('PossibleOrphans', {
      metric: counted(TERMINATION_METRICS.possibleOrphan),
      says: 'An object went before what its finalizer stood for was done: something may be left behind.',
      runbook: 'Possible orphans',
    });
  }

  private createDashboard(shown: {
    functions: readonly FunctionWithInbox[];
    overdue: Metric;
    heartbeat: Metric;
  }): void {
    const { functions, overdue, heartbeat } = shown;
    new Dashboard(this, 'Dashboard', {
      widgets: [
        [
          new GraphWidget({ title: 'Oldest overdue timer (ms)', width: 8, left: [overdue] }),
          new GraphWidget({ title: 'Forwarder heartbeats', width: 8, left: [heartbeat] }),
          new GraphWidget({ title: 'Errors', width: 8, left: functions.map(({ function: fn }) => fn.metricErrors()) }),
        ],
        [
          new GraphWidget({
            title: 'Oldest message (s)',
            width: 12,
            left: functions.map(({ inbox }) => inbox.metricApproximateAgeOfOldestMessage()),
          }),
          new GraphWidget({
            title: 'Invocations',
            width: 12,
            left: functions.map(({ function: fn }) => fn.metricInvocations()),
          }),
        ],
      ],
    });
  }
}

const isOnDefaultBus = (rule: Rule): boolean => ROUTES.find(({ name }) => name === rule.node.id)?.bus === 'default';

/** Rules of a custom bus report under both names; under the rule's alone only those of the default bus do. */
function ruleMetric(metricName: string, rule: Rule, state: StateStack): Metric {
  return new Metric({
    namespace: 'AWS/Events',
    metricName,
    dimensionsMap: isOnDefaultBus(rule)
      ? { RuleName: rule.ruleName }
      : { EventBusName: state.bus.eventBusName, RuleName: metricNameOfRule(rule) },
    statistic: Stats.SUM,
    period: FIVE_MINUTES,
  });
}
