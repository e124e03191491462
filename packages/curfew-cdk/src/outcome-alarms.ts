/** What rings about what Curfew does, where the other alarms ring about whether it can. */
import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import {
  DRAIN_METRICS,
  METRIC_NAMESPACE,
  metricDimensions,
  TERMINATION_METRICS,
} from '../../../shared/contract/metrics.ts';
import type { Alarms } from './alarms.ts';
import type { CountOutcome } from './outcome-metrics.ts';

const FIVE_MINUTES = Duration.minutes(5);
const ONE_HOUR = Duration.hours(1);
/** A pool whose repairs are blocked is looked at every 5 minutes: a period has one look at least, also where one was late. */
const BLOCKED_PERIOD = Duration.minutes(10);

export interface OutcomeWatching {
  /** The name of the cluster, a dimension of every metric of the functions. */
  readonly cluster: string;
  readonly count: CountOutcome;
  /** Number of nodes from which somebody is paged, if repairs or deadlines end them within an hour. */
  readonly terminationsPerHour: number;
}

export function watchOutcomes(alarms: Alarms, { cluster, count, terminationsPerHour }: OutcomeWatching): void {
  // A repair that ends a node also forces its termination where the NodeClaim has a finalizer of ours: the sum would count it twice.
  const terminations = new MathExpression({
    expression: 'MAX([FILL(repairs, 0), FILL(forced, 0)])',
    usingMetrics: {
      repairs: count('TerminatingRepairs', ONE_HOUR),
      forced: new Metric({
        namespace: METRIC_NAMESPACE,
        metricName: TERMINATION_METRICS.forced,
        dimensionsMap: metricDimensions('finalizer', cluster),
        statistic: Stats.SUM,
        period: ONE_HOUR,
      }),
    },
    period: ONE_HOUR,
  });
  alarms.add('TooManyTerminations', {
    metric: terminations,
    threshold: terminationsPerHour,
    says: `Curfew has ended ${terminationsPerHour} nodes by repairs or by force within an hour.`,
    runbook: 'Too many terminations',
    urgency: 'page',
  });
  alarms.add('DrainsFailed', {
    metric: new Metric({
      namespace: METRIC_NAMESPACE,
      metricName: DRAIN_METRICS.completed,
      dimensionsMap: { ...metricDimensions('drain', cluster), status: 'Failed' },
      statistic: Stats.SUM,
      period: FIVE_MINUTES,
    }),
    says: 'A drain has failed.',
    runbook: 'Drains failed',
    urgency: 'ticket',
  });
  alarms.add('RepairsHeld', {
    metric: count('RepairsHeld', BLOCKED_PERIOD, Stats.MAXIMUM),
    evaluationPeriods: ONE_HOUR.toMinutes() / BLOCKED_PERIOD.toMinutes(),
    says: 'A guard has held the repair of nodes for an hour.',
    runbook: 'Repairs held',
    urgency: 'ticket',
  });
  alarms.add('RepairsStuck', {
    metric: count('RepairsStuck', FIVE_MINUTES),
    says: 'No action is left for a node that is still ill, or its NodeClaim does not go.',
    runbook: 'Repairs stuck',
    urgency: 'ticket',
  });
  alarms.add('NodesNotReplaced', {
    metric: count('NodesNotReplaced', FIVE_MINUTES),
    says: 'Nodes that repairs terminated have no node in their place after 15 minutes.',
    runbook: 'Nodes not replaced',
    urgency: 'ticket',
  });
  alarms.add('ConfigurationRefused', {
    metric: count('ConfigurationRefused', FIVE_MINUTES),
    says: 'A configuration, a policy or a rule is not valid, or loses against another one.',
    runbook: 'Configuration refused',
    urgency: 'ticket',
  });
  alarms.add('ChangesRefused', {
    metric: count('ChangesRefused', FIVE_MINUTES),
    says: 'The API server or EC2 refuses a change that Curfew needs: its work on that object waits.',
    runbook: 'Changes refused',
    urgency: 'ticket',
  });
  alarms.add('DrainsStuck', {
    metric: count('DrainsStuck', FIVE_MINUTES),
    says: 'Nothing of a drain has moved for four hours.',
    runbook: 'Drains stuck',
    urgency: 'ticket',
  });
  alarms.add('HooksTimedOut', {
    metric: count('HooksTimedOut', FIVE_MINUTES),
    says: 'A hook of a termination gave no answer in time.',
    runbook: 'Hooks timed out',
    urgency: 'ticket',
  });
  watchFinalizers(alarms, cluster);
}

/** What no retry cures: somebody has to look at these objects. */
function watchFinalizers(alarms: Alarms, cluster: string): void {
  const counted = (metricName: string): Metric =>
    new Metric({
      namespace: METRIC_NAMESPACE,
      metricName,
      dimensionsMap: metricDimensions('finalizer', cluster),
      statistic: Stats.SUM,
      period: FIVE_MINUTES,
    });
  alarms.add('FinalizationOverdue', {
    metric: counted(TERMINATION_METRICS.overdue),
    says: 'A termination or a clean-up is past its deadline, or has waited for a day without one.',
    runbook: 'Overdue finalization',
    urgency: 'ticket',
  });
  alarms.add('PossibleOrphans', {
    metric: counted(TERMINATION_METRICS.possibleOrphan),
    says: 'An object went before what its finalizer stood for was done: something may be left behind.',
    runbook: 'Possible orphans',
    urgency: 'ticket',
  });
  alarms.add('FinalizersWithoutRule', {
    metric: counted(TERMINATION_METRICS.finalizerWithoutRule),
    says: 'Nothing cleans up under the finalizer of an object, because its FinalizerRule is gone or cannot be read.',
    runbook: 'Finalizers without rule',
    urgency: 'ticket',
  });
}
