import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEPLOYED_FUNCTIONS, ROUTES } from '../../shared/contract/routes.ts';
import { synthesize } from './synthesized.ts';

const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:oncall';
const silent = synthesize();
const loud = synthesize({ alarmTopicArn: TOPIC, runbookUrl: 'https://wiki.example.com/curfew' });

const alarmsOf = ({ functionsTemplate }: typeof silent) =>
  Object.values(functionsTemplate.findResources('AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties);

const runbook = readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8');
/** Anchors of the second-level headings, as GitHub makes them. */
const paragraphs = [...runbook.matchAll(/^## (.+)$/gm)].map(([, heading]) =>
  (heading ?? '')
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-'),
);

describe('alarms', () => {
  it('each link to a paragraph of the runbook that exists', () => {
    for (const { AlarmDescription } of alarmsOf(silent)) {
      const [, anchor] = /Runbook: docs\/runbook\.md#([\w-]+)$/.exec(AlarmDescription) ?? [];
      expect(paragraphs).toContain(anchor);
    }
  });

  it('leave no alarm paragraph of the runbook without an alarm', () => {
    const linked = new Set(alarmsOf(silent).map(({ AlarmDescription }) => AlarmDescription.split('#')[1]));
    const forAlarms = paragraphs.filter(anchor => !['before-anything-else', 'stopping-curfew'].includes(anchor));
    expect(linked).toEqual(new Set(forAlarms));
  });

  it('point to the runbook of the deployment and notify its topic when it has one', () => {
    for (const alarm of alarmsOf(loud)) {
      expect(alarm.AlarmDescription).toContain('https://wiki.example.com/curfew#');
      expect(alarm).toMatchObject({ AlarmActions: [TOPIC], OKActions: [TOPIC] });
    }
  });

  it('ring for each function that has dead letters, a backlog, errors, bugs, throttles or no time left', () => {
    const perFunction = [
      'ApproximateNumberOfMessagesVisible',
      'ApproximateAgeOfOldestMessage',
      'Errors',
      'MessageFailed',
      'Throttles',
      'Duration',
    ];
    for (const metric of perFunction) {
      expect(alarmsOf(silent).filter(({ MetricName }) => MetricName === metric)).toHaveLength(
        DEPLOYED_FUNCTIONS.length,
      );
    }
  });

  it('ring for events that EventBridge gave up on, under both dimensions that rules of a custom bus report with', () => {
    const failed = alarmsOf(silent).filter(({ MetricName }) => MetricName === 'FailedInvocations');
    expect(failed).toHaveLength(ROUTES.length);
    for (const { Dimensions } of failed) {
      expect(Dimensions.map(({ Name }: { Name: string }) => Name).toSorted()).toEqual(['EventBusName', 'RuleName']);
    }
  });

  it('ring when the sweep or the forwarder falls silent, and for no other silence', () => {
    const bySilence = alarmsOf(silent).filter(({ TreatMissingData }) => TreatMissingData === 'breaching');
    expect(new Set(bySilence.map(({ MetricName }) => MetricName))).toEqual(
      new Set(['Invocations', 'OldestOverdueTimer']),
    );
  });

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
