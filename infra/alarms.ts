/** How alarms ring: who is notified, and which paragraph of the runbook their description names. */
import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  MathExpression,
  Stats,
  TreatMissingData,
  type Metric,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { CurfewConfig } from './config.ts';

/** Empty minutes before silence rings: metrics may come two minutes late, and a standby forwarder takes over within one. */
export const SILENT_MINUTES = 4;
const ONE_MINUTE = Duration.minutes(1);

export interface AlarmDefinition {
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

/** The alarms of one scope. */
export class Alarms {
  readonly #scope: Construct;
  readonly #runbookUrl: string | undefined;
  readonly #topic: SnsAction | undefined;

  constructor(scope: Construct, { alarmTopicArn, runbookUrl }: Pick<CurfewConfig, 'alarmTopicArn' | 'runbookUrl'>) {
    this.#scope = scope;
    this.#runbookUrl = runbookUrl;
    this.#topic =
      alarmTopicArn === undefined ? undefined : new SnsAction(Topic.fromTopicArn(scope, 'Topic', alarmTopicArn));
  }

  /** Rings when the metric is there and at its threshold or above. */
  add(id: string, { metric, says, runbook, ...options }: AlarmDefinition): void {
    const { threshold = 1, evaluationPeriods = 1, datapointsToAlarm = evaluationPeriods } = options;
    const alarm = new Alarm(this.#scope, id, {
      metric,
      threshold,
      evaluationPeriods,
      datapointsToAlarm,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: `${says} ${this.#runbookAt(runbook)}`,
    });
    this.#notify(alarm);
  }

  /**
   * Rings when a metric that comes every minute was missing for four, so within five of its last value. CloudWatch alone would look back over more
   * periods than it evaluates before it calls data missing (10 to 15 minutes): `FILL` makes each empty minute a value of its own.
   */
  addSilence(
    id: string,
    { metric, says, runbook }: Pick<AlarmDefinition, 'says' | 'runbook'> & { readonly metric: Metric },
  ): void {
    const silent = new MathExpression({
      expression: 'FILL(reported, 0)',
      usingMetrics: { reported: metric.with({ statistic: Stats.SAMPLE_COUNT, period: ONE_MINUTE }) },
      period: ONE_MINUTE,
    });
    const alarm = new Alarm(this.#scope, id, {
      metric: silent,
      threshold: 1,
      evaluationPeriods: SILENT_MINUTES,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.BREACHING,
      alarmDescription: `${says} ${this.#runbookAt(runbook)}`,
    });
    this.#notify(alarm);
  }

  #runbookAt(heading: string): string {
    if (this.#runbookUrl === undefined) return `Runbook: "${heading}" in docs/runbook.md of Curfew.`;
    return `Runbook: ${this.#runbookUrl}#${heading.toLowerCase().replaceAll(' ', '-')}`;
  }

  #notify(alarm: Alarm): void {
    if (this.#topic === undefined) return;
    alarm.addAlarmAction(this.#topic);
    alarm.addOkAction(this.#topic);
  }
}
