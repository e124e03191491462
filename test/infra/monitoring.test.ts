import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FUNCTION_NAMES } from '../../shared/contract/names.ts';
import { ROUTES } from '../../shared/contract/routes.ts';
import { TABLE } from '../../shared/contract/table.ts';
import { synthesize } from './synthesized.ts';

const PAGE = 'arn:aws:sns:eu-west-1:123456789012:page';
const TICKET = 'arn:aws:sns:eu-west-1:123456789012:ticket';
const silent = synthesize();
const loud = synthesize({
  alarmTopics: { page: PAGE, ticket: TICKET },
  runbookUrl: 'https://wiki.example.com/curfew',
});

const alarmsOf = ({ functionsTemplate }: typeof silent) =>
  Object.values(functionsTemplate.findResources('AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties);
const compositesOf = ({ functionsTemplate }: typeof silent) =>
  Object.values(functionsTemplate.findResources('AWS::CloudWatch::CompositeAlarm')).map(({ Properties }) => Properties);

interface MetricQuery {
  readonly Expression?: string;
  readonly MetricStat?: {
    readonly Metric: { readonly MetricName: string; readonly Dimensions?: readonly { readonly Name: string }[] };
    readonly Period: number;
  };
}
/** Names of the metrics in an alarm on an expression. */
const watched = (queries: readonly MetricQuery[] | undefined): string | undefined =>
  queries
    ?.flatMap(({ MetricStat }) => (MetricStat === undefined ? [] : [MetricStat.Metric.MetricName]))
    .toSorted()
    .join();

const runbook = readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8');
/** Its second-level headings. */
const paragraphs = [...runbook.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading ?? '');
/** As GitHub makes an anchor of a heading. */
const anchorOf = (heading: string): string => heading.toLowerCase().replaceAll(' ', '-');
const headingOf = ({ AlarmDescription }: { AlarmDescription: string }): string =>
  /Runbook: "(.+)" in docs\/runbook\.md of Curfew\.$/.exec(AlarmDescription)?.[1] ?? AlarmDescription;

const costs = readFileSync(join(import.meta.dirname, '../../docs/deploying.md'), 'utf8');

describe('what it costs when nothing happens', () => {
  const { functionsTemplate } = silent;
  const count = (type: string, properties = {}): number =>
    Object.keys(functionsTemplate.findResources(type, { Properties: properties })).length;
  const MINUTES = 30 * 24 * 60;

  it('is counted in docs/deploying.md as the template has it: polling', () => {
    const inboxes = count('AWS::Lambda::EventSourceMapping');
    const requests = inboxes * 5 * 3 * MINUTES;
    expect(costs).toContain(
      `| idle polling of ${inboxes} inboxes: Lambda holds 5 long polls of 20 s at each, ${requests / 1e6} million requests of SQS at 0.40 a million | ${((requests * 0.4) / 1e6).toFixed(2)} |`,
    );
  });

  it('and metrics: the sweep, and a cold start of each function', () => {
    const metrics = 1 + count('AWS::Lambda::Function');
    expect(costs).toContain(`| ${metrics} metrics that functions write, at 0.30 each: `);
    expect(costs).toContain(` | up to ${(metrics * 0.3).toFixed(2)} |`);
  });

  it('and what comes every minute', () => {
    const schedules = count('AWS::Scheduler::Schedule', { ScheduleExpression: 'rate(1 minute)' });
    const ticks = schedules * MINUTES;
    const gigabytes = 0.5;
    expect(count('AWS::Lambda::Function', { MemorySize: gigabytes * 1024 })).toBe(count('AWS::Lambda::Function'));
    const shards = TABLE.dueShards;
    expect(costs).toContain(
      `| ${schedules} ticks a minute, ${ticks.toLocaleString('en')} in all: sent, deleted, and a run of 0.1 s each; ${MINUTES.toLocaleString('en')} heartbeats; ${shards} small queries of DynamoDB a minute | under 0.50 |`,
    );
    const perMillion = {
      sqs: (2 * ticks + MINUTES) * 0.4,
      lambda: ticks * (0.2 + 0.1 * gigabytes * 13.3334),
      eventBridge: MINUTES * 1,
      dynamoDb: shards * MINUTES * 0.5 * 0.125,
    };
    expect(Object.values(perMillion).reduce((sum, each) => sum + each) / 1e6).toBeLessThan(0.5);
  });

  it('and a dashboard, unless the deployment wants none', () => {
    expect(count('AWS::CloudWatch::Dashboard')).toBe(1);
    synthesize({ dashboard: false }).functionsTemplate.resourceCountIs('AWS::CloudWatch::Dashboard', 0);
  });
});

describe('alarms', () => {
  // They arrive by e-mail, where a relative path leads nowhere.
  it('each name a paragraph of the runbook that exists', () => {
    expect(alarmsOf(silent).length).toBeGreaterThan(10);
    for (const alarm of [...alarmsOf(silent), ...compositesOf(silent)]) expect(paragraphs).toContain(headingOf(alarm));
  });

  it('are as many, on as many metrics, as the costs in docs/deploying.md say', () => {
    const metrics = alarmsOf(silent).flatMap(({ Metrics }) =>
      ((Metrics ?? [{ MetricStat: {} }]) as readonly MetricQuery[]).filter(each => each.MetricStat !== undefined),
    );
    const dollars = (metrics.length * 0.1).toFixed(2);
    expect(costs).toContain(
      `| ${alarmsOf(silent).length} alarms, on ${metrics.length} metrics at 0.10 each | ${dollars} |`,
    );
    expect(costs).toContain(`| ${compositesOf(silent).length} composite alarm | 0.50 |`);
  });

  it('leave no alarm paragraph of the runbook without an alarm', () => {
    const forAlarms = paragraphs.filter(
      heading =>
        !['Before anything else', 'Restoring the table', 'Restoring the cluster', 'Stopping Curfew'].includes(heading),
    );
    const named = [...alarmsOf(silent), ...compositesOf(silent)].map(headingOf);
    expect(new Set(named)).toEqual(new Set(forAlarms));
  });

  it('point to the runbook of the deployment', () => {
    for (const alarm of [...alarmsOf(loud), ...compositesOf(loud)]) {
      const anchor = /Runbook: https:\/\/wiki\.example\.com\/curfew#([\w-]+)$/.exec(alarm.AlarmDescription)?.[1];
      expect(paragraphs.map(anchorOf)).toContain(anchor);
    }
  });

  it('page or ask for a ticket, at recovery as well, or are told of by the one composite', () => {
    const [composite, ...others] = compositesOf(loud);
    expect(others).toEqual([]);
    expect(composite).toMatchObject({ AlarmActions: [PAGE], OKActions: [PAGE] });
    const alarms = Object.entries(loud.functionsTemplate.findResources('AWS::CloudWatch::Alarm'));
    const told = alarms.filter(([id]) => JSON.stringify(composite.AlarmRule).includes(`"${id}"`));
    const byThemselves = alarms.filter(each => !told.includes(each)).map(([, { Properties }]) => Properties);
    for (const [, { Properties }] of told) expect(Properties).not.toHaveProperty('AlarmActions');
    for (const { AlarmActions, OKActions } of byThemselves) {
      expect([[PAGE], [TICKET]]).toContainEqual(AlarmActions);
      expect(OKActions).toEqual(AlarmActions);
    }
    expect(told.length).toBeGreaterThan(10);
    const pages = byThemselves.filter(({ AlarmActions }) => AlarmActions[0] === PAGE).map(headingOf);
    expect(new Set(pages.map(text => text.split('#')[1]))).toEqual(
      new Set(['records-vanished', 'too-many-terminations', 'undelivered-events']),
    );
    for (const { AlarmActions } of [...alarmsOf(silent), ...compositesOf(silent)]) expect(AlarmActions).toBeUndefined();
  });

  it('tell one topic alone where only one is given', () => {
    const alarms = alarmsOf(synthesize({ alarmTopics: { ticket: TICKET } }));
    expect(new Set(alarms.map(({ AlarmActions }) => AlarmActions?.[0]))).toEqual(new Set([TICKET, undefined]));
  });

  it('leave out with `Essential` only what another alarm says as well', () => {
    const essential = alarmsOf(synthesize({ alarms: 'Essential' }));
    expect(new Set(essential.map(headingOf))).toEqual(
      new Set(
        alarmsOf(silent)
          .map(headingOf)
          .filter(heading => !['Throttled functions', 'Slow functions'].includes(heading)),
      ),
    );
    expect(essential.length).toBeLessThan(alarmsOf(silent).length - 10);
  });

  // CloudWatch takes ten metrics in one alarm.
  it('have ten metrics each at most', () => {
    for (const { Metrics = [] } of alarmsOf(silent)) {
      expect(Metrics.filter(({ MetricStat }: MetricQuery) => MetricStat !== undefined).length).toBeLessThanOrEqual(10);
    }
  });

  it('page from the number of terminations on that the deployment names', () => {
    const found = alarmsOf(synthesize({ terminationsPerHour: 3 })).find(
      alarm => headingOf(alarm) === 'Too many terminations',
    );
    expect(found).toMatchObject({ Threshold: 3, ComparisonOperator: 'GreaterThanOrEqualToThreshold' });
    expect(found.AlarmDescription).toContain('3 nodes');
  });

  it('ring for each function that has dead letters, a backlog, no access, errors, bugs, throttles or no time left', () => {
    const perFunction = [
      'ApproximateNumberOfMessagesVisible',
      'ApproximateAgeOfOldestMessage',
      'AccessFailures',
      'Errors',
      'MessageFailed',
      'Throttles',
      'Duration',
    ];
    for (const metric of perFunction) {
      expect(alarmsOf(silent).filter(({ MetricName }) => MetricName === metric)).toHaveLength(FUNCTION_NAMES.length);
    }
  });

  it('ring for events that EventBridge gave up on, under both dimensions of a rule of a custom bus', () => {
    const failed = alarmsOf(silent)
      .filter(alarm => headingOf(alarm) === 'Undelivered events')
      .flatMap(({ Metrics }) => Metrics as readonly MetricQuery[])
      .flatMap(({ MetricStat }) => (MetricStat === undefined ? [] : [MetricStat.Metric]));
    expect(failed.map(({ MetricName }) => MetricName)).toEqual(ROUTES.map(() => 'FailedInvocations'));
    const dimensions = failed.map(({ Dimensions = [] }) => Dimensions.map(({ Name }) => Name).toSorted());
    for (const names of dimensions) expect(names).toEqual(['EventBusName', 'RuleName']);
  });

  // CloudFormation's Ref of a rule on a custom bus is `BUS|RULE`: an alarm on that name hears nothing, and one for silence always rings.
  it('know the rules of the custom bus by their names alone', () => {
    const metrics = alarmsOf(silent).flatMap(alarm => [
      alarm,
      ...(alarm.Metrics ?? []).flatMap(({ MetricStat }: MetricQuery) => (MetricStat ? [MetricStat.Metric] : [])),
    ]);
    const names = metrics.flatMap(({ Dimensions = [] }) => {
      const valueOf = (wanted: string): unknown =>
        Dimensions.find(({ Name }: { Name: string }) => Name === wanted)?.Value;
      return valueOf('EventBusName') === undefined ? [] : [valueOf('RuleName')];
    });
    // Of each route, and of the heartbeat.
    expect(names).toHaveLength(ROUTES.length + 1);
    const arn = { 'Fn::GetAtt': [expect.any(String), 'Arn'] };
    for (const name of names) expect(name).toEqual({ 'Fn::Select': [2, { 'Fn::Split': ['/', arn] }] });
  });

  it('ring within five minutes of the last sign when the sweep or the forwarder falls silent, and for no other silence', () => {
    const bySilence = alarmsOf(silent).filter(({ TreatMissingData }) => TreatMissingData === 'breaching');
    expect(bySilence.map(({ Metrics }) => watched(Metrics)).toSorted((a = '', b = '') => a.localeCompare(b))).toEqual([
      'Invocations',
      'OldestOverdueTimer',
    ]);
    for (const alarm of bySilence) {
      // Without FILL, CloudWatch looks back over more periods than it evaluates before it calls data missing.
      const expression = alarm.Metrics.find(({ Expression }: MetricQuery) => Expression !== undefined);
      const period = alarm.Metrics.find(({ MetricStat }: MetricQuery) => MetricStat !== undefined).MetricStat.Period;
      expect(expression.Expression).toMatch(/^FILL\(\w+, 0\)$/);
      expect(alarm).toMatchObject({ ComparisonOperator: 'LessThanThreshold', Threshold: 1 });
      expect(alarm.EvaluationPeriods * period).toBeLessThanOrEqual(240);
    }
  });

  it('ring within five minutes when a function is refused by what it needs, or cannot reach it', () => {
    for (const alarm of alarmsOf(silent).filter(({ MetricName }) => MetricName === 'AccessFailures')) {
      expect(alarm).toMatchObject({ Period: 60, EvaluationPeriods: 5, DatapointsToAlarm: 3, Threshold: 1 });
    }
  });

  // SQS leaves messages that were received three times or more out of the age of the oldest.
  it('count messages in flight as backlog, beyond those that the function works on', () => {
    const counting = alarmsOf(silent).filter(({ Metrics }) =>
      watched(Metrics)?.includes('ApproximateNumberOfMessagesNotVisible'),
    );
    expect(counting).toHaveLength(FUNCTION_NAMES.length);
    for (const { Metrics, Threshold } of counting) {
      expect(watched(Metrics)).toBe('ApproximateNumberOfMessagesNotVisible,ApproximateNumberOfMessagesVisible');
      expect(Threshold).toBeGreaterThan(10);
    }
  });

  it.each(['FinalizationOverdue', 'PossibleOrphan', 'FinalizerWithoutRule'])(
    'ring at the first %s, which no retry cures',
    name => {
      expect(alarmsOf(silent).find(({ MetricName }) => MetricName === name)).toMatchObject({
        Namespace: 'Curfew',
        Threshold: 1,
        Dimensions: [
          { Name: 'cluster', Value: 'prod' },
          { Name: 'service', Value: 'curfew-finalizer' },
        ],
      });
    },
  );

  // I5: what is due happens within 5 minutes.
  it('ring when a timer is overdue by 5 minutes', () => {
    expect(alarmsOf(silent).find(({ MetricName }) => MetricName === 'OldestOverdueTimer')).toMatchObject({
      Namespace: 'Curfew',
      Threshold: 300_000,
      Dimensions: [
        { Name: 'cluster', Value: 'prod' },
        { Name: 'service', Value: 'curfew-timer' },
      ],
    });
  });
});
