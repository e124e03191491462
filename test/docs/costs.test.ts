/** docs/costs.md: what a deployment costs and uses up, counted from the template and the routing table. `COSTS=print` prints the rows. */
import { describe, expect, it } from 'vitest';
import { FUNCTION_DEFINITIONS } from '../../packages/curfew-cdk/src/function-definitions.ts';
import { instanceLook } from '../../functions/finalizer/termination/rule/instance.ts';
import { toBusEntry } from '../../shared/contract/cluster-event.ts';
import { PERMISSIONS } from '../../shared/contract/permissions.ts';
import { matchesPattern, ROUTES } from '../../shared/contract/routes.ts';
import { minutes, toEpochMs } from '../../shared/domain/time.ts';
import { synthesize } from '../infra/synthesized.ts';
import { documentOf, rowsOf } from './observability.ts';

const { stateTemplate, functionsTemplate } = synthesize();
const resources = [stateTemplate, functionsTemplate].flatMap(template =>
  Object.values<{ Type: string; Properties?: Record<string, unknown> }>(template.toJSON()['Resources']),
);
const count = (type: string): number => resources.filter(({ Type }) => Type === type).length;
const page = documentOf('docs/costs.md');

/** Prices of us-east-1, in dollars a million, without anybody's free tier. */
const PRICES = { event: 1, request: 0.4, invocation: 0.2, gigabyteSecond: 13.3334, read: 0.125 };
const RESYNCS_A_MONTH = (30 * 24) / 4;
/** Of SQS: sent, received, deleted. */
const REQUESTS_A_MESSAGE = 3;
/** A look that finds nothing to do, in functions of half a gigabyte. */
const GIGABYTE_SECONDS_A_LOOK = 0.1 * 0.5;

/** How many inboxes the event of a repeated object reaches. */
function deliveriesOf(kind: string): number {
  const cluster = 'prod';
  const subject = { apiVersion: 'v1', kind, name: 'n', uid: 'u' };
  const { source, detailType } = toBusEntry({ subject } as Parameters<typeof toBusEntry>[0]);
  const event = {
    source,
    'detail-type': detailType,
    detail: { cluster, subject, change: 'Modified', changed: [], resync: true },
  };
  return ROUTES.filter(({ pattern }) => matchesPattern(pattern(cluster), event)).length;
}

/** A fleet in which every deployment hears of every end of an instance. */
const FLEET = { clusters: 100, endsADay: 10_000 };

/** Rules to which EC2 would deliver the end of an instance, which says neither whose it is nor of which cluster. */
function rulesForStrangers(): number {
  const event = {
    source: 'aws.ec2',
    'detail-type': 'EC2 Instance State-change Notification',
    detail: { 'instance-id': 'i-0abc', state: 'terminated' },
  };
  const onDefaultBus = resources.filter(
    ({ Type, Properties = {} }) => Type === 'AWS::Events::Rule' && !('EventBusName' in Properties),
  );
  return onDefaultBus.length + ROUTES.filter(({ pattern }) => matchesPattern(pattern('prod'), event)).length;
}

const metricsOfAlarms = resources
  .filter(({ Type }) => Type === 'AWS::CloudWatch::Alarm')
  .reduce((sum, { Properties = {} }) => {
    const { Metrics } = Properties;
    return sum + (Array.isArray(Metrics) ? Metrics.filter(each => 'MetricStat' in each).length : 1);
  }, 0);
const fixed =
  metricsOfAlarms * 0.1 +
  count('AWS::CloudWatch::CompositeAlarm') * 0.5 +
  count('AWS::CloudWatch::Dashboard') * 3 +
  (1 + count('AWS::Lambda::Function')) * 0.3 +
  (count('AWS::Lambda::EventSourceMapping') * 5 * 3 * 30 * 24 * 60 * PRICES.request) / 1e6 +
  0.5;

/** How often an instance is looked at whose end takes a minute. */
function looksAtAnEnd(): number {
  let looks = 0;
  const began = toEpochMs(0);
  for (let now = began; now < minutes(1); looks += 1) now = instanceLook(now, began);
  return looks;
}

/** Of SQS, Lambda and DynamoDB. */
function costOfMessages(count: number): readonly number[] {
  const messages = count / 1e6;
  return [
    messages * REQUESTS_A_MESSAGE * PRICES.request,
    messages * (PRICES.invocation + GIGABYTE_SECONDS_A_LOOK * PRICES.gigabyteSecond),
    messages * PRICES.read,
  ];
}

/** Each node has one NodeClaim; both are published anew every four hours, and end after a week. */
function monthly(nodes: number): readonly number[] {
  const perNode = deliveriesOf('Node') + deliveriesOf('NodeClaim');
  const events = (nodes * 2 * RESYNCS_A_MONTH) / 1e6;
  const messages = nodes * (perNode * RESYNCS_A_MONTH + (30 / 7) * looksAtAnEnd());
  return [events * PRICES.event, ...costOfMessages(messages)];
}

const dollars = (amount: number): string => amount.toFixed(amount < 1 ? 2 : 0);
const costRows = [0, 100, 1_000, 10_000].map(nodes => {
  const parts = monthly(nodes);
  const sum = parts.reduce((total, part) => total + part, fixed);
  return [nodes.toLocaleString('en'), ...[fixed, ...parts, sum].map(dollars)];
});
const [events = 0, ...rest] = monthly(100);
const fleet = 100 * (fixed + rest.reduce((total, part) => total + part, events));

/** Of a cluster of 100 nodes, at 0.01 dollars an hour, endpoint and zone. */
const ofCluster = fixed + monthly(100).reduce((total, part) => total + part);
const endpoints = rowsOf(documentOf('docs/deploying.md'), 'A private endpoint').filter(
  ([name = '']) => !name.includes('gateway'),
);
const ofEndpoints = endpoints.length * 3 * 0.01 * 24 * 30;
const fleetRows = [1, 40].map(clusters => [
  String(clusters),
  dollars(clusters * ofCluster),
  dollars(clusters * (ofCluster + ofEndpoints)),
]);

/** AWS's defaults for an account and Region, and what one deployment takes of them. */
const QUOTAS: readonly (readonly [string, number, number])[] = [
  [
    'concurrent runs of Lambda',
    1_000,
    Object.values(FUNCTION_DEFINITIONS).reduce((sum, { maxConcurrency }) => sum + maxConcurrency, 0),
  ],
  ['alarms', 5_000, count('AWS::CloudWatch::Alarm') + count('AWS::CloudWatch::CompositeAlarm')],
  ['IAM roles (of the account)', 1_000, count('AWS::IAM::Role')],
  ['event buses', 100, count('AWS::Events::EventBus')],
  ['saved queries', 1_000, count('AWS::Logs::QueryDefinition')],
];
const quotaRows = QUOTAS.map(([what, quota, used]) => [
  what,
  quota.toLocaleString('en'),
  String(used),
  Math.floor(quota / used).toLocaleString('en'),
]);

if (process.env['COSTS'] === 'print') {
  const print = (rows: readonly (readonly string[])[]): string => rows.map(row => `| ${row.join(' | ')} |\n`).join('');
  process.stdout.write(
    `${print(costRows)}\n100 clusters: ${dollars(fleet)}\n\n${print(fleetRows)}\n${print(quotaRows)}`,
  );
}

describe('docs/costs.md', () => {
  it('has what a month costs, by the number of nodes', () => {
    expect(rowsOf(page, 'A month')).toEqual(costRows);
    expect(page.text).toContain(`100 clusters of 100 nodes: ${dollars(fleet)} dollars`);
  });

  it.each(['docs/costs.md', 'README.md'])('%s has what fleets cost', file => {
    expect(endpoints).toHaveLength(6);
    expect(rowsOf(documentOf(file), file === 'README.md' ? 'What it costs' : 'Fleets')).toEqual(fleetRows);
  });

  it('has how often the instance of a node that ends is looked at', () => {
    expect(page.text).toContain(`is looked at ${looksAtAnEnd()} times`);
  });

  it('has how many inboxes an event of each kind reaches', () => {
    expect(page.text).toContain(
      `A Node reaches ${deliveriesOf('Node')} inboxes, a NodeClaim ${deliveriesOf('NodeClaim')}.`,
    );
  });

  it('has what the ends of instances of others cost: nothing is delivered', () => {
    expect(rulesForStrangers()).toBe(0);
    const deliveries = FLEET.clusters * FLEET.endsADay * 30;
    const spared = costOfMessages(deliveries).reduce((sum, part) => sum + part, 0);
    expect(page.text).toContain(
      `With ${FLEET.clusters} clusters and ${FLEET.endsADay.toLocaleString('en')} ends a day that would be ${deliveries / 1e6} million deliveries, and ${dollars(spared)} dollars, a month`,
    );
  });

  it('has what a deployment takes of the quotas, and how many fit', () => {
    expect(rowsOf(page, 'Quotas')).toEqual(quotaRows);
  });
});

describe('docs/node-repair.md, who runs the nodes', () => {
  const rows = rowsOf(documentOf('docs/node-repair.md'), 'Who runs the nodes');

  it('has each action on an instance that some function may take', () => {
    const actions = new Set(Object.values(PERMISSIONS).flatMap(({ ec2 }) => ec2));
    const named = new Set(rows.map(([, call = '']) => call.replaceAll('`', '')).filter(call => call.includes(':')));
    expect(named).toEqual(new Set([...actions].filter(action => !action.includes('Describe'))));
  });

  it('answers for Karpenter, managed node groups and Auto Mode alike', () => {
    expect(rows.length).toBeGreaterThan(5);
    for (const [what, , ...answers] of rows) {
      expect([what, answers.length]).toEqual([what, 3]);
      for (const answer of answers) expect(answer).toMatch(/^(yes|no)\b/);
    }
  });

  // EKS alone ends and reboots its instances: EC2 refuses both to everybody else.
  it('lets nothing act on an instance of Auto Mode', () => {
    const ofInstances = rows.filter(([, call = '']) => call.includes(':'));
    expect(ofInstances.filter(([, , , , autoMode = '']) => !/^no\b/.test(autoMode))).toEqual([]);
  });
});
