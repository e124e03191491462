/** One dashboard: what Curfew decides, holds, drains and protects, and the plumbing below it. */
import { Duration } from 'aws-cdk-lib';
import { Dashboard, GraphWidget, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import {
  DRAIN_METRICS,
  GRACE_PERIOD_METRICS,
  METRIC_NAMESPACE,
  metricDimensions,
  REPAIR_METRICS,
  TERMINATION_METRICS,
} from '../../../shared/contract/metrics.ts';
import type { FunctionName } from '../../../shared/contract/names.ts';
import type { FunctionWithInbox } from './function-with-inbox.ts';
import type { CountOutcome } from './outcome-metrics.ts';

const FIVE_MINUTES = Duration.minutes(5);

export interface Shown {
  readonly cluster: string;
  readonly count: CountOutcome;
  readonly functions: readonly FunctionWithInbox[];
  readonly overdue: Metric;
  readonly heartbeat: Metric;
}

export function createDashboard(scope: Construct, shown: Shown): void {
  new Dashboard(scope, 'Dashboard', { widgets: [...outcomes(shown), ...plumbing(shown)] });
}

function outcomes({ cluster, count }: Shown): GraphWidget[][] {
  const ofFunction = (functionName: FunctionName, metricName: string, statistic: string = Stats.SUM): Metric =>
    new Metric({
      namespace: METRIC_NAMESPACE,
      metricName,
      dimensionsMap: metricDimensions(functionName, cluster),
      statistic,
      period: FIVE_MINUTES,
    });
  /** An expression with a line for each value of the other dimensions. */
  const each = (metricName: string, by: readonly string[], statistic: string = Stats.SUM): MathExpression => {
    const dimensions = ['service', 'cluster', ...by].toSorted().join(',');
    return new MathExpression({
      expression: `SEARCH('{${METRIC_NAMESPACE},${dimensions}} MetricName="${metricName}" cluster="${cluster}"', '${statistic}', 300)`,
      label: '',
      period: FIVE_MINUTES,
    });
  };
  return [
    [
      graph('Decisions of repair', each(REPAIR_METRICS.decision, ['decision', 'nodePool'])),
      graph('Repairs begun', each(REPAIR_METRICS.started, ['action', 'condition', 'nodePool'])),
      graph('Nodes whose repair is held', each(REPAIR_METRICS.held, ['nodePool', 'reason'], 'Maximum')),
    ],
    [
      graph('Drains', ofFunction('drain', 'DrainStarted'), each(DRAIN_METRICS.completed, ['status'])),
      graph(
        'Terminations',
        ...['TerminationStarted', TERMINATION_METRICS.forced, 'TerminationFinished', 'InstanceTermination'].map(name =>
          ofFunction('finalizer', name),
        ),
      ),
      graph(
        'Protections',
        ofFunction('grace-period', GRACE_PERIOD_METRICS.protectedPods, Stats.MAXIMUM),
        ofFunction('grace-period', GRACE_PERIOD_METRICS.elapsed),
        ofFunction('grace-period', GRACE_PERIOD_METRICS.capped),
        ofFunction('grace-period', GRACE_PERIOD_METRICS.notHeld),
      ),
    ],
    [
      graph(
        'Somebody has to look',
        count('ConfigurationRefused', FIVE_MINUTES),
        count('ChangesRefused', FIVE_MINUTES),
        count('DrainsStuck', FIVE_MINUTES),
        count('NodesNotReplaced', FIVE_MINUTES),
        count('HooksTimedOut', FIVE_MINUTES),
        count('RepairsStuck', FIVE_MINUTES),
        ofFunction('finalizer', TERMINATION_METRICS.overdue),
        ofFunction('finalizer', TERMINATION_METRICS.possibleOrphan),
        ofFunction('finalizer', TERMINATION_METRICS.finalizerWithoutRule),
      ),
    ],
  ];
}

function plumbing({ functions, overdue, heartbeat }: Shown): GraphWidget[][] {
  return [
    [
      graph('Oldest overdue timer (ms)', overdue),
      graph('Forwarder heartbeats', heartbeat),
      graph('Errors', ...functions.map(({ function: fn }) => fn.metricErrors())),
    ],
    [
      graph('Oldest message (s)', ...functions.map(({ inbox }) => inbox.metricApproximateAgeOfOldestMessage())),
      graph('Invocations', ...functions.map(({ function: fn }) => fn.metricInvocations())),
    ],
  ];
}

const graph = (title: string, ...left: (Metric | MathExpression)[]): GraphWidget =>
  new GraphWidget({ title, width: 8, left });
