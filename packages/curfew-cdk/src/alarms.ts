/** How alarms ring: who is notified, and which paragraph of the runbook their description names. */
import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  AlarmRule,
  ComparisonOperator,
  CompositeAlarm,
  MathExpression,
  Stats,
  TreatMissingData,
  type AlarmBase,
  type Metric,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { compositeAlarmName } from '../../../shared/contract/operation-outputs.ts';
import type { CurfewProps } from './props.ts';

/** Empty minutes before silence rings: metrics may come two minutes late, and a standby forwarder takes over within one. */
export const SILENT_MINUTES = 4;
const ONE_MINUTE = Duration.minutes(1);

/**
 * Whom an alarm tells. `page` and `ticket`: that topic. `impaired`: nobody by itself, since one cause rings many of these; the composite alarm
 * over them pages once.
 */
export type Urgency = 'page' | 'ticket' | 'impaired';

export interface AlarmDefinition {
  readonly metric: Metric | MathExpression;
  /** What is wrong, in one sentence. */
  readonly says: string;
  /** The heading of its paragraph in `docs/runbook.md`. */
  readonly runbook: string;
  readonly urgency: Urgency;
  /** Whether it says earlier or more exactly what another alarm also says: left out of `alarms: Essential`. */
  readonly isRefinement?: boolean;
  /** The value from which the alarm rings; default 1. */
  readonly threshold?: number;
  readonly evaluationPeriods?: number;
  /** Number of periods that must be at the threshold; default all. */
  readonly datapointsToAlarm?: number;
}

/** The alarms of one scope. */
export class Alarms {
  readonly #scope: Construct;
  readonly #deployment: string;
  readonly #runbookUrl: string | undefined;
  readonly #isEssential: boolean;
  readonly #topics: Readonly<Record<'page' | 'ticket', SnsAction | undefined>>;
  readonly #impairing: Alarm[] = [];

  constructor(
    scope: Construct,
    { name, alarmTopics = {}, alarms, runbookUrl }: Pick<CurfewProps, 'name' | 'alarmTopics' | 'alarms' | 'runbookUrl'>,
  ) {
    const { page, ticket } = alarmTopics;
    const actionOf = (topic: ITopic | undefined): SnsAction | undefined => topic && new SnsAction(topic);
    this.#scope = scope;
    this.#deployment = name;
    this.#runbookUrl = runbookUrl;
    this.#isEssential = alarms === 'Essential';
    this.#topics = { page: actionOf(page), ticket: actionOf(ticket) };
  }

  /** Rings when the metric is there and at its threshold or above. */
  add(id: string, { metric, says, runbook, urgency, isRefinement = false, ...options }: AlarmDefinition): void {
    if (isRefinement && this.#isEssential) return;
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
    this.#tell(alarm, urgency);
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
    this.#tell(alarm, 'impaired');
  }

  /** Rings while one of the alarms that impair Curfew does. To be called last. */
  addComposite({ says, runbook }: Pick<AlarmDefinition, 'says' | 'runbook'>): void {
    const alarm = new CompositeAlarm(this.#scope, 'Impaired', {
      // The CDK's own would be the same in each deployment of an account.
      compositeAlarmName: compositeAlarmName(this.#deployment),
      alarmRule: AlarmRule.anyOf(...this.#impairing),
      alarmDescription: `${says} ${this.#runbookAt(runbook)}`,
    });
    this.#tell(alarm, 'page');
  }

  #runbookAt(heading: string): string {
    if (this.#runbookUrl === undefined) return `Runbook: "${heading}" in docs/runbook.md of Curfew.`;
    return `Runbook: ${this.#runbookUrl}#${heading.toLowerCase().replaceAll(' ', '-')}`;
  }

  #tell(alarm: AlarmBase, urgency: Urgency): void {
    if (urgency === 'impaired') {
      if (alarm instanceof Alarm) this.#impairing.push(alarm);
      return;
    }
    const topic = this.#topics[urgency];
    if (topic === undefined) return;
    alarm.addAlarmAction(topic);
    alarm.addOkAction(topic);
  }
}
