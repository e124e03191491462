/**
 * Curfew's own commands as an operator runs them, each a process, on both stacks in moto: what is there is found well, what moto lacks is said, what is
 * broken is found, audit lines are read back, and the runbook brings a lost table back.
 */
import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStacksCommand,
  UpdateStackCommand,
} from '@aws-sdk/client-cloudformation';
import { CloudWatchClient, PutMetricAlarmCommand, SetAlarmStateCommand } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient, CreateLogStreamCommand, PutLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import {
  DeleteTableCommand,
  DynamoDBClient,
  RestoreTableToPointInTimeCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { CreateClusterCommand, EKSClient } from '@aws-sdk/client-eks';
import { LambdaClient, UpdateEventSourceMappingCommand } from '@aws-sdk/client-lambda';
import { CreateScheduleCommand, DeleteScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import { DeleteQueueCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEmbeddedCluster } from '../../cli/start/embedded-cluster.ts';
import { startForwarderProcess } from '../../cli/start/forwarder-process.ts';
import { findFreePort } from '../../packages/local-aws/src/loopback.ts';
import { createAuditLog } from '../../shared/adapters/log/audit-log.ts';
import { QUEUE_URL_IS_A_NAME } from '../../shared/adapters/sqs/connect.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { isRepublished, type ClusterEvent } from '../../shared/contract/cluster-event.ts';
import { ENV } from '../../shared/contract/env.ts';
import { CONFIG_MAP, FUNCTION_NAMES, type FunctionName } from '../../shared/contract/names.ts';
import { operationOutputId, type OperationOutput } from '../../shared/contract/operation-outputs.ts';
import { FORWARDER_ACCOUNT } from '../../shared/contract/permissions.ts';
import { minutes } from '../../shared/domain/time.ts';
import { runCurfew } from '../cli/run-curfew.ts';
import { synthesize } from '../infra/synthesized.ts';
import { environmentOnMoto } from './functions.ts';
import { reasonToSkip, startMoto } from './install.ts';
import { forMoto, type Template } from './template.ts';

const reason = reasonToSkip();
const REGION = 'us-west-2';
const CLUSTER = {
  name: 'prod',
  endpoint: 'https://ABC.gr7.us-west-2.eks.amazonaws.com',
  certificateAuthority: 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==',
};
const role = (name: string): string => `arn:aws:iam::123456789012:role/${name}`;
const tickOf = (name: FunctionName): string => `tick-${name}`;
const each = (what: string, names: readonly string[] = FUNCTION_NAMES): readonly string[] =>
  names.map(name => `${what} ${name}`);
const WITHIN = { timeout: 60_000, interval: 500 };

describe.skipIf(reason !== undefined)(`on moto${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  const parts = new AsyncDisposableStack();
  let env: Readonly<Record<string, string>>;
  let endpoint: string;
  let aws: ReturnType<typeof connect>;
  let outputs: ReadonlyMap<string, string>;

  const outputOf = (name: FunctionName, output: OperationOutput): string =>
    outputs.get(operationOutputId(name, output)) ?? '';
  const onStack = (command: string, ...more: readonly string[]) =>
    runCurfew([command, '--stack', 'Curfew', ...more], undefined, env);
  async function doctor() {
    const { code, stdout, stderr } = await onStack('doctor');
    const subjects = (state: string): readonly string[] =>
      [...stdout.matchAll(new RegExp(`^${state} +([^:]+):`, 'gm'))].map(([, subject = '']) => subject);
    // Each says what to do, and none shows the insides of the SDK.
    expect(stdout.match(/^(FAILED|WARNING|skipped) .*\n(?! +→ )/gm)).toBeNull();
    expect(stdout + stderr).not.toMatch(/^ +at |SyntaxError|\$response/m);
    return { code, stdout, stderr, subjects };
  }

  beforeAll(async () => {
    const moto = await startMoto();
    parts.defer(() => moto.stop());
    endpoint = moto.endpoint;
    env = {
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_MAX_ATTEMPTS: '1',
      AWS_CONFIG_FILE: devNull,
      AWS_SHARED_CREDENTIALS_FILE: devNull,
    };
    aws = connect(endpoint);
    parts.defer(() => Object.values(aws).forEach(client => client.destroy()));
    for (const [StackName, TemplateBody] of templates({ cluster: CLUSTER })) {
      const request = { StackName, TemplateBody, Capabilities: ['CAPABILITY_IAM' as const] };
      await aws.cloudFormation.send(new CreateStackCommand(request));
    }
    outputs = await readOutputs(aws.cloudFormation);
    for (const name of FUNCTION_NAMES) await createTick(name);
  });
  afterAll(() => parts.disposeAsync());

  /** CloudFormation of moto makes no schedule; its Scheduler does. */
  async function createTick(name: FunctionName): Promise<void> {
    const Target = { Arn: `arn:aws:sqs:${REGION}:123456789012:inbox`, RoleArn: role('scheduler'), Input: '{}' };
    const rate = { ScheduleExpression: 'rate(1 minute)', FlexibleTimeWindow: { Mode: 'OFF' as const } };
    await aws.scheduler.send(new CreateScheduleCommand({ Name: tickOf(name), Target, ...rate }));
  }

  it('doctor finds well what is there, and says of the rest what is not known', async () => {
    const before = await doctor();
    expect(before.stdout).toMatch(/^FAILED +cluster prod: cannot be found: .*\n +→ correct cluster\.name/m);
    const resourcesVpcConfig = { subnetIds: [] };
    await aws.eks.send(new CreateClusterCommand({ name: 'prod', roleArn: role('eks'), resourcesVpcConfig }));
    const { code, stdout, stderr, subjects } = await doctor();
    expect([code, stderr]).toEqual([1, '']);
    expect(subjects('ok')).toEqual([
      ...each('function'),
      'version',
      ...each('event source of'),
      ...each('tick of'),
      ...each('inbox of'),
      ...each('dead letters of'),
      'rules',
    ]);
    // moto makes no alarm by CloudFormation, nobody has sent a metric, and it tells no authentication mode.
    expect(subjects('FAILED')).toEqual([
      'cluster prod',
      'cluster prod',
      'heartbeat of the forwarder',
      'sweep of timers',
      'alarms',
    ]);
    expect(stdout).toMatch(/^FAILED +cluster prod: its endpoint is https:.*, the functions call https:\/\/ABC/m);
    expect(subjects('WARNING')).toEqual(['table']);
    expect(subjects('skipped')).toEqual([
      'concurrency of Lambda',
      ...each('access entry of', ['finalizer', 'drain', 'repair', 'grace-period']),
      'identity of the forwarder',
    ]);
    expect(stdout).toMatch(
      /^skipped +concurrency of Lambda: cannot be asked: what answered is not AWS \(HTTP 404\).*\n +→ run it from where AWS/m,
    );
  });

  it('doctor finds what came to be broken', async () => {
    await aws.lambda.send(
      new UpdateEventSourceMappingCommand({ UUID: outputOf('repair', 'EventSource'), Enabled: false }),
    );
    await aws.scheduler.send(new DeleteScheduleCommand({ Name: tickOf('drain') }));
    await aws.sqs.send(new DeleteQueueCommand({ QueueUrl: outputOf('timer', 'Inbox') }));
    await aws.sqs.send(new DeleteQueueCommand({ QueueUrl: outputOf('timer', 'DeadLetters') }));
    await aws.sqs.send(new SendMessageCommand({ QueueUrl: outputOf('drain', 'DeadLetters'), MessageBody: '{}' }));
    const AlarmName = `${outputs.get('AlarmPrefix')}Backlog`;
    const alarm = { Namespace: 'n', MetricName: 'm', Period: 60, EvaluationPeriods: 1, Threshold: 1 };
    await aws.cloudWatch.send(
      new PutMetricAlarmCommand({
        AlarmName,
        AlarmDescription: 'Runbook: "Backlog"',
        ComparisonOperator: 'GreaterThanThreshold',
        Statistic: 'Sum',
        ...alarm,
      }),
    );
    await aws.cloudWatch.send(new SetAlarmStateCommand({ AlarmName, StateValue: 'ALARM', StateReason: 'r' }));
    const { code, stdout } = await doctor();
    const redeploy = String.raw`\n +→ npx cdk deploy --all --revert-drift$`;
    expect(stdout).toMatch(/^FAILED +event source of repair: Disabled\n +→ curfew resume --stack Curfew$/m);
    for (const subject of ['tick of drain', 'inbox of timer', 'dead letters of timer'])
      expect(stdout).toMatch(new RegExp(`^FAILED +${subject}: cannot be found: .*${redeploy}`, 'm'));
    expect(stdout).toMatch(/^WARNING +dead letters of drain: 1 wait\n +→ curfew redrive --stack Curfew/m);
    expect(stdout).toMatch(/^FAILED +alarm Curfew-\w+: rings\n +→ Runbook: "Backlog"$/m);
    expect(code).toBe(1);
    // As it says. What is gone cannot be switched on.
    const resumed = await onStack('resume');
    expect([resumed.code, resumed.stdout]).toEqual([2, expect.stringContaining('event source of repair: enabled\n')]);
    expect(resumed.stderr).toMatch(/^switching the schedule tick-drain: ResourceNotFoundException: .*\n1 could not be/);
    await createTick('drain');
    expect((await doctor()).subjects('ok')).toEqual(
      expect.arrayContaining(['event source of repair', 'tick of drain']),
    );
  });

  it('audit prints the decisions about a node in their order, out of the logs of all functions', async () => {
    const now = Date.now();
    await log('repair', now - minutes(30), 'n1', 'second');
    await log('repair', now - minutes(20), 'n2', 'of another node');
    await log('drain', now - minutes(40), 'n1', 'first');
    await log('grace-period', now - minutes(10), 'n1', 'third');
    await log('timer', now - minutes(150), 'n1', 'of before');
    const { code, stdout, stderr } = await onStack('audit', '--node', 'n1', '--since', '2h');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.match(/(?<=Node\/n\d: ).*(?= \(Because\))/g)).toEqual(['first', 'second', 'third']);
    const none = await onStack('audit', '--node', 'n3', '--since', '2h');
    expect([none.code, none.stdout]).toEqual([2, '']);
    expect(none.stderr).toMatch(/^the log of Curfew: none of its lines \(4\) is about n3: .*a longer --since\n$/);
  });

  /** A line as a function writes it; moto knows no filter of JSON and answers every line. */
  async function log(by: FunctionName, time: number, name: string, message: string): Promise<void> {
    const lines: string[] = [];
    const print = (text: string): void => void lines.push(text);
    const audit = createAuditLog({ serviceName: by, fields: () => ({}), print, now: () => time });
    audit.write({ function: by, decision: 'tolerate', reason: 'Because', message, kind: 'Node', name });
    await Promise.resolve();
    const stream = { logGroupName: outputOf(by, 'LogGroup'), logStreamName: `${name}-${time}` };
    const logEvents = lines.map(text => ({ timestamp: time, message: text.trim() }));
    await aws.logs.send(new CreateLogStreamCommand(stream));
    await aws.logs.send(new PutLogEventsCommand({ ...stream, logEvents }));
  }

  it('a lost table is found, another one takes its place, and republish brings what there is to the inboxes', async () => {
    const lost = outputs.get('RecordsTableName') ?? '';
    const TableName = 'Curfew-restored';
    expect(await onStack('stop')).toMatchObject({ code: 0, stderr: '' });
    const restore = { SourceTableName: lost, TargetTableName: TableName, UseLatestRestorableTime: true };
    await aws.dynamoDb.send(new RestoreTableToPointInTimeCommand(restore));
    const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
    await aws.dynamoDb.send(new UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification }));
    await aws.dynamoDb.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: true }));
    await aws.dynamoDb.send(new DeleteTableCommand({ TableName: lost }));
    expect((await doctor()).stdout).toMatch(
      /^FAILED +table: cannot be found: .*\n +→ .*docs\/runbook\.md, "Restoring the table"$/m,
    );
    for (const [StackName, TemplateBody] of templates({ cluster: CLUSTER, recordsTable: TableName })) {
      const request = { StackName, TemplateBody, Capabilities: ['CAPABILITY_IAM' as const] };
      await aws.cloudFormation.send(new UpdateStackCommand(request));
    }
    outputs = await readOutputs(aws.cloudFormation);
    expect(await onStack('resume')).toMatchObject({ code: 0, stderr: '' });
    expect((await doctor()).stdout).toMatch(/^ok +table: Curfew-restored ACTIVE, index ACTIVE$/m);

    const { kubeconfig, healthPort, problems } = await startCluster();
    const events: ClusterEvent[] = [];
    const inbox = { QueueUrl: outputOf('repair', 'Inbox'), MaxNumberOfMessages: 10 };
    const arrives = (isWanted: (event: ClusterEvent) => boolean) =>
      vi.waitFor(async () => {
        const { Messages = [] } = await aws.sqs.send(new ReceiveMessageCommand(inbox));
        events.push(...Messages.map(({ Body = '{}' }) => JSON.parse(Body).detail));
        expect(events.some(event => event.subject.name === 'n1' && isWanted(event))).toBe(true);
      }, WITHIN);
    // What it lists at its start comes by itself.
    await arrives(() => true);
    await vi.waitFor(
      async () => expect((await fetch(`http://127.0.0.1:${healthPort}/readyz`)).status).toBe(200),
      WITHIN,
    );
    expect(events.some(isRepublished)).toBe(false);
    const { code, stdout, stderr } = await runCurfew(['republish', '--kubeconfig', kubeconfig], undefined, env);
    expect([code, stdout, stderr]).toEqual([0, expect.stringContaining('publishes every object again'), '']);
    await arrives(isRepublished);
    expect(problems).toEqual([]);
  });

  /** The embedded API server with a Node, and the forwarder, which publishes on moto's bus. */
  async function startCluster() {
    const folder = mkdtempSync(join(tmpdir(), 'curfew-moto-'));
    parts.defer(() => rmSync(folder, { recursive: true, force: true }));
    const cluster = await startEmbeddedCluster(systemClock, 0);
    parts.defer(() => cluster.close());
    const conditions = [{ type: 'Ready', status: 'True' }];
    cluster.core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: {}, status: { conditions } });
    cluster.core.seed({ apiVersion: 'v1', kind: 'ConfigMap', metadata: CONFIG_MAP, data: {} });
    const { namespace, name } = FORWARDER_ACCOUNT;
    const [kubeconfig, ofForwarder] = [join(folder, 'kubeconfig'), join(folder, 'forwarder')] as const;
    writeFileSync(kubeconfig, cluster.kubeconfig(), { mode: 0o600 });
    writeFileSync(ofForwarder, cluster.kubeconfig(`system:serviceaccount:${namespace}:${name}`), { mode: 0o600 });
    const problems: string[] = [];
    const healthPort = await findFreePort();
    const forwarder = startForwarderProcess(
      {
        ...environmentOnMoto({ endpoint, region: REGION }, 'forwarder'),
        [ENV.clusterName]: CLUSTER.name,
        [ENV.eventBusName]: outputs.get('EventBusName') ?? '',
        KUBECONFIG: ofForwarder,
        HEALTH_HOST: '127.0.0.1',
        HEALTH_PORT: String(healthPort),
      },
      problem => void problems.push(problem),
    );
    parts.defer(() => forwarder.stop());
    return { kubeconfig, healthPort, problems };
  }
});

function connect(endpoint: string) {
  const options = { region: REGION, endpoint, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
  return {
    cloudFormation: new CloudFormationClient(options),
    cloudWatch: new CloudWatchClient(options),
    dynamoDb: new DynamoDBClient(options),
    eks: new EKSClient(options),
    lambda: new LambdaClient(options),
    logs: new CloudWatchLogsClient(options),
    scheduler: new SchedulerClient(options),
    sqs: new SQSClient({ ...options, ...QUEUE_URL_IS_A_NAME }),
  };
}

/** Both stacks, with the outputs that name schedules, which moto leaves out with them. */
function templates(curfew: Record<string, unknown>): readonly (readonly [string, string])[] {
  const { stateTemplate, functionsTemplate } = synthesize(curfew);
  const functions = forMoto(functionsTemplate.toJSON() as Template);
  const ticks = FUNCTION_NAMES.map(name => [operationOutputId(name, 'Schedule'), { Value: tickOf(name) }] as const);
  return [
    ['CurfewState', JSON.stringify(forMoto(stateTemplate.toJSON() as Template))],
    ['Curfew', JSON.stringify({ ...functions, Outputs: { ...functions.Outputs, ...Object.fromEntries(ticks) } })],
  ];
}

async function readOutputs(client: CloudFormationClient): Promise<ReadonlyMap<string, string>> {
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: 'Curfew' }));
  return new Map((Stacks[0]?.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));
}
