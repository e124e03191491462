/** What rings about one function: its inbox, its dead letters, its runs. */
import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FUNCTION_TIMEOUT_SECONDS } from '../../../shared/contract/inbox.ts';
import { METRIC_NAMESPACE, METRICS, metricDimensions } from '../../../shared/contract/metrics.ts';
import type { Alarms } from './alarms.ts';
import type { FunctionWithInbox } from './function-with-inbox.ts';
import { BATCH_SIZE } from './function-with-inbox.ts';
import { FUNCTION_DEFINITIONS } from './function-definitions.ts';
import type { CurfewState } from './curfew-state.ts';

/** The age of a message that rings. It may be delayed by 15 minutes on purpose, and counts from when it was sent; 5 minutes (I5) come on top. */
const BACKLOG_SECONDS = Duration.minutes(20).toSeconds();
const SHARE_OF_TIMEOUT = 0.8;
const ONE_MINUTE = Duration.minutes(1);
const FIVE_MINUTES = Duration.minutes(5);

interface Watching {
  /** The name of the cluster, a dimension of every custom metric. */
  readonly cluster: string;
  readonly state: CurfewState;
}

export function watchFunction(alarms: Alarms, fn: FunctionWithInbox, watching: Watching): void {
  watchMessages(alarms, fn, watching);
  watchRuns(alarms, fn, watching);
}

/** The alarms on its messages: given up, waiting, tried again and again. */
function watchMessages(alarms: Alarms, { node, functionName, inbox }: FunctionWithInbox, { state }: Watching): void {
  const deadLetters = state.deadLetterQueues.get(functionName);
  if (deadLetters === undefined) throw new Error(`${functionName} has no dead-letter queue`);
  alarms.add(`${node.id}DeadLetters`, {
    metric: deadLetters.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, period: ONE_MINUTE }),
    says: `Messages for ${functionName} were given up.`,
    runbook: 'Dead letters',
    urgency: 'ticket',
  });
  alarms.add(`${node.id}Backlog`, {
    metric: inbox.metricApproximateAgeOfOldestMessage({ statistic: Stats.MAXIMUM, period: ONE_MINUTE }),
    threshold: BACKLOG_SECONDS,
    evaluationPeriods: 3,
    says: `The oldest message for ${functionName} waits for more than ${BACKLOG_SECONDS / 60} minutes.`,
    runbook: 'Backlog',
    urgency: 'impaired',
  });
  // SQS leaves messages that were received three times or more out of the age; those that wait for another try are in flight.
  const most = FUNCTION_DEFINITIONS[functionName].maxConcurrency * BATCH_SIZE;
  alarms.add(`${node.id}InFlight`, {
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
    urgency: 'impaired',
    isRefinement: true,
  });
}

/** The alarms on its runs: refused, crashed, throttled, slow. */
function watchRuns(
  alarms: Alarms,
  { node, functionName, function: fn }: FunctionWithInbox,
  { cluster }: Watching,
): void {
  alarms.add(`${node.id}Access`, {
    metric: new Metric({
      namespace: METRIC_NAMESPACE,
      metricName: METRICS.accessFailures,
      dimensionsMap: metricDimensions(functionName, cluster),
      statistic: Stats.SUM,
      period: ONE_MINUTE,
    }),
    evaluationPeriods: 5,
    datapointsToAlarm: 3,
    says: `Function ${functionName} cannot reach, or is refused by, the API server or an AWS service; its messages are tried again.`,
    runbook: 'Access failures',
    urgency: 'impaired',
  });
  alarms.add(`${node.id}Errors`, {
    metric: fn.metricErrors({ period: FIVE_MINUTES }),
    says: `Function ${functionName} crashed or ran out of time.`,
    runbook: 'Function errors',
    urgency: 'ticket',
  });
  alarms.add(`${node.id}Bugs`, {
    metric: new Metric({
      namespace: METRIC_NAMESPACE,
      metricName: METRICS.messageFailed,
      dimensionsMap: metricDimensions(functionName, cluster),
      statistic: Stats.SUM,
      period: FIVE_MINUTES,
    }),
    says: `Function ${functionName} met a bug with a message.`,
    runbook: 'Function errors',
    urgency: 'ticket',
  });
  alarms.add(`${node.id}Throttles`, {
    metric: fn.metricThrottles({ period: FIVE_MINUTES }),
    says: `Lambda refuses to run ${functionName}.`,
    runbook: 'Throttled functions',
    urgency: 'impaired',
    isRefinement: true,
  });
  alarms.add(`${node.id}Slow`, {
    metric: fn.metricDuration({ statistic: Stats.p(99), period: FIVE_MINUTES }),
    threshold: FUNCTION_TIMEOUT_SECONDS * 1000 * SHARE_OF_TIMEOUT,
    evaluationPeriods: 3,
    says: `Function ${functionName} needs more than ${SHARE_OF_TIMEOUT * 100} % of its ${FUNCTION_TIMEOUT_SECONDS} s.`,
    runbook: 'Slow functions',
    urgency: 'ticket',
    isRefinement: true,
  });
}
