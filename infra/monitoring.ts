/**
 * The alarms and one small dashboard. Each alarm says in its description which paragraph of the runbook to read; a test checks that the
 * paragraph exists.
 */
import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  MathExpression,
  Metric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Rule } from 'aws-cdk-lib/aws-events';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { FUNCTION_TIMEOUT_SECONDS } from '../shared/contract/inbox.ts';
import { METRIC_NAMESPACE, METRICS, metricDimensions, TERMINATION_METRICS } from '../shared/contract/metrics.ts';
import { ROUTES } from '../shared/contract/routes.ts';
import type { ClusterConnection } from './cluster-connection.ts';
import type { CurfewConfig } from './config.ts';
import type { FunctionWithInbox } from './constructs/function-with-inbox.ts';
import { BATCH_SIZE } from './constructs/function-with-inbox.ts';
import { definitionOf } from './function-definitions.ts';
import { ForwarderHeartbeat } from './forwarder-heartbeat.ts';
import type { StateStack } from './state-stack.ts';

/** I5: what is due happens within 5 minutes. */
const OVERDUE_MS = Duration.minutes(5).toMilliseconds();
/** Messages may be delayed by 15 minutes on purpose and count from when they were sent; 5 minutes (I5) come on top. */
const BACKLOG_SECONDS = Duration.minutes(20).toSeconds();
const SHARE_OF_TIMEOUT = 0.8;
/** Empty minutes before silence rings: metrics may come two minutes late, and a standby forwarder takes over within one. */
const SILENT_MINUTES = 4;
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

interface AlarmDefinition {
  readonly metric: Metric | MathExpression;
  /** What is wrong, in one sentence. */
  readonly says: string;
  /** Heading of `docs/runbook.md`. */
  readonly runbook: string;
  /** Rings at or above this value; default 1. */
  readonly threshold?: number;
  readonly evaluationPeriods?: number;
  /** Of the periods; default all. */
  readonly datapointsToAlarm?: number;
}

export class Monitoring extends Construct {
  readonly heartbeat: ForwarderHeartbeat;
  private readonly config: CurfewConfig;
  private readonly cluster: string;
  private readonly topic: SnsAction | undefined;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { config, state, functions, rules } = props;
    this.config = config;
    this.cluster = props.cluster.name;
    this.topic =
      config.alarmTopicArn === undefined
        ? undefined
        : new SnsAction(Topic.fromTopicArn(this, 'Topic', config.alarmTopicArn));
    this.heartbeat = new ForwarderHeartbeat(this, 'ForwarderHeartbeat', { bus: state.bus, cluster: this.cluster });
    const overdue = new Metric({
      namespace: METRIC_NAMESPACE,
      metricName: METRICS.oldestOverdueTimer,
      dimensionsMap: metricDimensions('timer', this.cluster),
      statistic: Stats.MAXIMUM,
      period: ONE_MINUTE,
    });
    this.alarm('OverdueTimers', {
      metric: overdue,
      threshold: OVERDUE_MS,
      evaluationPeriods: 2,
      says: 'Timers are overdue by more than 5 minutes.',
      runbook: 'Overdue timers',
    });
    this.silenceAlarm('SweepSilent', {
      metric: overdue,
      says: `The timer function has not swept for ${SILENT_MINUTES} minutes: timers fire late or not at all.`,
      runbook: 'Sweep silent',
    });
    this.silenceAlarm('ForwarderSilent', {
      metric: this.heartbeat.received,
      says: `The forwarder has not been heard for ${SILENT_MINUTES} minutes: changes of the cluster do not arrive.`,
      runbook: 'Forwarder silent',
    });
    for (const fn of functions) this.watchFunction(fn, state);
    this.watchFinalizers();
    for (const rule of rules) {
      this.alarm(`${rule.node.id}Undelivered`, {
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
    this.alarm('FinalizationOverdue', {
      metric: counted(TERMINATION_METRICS.overdue),
      says: 'A termination or a clean-up is past its deadline, or has waited for a day without one.',
      runbook: 'Overdue finalization',
    });
    this.alarm('PossibleOrphans', {
      metric: counted(TERMINATION_METRICS.possibleOrphan),
      says: 'An object went before what its finalizer stood for was done: something may be left behind.',
      runbook: 'Possible orphans',
    });
  }

  private watchFunction({ node, functionName, function: fn, inbox }: FunctionWithInbox, state: StateStack): void {
    const deadLetters = state.deadLetterQueues.get(functionName);
    if (deadLetters === undefined) throw new Error(`${functionName} has no dead-letter queue`);
    this.alarm(`${node.id}DeadLetters`, {
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, period: ONE_MINUTE }),
      says: `Messages for ${functionName} were given up.`,
      runbook: 'Dead letters',
    });
    this.alarm(`${node.id}Backlog`, {
      metric: inbox.metricApproximateAgeOfOldestMessage({ statistic: Stats.MAXIMUM, period: ONE_MINUTE }),
      threshold: BACKLOG_SECONDS,
      evaluationPeriods: 3,
      says: `The oldest message for ${functionName} waits for more than ${BACKLOG_SECONDS / 60} minutes.`,
      runbook: 'Backlog',
    });
    // SQS leaves messages that were received three times or more out of the age; those that wait for another try are in flight.
    const most = definitionOf(functionName).maxConcurrency * BATCH_SIZE;
    this.alarm(`${node.id}InFlight`, {
      metric: new MathExpression({
        expression: 'visible + inFlight',
        usingMetrics: {
          visible: inbox.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MINIMUM, period: FIVE_MINUTES }),
          inFlight: inbox.metricApproximateNumberOfMessagesNotVisible({
            statistic: Stats.MINIMUM,
            period: FIVE_MINUTES,
          }),
        },
        period: FIVE_MINUTES,
      }),
      threshold: most + 1,
      evaluationPeriods: 4,
      says: `More messages for ${functionName} wait or are tried again than it works on at once (${most}), for 20 minutes.`,
      runbook: 'Backlog',
    });
    this.alarm(`${node.id}Access`, {
      metric: new Metric({
        namespace: METRIC_NAMESPACE,
        metricName: METRICS.accessFailures,
        dimensionsMap: metricDimensions(functionName, this.cluster),
        statistic: Stats.SUM,
        period: ONE_MINUTE,
      }),
      evaluationPeriods: 5,
      datapointsToAlarm: 3,
      says: `Function ${functionName} cannot reach, or is refused by, the API server or an AWS service; its messages are tried again.`,
      runbook: 'Access failures',
    });
    this.alarm(`${node.id}Errors`, {
      metric: fn.metricErrors({ period: FIVE_MINUTES }),
      says: `Function ${functionName} crashed or ran out of time.`,
      runbook: 'Function errors',
    });
    this.alarm(`${node.id}Bugs`, {
      metric: new Metric({
        namespace: METRIC_NAMESPACE,
        metricName: METRICS.messageFailed,
        dimensionsMap: metricDimensions(functionName, this.cluster),
        statistic: Stats.SUM,
        period: FIVE_MINUTES,
      }),
      says: `Function ${functionName} met a bug with a message.`,
      runbook: 'Function errors',
    });
    this.alarm(`${node.id}Throttles`, {
      metric: fn.metricThrottles({ period: FIVE_MINUTES }),
      says: `Lambda refuses to run ${functionName}.`,
      runbook: 'Throttled functions',
    });
    this.alarm(`${node.id}Slow`, {
      metric: fn.metricDuration({ statistic: Stats.p(99), period: FIVE_MINUTES }),
      threshold: FUNCTION_TIMEOUT_SECONDS * 1000 * SHARE_OF_TIMEOUT,
      evaluationPeriods: 3,
      says: `Function ${functionName} needs more than ${SHARE_OF_TIMEOUT * 100} % of its ${FUNCTION_TIMEOUT_SECONDS} s.`,
      runbook: 'Slow functions',
    });
  }

  private alarm(id: string, { metric, says, runbook, ...options }: AlarmDefinition): void {
    const { threshold = 1, evaluationPeriods = 1, datapointsToAlarm = evaluationPeriods } = options;
    const alarm = new Alarm(this, id, {
      metric,
      threshold,
      evaluationPeriods,
      datapointsToAlarm,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: `${says} ${this.runbookAt(runbook)}`,
    });
    this.notify(alarm);
  }

  /**
   * Rings when a metric that comes every minute was missing for four, so within five of its last value. CloudWatch alone would look back over more
   * periods than it evaluates before it calls data missing (10 to 15 minutes): `FILL` makes each empty minute a value of its own.
   */
  private silenceAlarm(
    id: string,
    { metric, says, runbook }: Pick<AlarmDefinition, 'says' | 'runbook'> & { metric: Metric },
  ): void {
    const silent = new MathExpression({
      expression: 'FILL(reported, 0)',
      usingMetrics: { reported: metric.with({ statistic: Stats.SAMPLE_COUNT, period: ONE_MINUTE }) },
      period: ONE_MINUTE,
    });
    const alarm = new Alarm(this, id, {
      metric: silent,
      threshold: 1,
      evaluationPeriods: SILENT_MINUTES,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.BREACHING,
      alarmDescription: `${says} ${this.runbookAt(runbook)}`,
    });
    this.notify(alarm);
  }

  private runbookAt(heading: string): string {
    const { runbookUrl } = this.config;
    if (runbookUrl === undefined) return `Runbook: "${heading}" in docs/runbook.md of Curfew.`;
    return `Runbook: ${runbookUrl}#${heading.toLowerCase().replaceAll(' ', '-')}`;
  }

  private notify(alarm: Alarm): void {
    if (this.topic !== undefined) {
      alarm.addAlarmAction(this.topic);
      alarm.addOkAction(this.topic);
    }
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
    dimensionsMap: {
      ...(!isOnDefaultBus(rule) && { EventBusName: state.bus.eventBusName }),
      RuleName: rule.ruleName,
    },
    statistic: Stats.SUM,
    period: FIVE_MINUTES,
  });
}
