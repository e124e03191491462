/** Checks the signs of life of a deployment: its rules, the forwarder's heartbeat, the sweep, its alarms. */
import {
  CloudWatchClient,
  GetMetricDataCommand,
  paginateDescribeAlarms,
  type DescribeAlarmsCommandInput,
  type Dimension,
  type MetricAlarm,
} from '@aws-sdk/client-cloudwatch';
import { EventBridgeClient, ListRulesCommand, type Rule } from '@aws-sdk/client-eventbridge';
import { METRIC_NAMESPACE, METRICS, metricDimensions } from '../../shared/contract/metrics.ts';
import { FORWARDER_HEARTBEAT } from '../../shared/contract/names.ts';
import { ROUTES } from '../../shared/contract/routes.ts';
import { durationBetween, minutes, toEpochMs, type EpochMs } from '../../shared/domain/time.ts';
import { readAlarmNames, type ClientOptions } from '../operate/deployment.ts';
import { failed, ok, warning, type Check, type Finding } from './finding.ts';

/** A heartbeat and a sweep come every minute, and their numbers up to two minutes later. */
const SILENT_AFTER = minutes(4);
const LOOKS_BACK = minutes(15);

export interface Signals {
  readonly stack: string;
  readonly busName: string;
  readonly clusterName: string;
  readonly now: EpochMs;
}

export function checksOfSignals(
  { stack, busName, clusterName, now }: Signals,
  options: ClientOptions,
): readonly Check[] {
  const events = new EventBridgeClient(options);
  const cloudWatch = new CloudWatchClient(options);
  const listRules = async (): Promise<readonly Rule[]> =>
    (await events.send(new ListRulesCommand({ EventBusName: busName }))).Rules ?? [];
  const newest = (Namespace: string, MetricName: string, Dimensions: Dimension[]) =>
    newestOf(cloudWatch, { Namespace, MetricName, Dimensions }, now);
  return [
    {
      subject: 'rules',
      needs: 'events:ListRules',
      look: async () => {
        const found = await listRules();
        const wanted = ROUTES.length + 1;
        const off = found.filter(({ State }) => State !== 'ENABLED').map(({ Name }) => Name);
        const says = `${found.length} of ${wanted}`;
        if (off.length > 0) {
          return [failed('rules', `disabled: ${off.join(', ')}`, 'aws events enable-rule, with the name of each')];
        }
        return [
          found.length >= wanted ? ok('rules', says) : failed('rules', says, 'npx cdk deploy --all --revert-drift'),
        ];
      },
    },
    {
      subject: 'heartbeat of the forwarder',
      needs: 'events:ListRules and cloudwatch:GetMetricData',
      look: async () => {
        const rule = (await listRules()).find(({ EventPattern = '' }) => EventPattern.includes(FORWARDER_HEARTBEAT));
        const time = await newest('AWS/Events', 'Invocations', [
          { Name: 'EventBusName', Value: busName },
          { Name: 'RuleName', Value: rule?.Name ?? '' },
        ]);
        const remedy =
          'kubectl -n curfew get pods,lease; kubectl -n curfew logs deploy/curfew-forwarder; docs/runbook.md, "Forwarder silent"';
        return [heard('heartbeat of the forwarder', time, now, remedy)];
      },
    },
    {
      subject: 'sweep of timers',
      needs: 'cloudwatch:GetMetricData',
      look: async () => {
        const dimensions = Object.entries(metricDimensions('timer', clusterName));
        const time = await newest(
          METRIC_NAMESPACE,
          METRICS.oldestOverdueTimer,
          dimensions.map(([Name, Value]) => ({ Name, Value })),
        );
        return [heard('sweep of timers', time, now, `curfew resume --stack ${stack}; docs/runbook.md, "Sweep silent"`)];
      },
    },
    {
      subject: 'alarms',
      needs: 'cloudwatch:DescribeAlarms',
      look: async () => lookAtAlarms(cloudWatch, await readAlarmNames(stack, options)),
    },
  ];
}

function heard(subject: string, time: EpochMs | undefined, now: EpochMs, remedy: string): Finding {
  if (time === undefined) return failed(subject, `none within ${LOOKS_BACK / 60_000} minutes`, remedy);
  const age = Math.round(durationBetween(time, now) / 1000);
  const says = `${age} s ago`;
  return age * 1000 <= SILENT_AFTER ? ok(subject, says) : failed(subject, says, remedy);
}

/** Time of the last value of a metric. */
async function newestOf(
  client: CloudWatchClient,
  Metric: { readonly Namespace: string; readonly MetricName: string; readonly Dimensions: Dimension[] },
  now: EpochMs,
): Promise<EpochMs | undefined> {
  const { MetricDataResults = [] } = await client.send(
    new GetMetricDataCommand({
      StartTime: new Date(now - LOOKS_BACK),
      EndTime: new Date(now),
      ScanBy: 'TimestampDescending',
      MetricDataQueries: [{ Id: 'newest', MetricStat: { Metric, Period: 60, Stat: 'SampleCount' } }],
    }),
  );
  const times = MetricDataResults.flatMap(({ Timestamps = [] }) => Timestamps.map(time => time.getTime()));
  // A value stands for the minute that begins at its time.
  return times.length === 0 ? undefined : toEpochMs(Math.min(now, Math.max(...times) + 60_000));
}

/** Checks the alarms of this deployment alone: a stack may have others. */
async function lookAtAlarms(
  client: CloudWatchClient,
  { prefix, composite }: { readonly prefix: string; readonly composite: string },
): Promise<readonly Finding[]> {
  const alarms: Pick<
    MetricAlarm,
    'AlarmName' | 'StateValue' | 'AlarmActions' | 'ActionsEnabled' | 'AlarmDescription'
  >[] = [];
  const queries: readonly DescribeAlarmsCommandInput[] = [
    { AlarmNamePrefix: prefix, AlarmTypes: ['MetricAlarm'] },
    { AlarmNames: [composite], AlarmTypes: ['CompositeAlarm'] },
  ];
  for (const query of queries) {
    for await (const { MetricAlarms = [], CompositeAlarms = [] } of paginateDescribeAlarms({ client }, query)) {
      alarms.push(...MetricAlarms, ...CompositeAlarms);
    }
  }
  if (alarms.length === 0) return [failed('alarms', 'there are none', 'npx cdk deploy --all --revert-drift')];
  const ringing = alarms.filter(({ StateValue }) => StateValue === 'ALARM');
  const telling = alarms.filter(
    ({ AlarmActions = [], ActionsEnabled }) => AlarmActions.length > 0 && ActionsEnabled !== false,
  );
  return [
    ok('alarms', `${alarms.length}`),
    ...ringing.map(({ AlarmName = '', AlarmDescription = '' }) =>
      failed(`alarm ${AlarmName}`, 'rings', AlarmDescription),
    ),
    telling.length > 0
      ? ok('alarm actions', `${telling.length} alarms tell somebody`)
      : warning('alarm actions', 'no alarm tells anybody', 'set alarmTopics in cdk.context.json and deploy'),
  ];
}
