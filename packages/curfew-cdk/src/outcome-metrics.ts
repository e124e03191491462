/**
 * What Curfew did, in numbers without dimensions, as an alarm needs them: functions count by NodePool, reason or action, and an alarm cannot sum what
 * it does not know beforehand. Metric filters count the same lines once more. Nothing is written, or paid for, while none matches.
 */
import type { Duration } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { METRIC_NAMESPACE, REPAIR_METRICS, TERMINATION_METRICS } from '../../../shared/contract/metrics.ts';
import { FUNCTION_NAMES, type FunctionName } from '../../../shared/contract/names.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { toConstructId } from './construct-id.ts';
import type { FunctionWithInbox } from './function-with-inbox.ts';

interface OutcomeMetric {
  /** The functions in whose log groups it is counted. */
  readonly of: readonly FunctionName[];
  /** The pattern of its JSON lines, in the syntax of CloudWatch Logs. */
  readonly pattern: string;
  /** What a line counts; default 1. */
  readonly value?: string;
}

const { nodeChangeRefused, changeRefused, instanceTerminationFailed } = EVENT_REASONS;
/** The reasons of refused changes. The last one is that of an action of repair, which has no Event of this name. */
export const REFUSALS = [nodeChangeRefused, changeRefused, instanceTerminationFailed, 'ActionRefused'] as const;

/** Why a node is not repaired, where no guard blocks it: somebody has exempted it, no action can be taken, or another metric counts it. */
const NO_GUARD = ['DoNotRepair', 'NoNodeClaim', 'ActionRefused', 'ActionsExhausted'] as const;

/** The outcomes, by the name of their metric. */
export const OUTCOMES = {
  /** Repairs that end a node. */
  TerminatingRepairs: { of: ['repair'], pattern: `{ $.${REPAIR_METRICS.started} >= 1 && $.action = "Terminate" }` },
  /** Nodes that a guard blocks. */
  RepairsHeld: {
    of: ['repair'],
    pattern: `{ $.${REPAIR_METRICS.held} >= 1 && ${NO_GUARD.map(reason => `$.reason != "${reason}"`).join(' && ')} }`,
    value: `$.${REPAIR_METRICS.held}`,
  },
  /** Nodes for which no action is left, or whose NodeClaim does not go. */
  RepairsStuck: {
    of: ['repair'],
    pattern: '{ $.audit IS TRUE && ($.decision = "exhausted" || $.decision = "stuck") }',
  },
  /** Configurations, policies and rules that are not valid, or that lose against another one. */
  ConfigurationRefused: {
    of: FUNCTION_NAMES.filter(name => name !== 'timer'),
    pattern: '{ $.audit IS TRUE && ($.decision = "refuse" || $.reason = "InvalidConfiguration") }',
  },
  /** Changes that the API server or EC2 refuses, once for each object and cause: they are tried again as a record's timer says, and no message fails. */
  ChangesRefused: {
    of: FUNCTION_NAMES.filter(name => name !== 'timer'),
    pattern: `{ $.audit IS TRUE && (${REFUSALS.map(reason => `$.reason = "${reason}"`).join(' || ')}) }`,
  },
  /** Drains of which nothing has moved for hours. */
  DrainsStuck: { of: ['drain'], pattern: `{ $.audit IS TRUE && $.reason = "${EVENT_REASONS.drainStuck}" }` },
  /** NodePools that have not replaced the nodes that repairs terminated. */
  NodesNotReplaced: {
    of: ['repair'],
    pattern: `{ $.audit IS TRUE && $.reason = "${EVENT_REASONS.nodesNotReplaced}" }`,
  },
  HooksTimedOut: { of: ['finalizer'], pattern: `{ $.${TERMINATION_METRICS.hookTimedOut} >= 1 }` },
} as const satisfies Readonly<Record<string, OutcomeMetric>>;
export type OutcomeName = keyof typeof OUTCOMES;

/** The count of an outcome in a period. */
export type CountOutcome = (name: OutcomeName, period: Duration, statistic?: string) => Metric;

/**
 * Filters take dimensions out of the line alone, and no line says which deployment it is of: the namespace does.
 *
 * @param deployment its name, one in an account and Region
 */
export function countOutcomes(
  scope: Construct,
  functions: readonly FunctionWithInbox[],
  deployment: string,
): CountOutcome {
  const metricNamespace = `${METRIC_NAMESPACE}/${deployment}`;
  for (const [metricName, { of, pattern, value = '1' }] of Object.entries<OutcomeMetric>(OUTCOMES)) {
    for (const { functionName, logGroup } of functions.filter(fn => of.includes(fn.functionName))) {
      new MetricFilter(scope, `${metricName}Of${toConstructId(functionName)}`, {
        logGroup,
        metricNamespace,
        metricName,
        filterPattern: FilterPattern.literal(pattern),
        metricValue: value,
      });
    }
  }
  return (metricName, period, statistic = Stats.SUM) =>
    new Metric({ namespace: metricNamespace, metricName, statistic, period });
}
