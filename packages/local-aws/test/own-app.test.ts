/** Curfew's own bundles in the local stack: what is deployed and what is run here are held together. */
import { EC2Client, TerminateInstancesCommand } from '@aws-sdk/client-ec2';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { Template } from 'aws-cdk-lib/assertions';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../../infra/build-app.ts';
import { FAKE_CREDENTIALS } from '../src/fake-credentials.ts';
import { createAccess } from '../src/iam/access.ts';
import type { LogLine } from '../src/log-lines.ts';
import { startLocalAws, type LocalAws } from '../src/stack.ts';
import { SOURCES } from '../../../shared/contract/names.ts';

const emfLine = z.looseObject({
  _aws: z.object({
    CloudWatchMetrics: z.tuple([
      z.object({
        Namespace: z.string(),
        Dimensions: z.array(z.array(z.string())),
        Metrics: z.tuple([z.object({ Name: z.string() })], z.unknown()),
      }),
    ]),
  }),
});

const lines: LogLine[] = [];
const waiting = new Set<() => void>();

/** Resolves with the first line that fits. */
function line(fits: (candidate: LogLine) => boolean): Promise<LogLine> {
  return new Promise(resolve => {
    const look = () => {
      const found = lines.find(fits);
      if (found === undefined) return;
      waiting.delete(look);
      resolve(found);
    };
    waiting.add(look);
    look();
  });
}

describe('the synthesized bundles', () => {
  const outdir = mkdtempSync(join(tmpdir(), 'curfew-app-'));
  const { app, functionsStack } = buildApp({ outdir });
  let aws: LocalAws;

  beforeAll(async () => {
    app.synth();
    aws = await startLocalAws({
      assemblyDir: outdir,
      parameters: { ClusterName: 'local' },
      env: { CLUSTER_NAME: 'local', CLUSTER_ENDPOINT: 'http://127.0.0.1:9', CLUSTER_CA: 'Q0E=' },
      onLog(received) {
        lines.push(received);
        for (const look of waiting) look();
      },
    });
  });
  afterAll(async () => {
    await aws.stop();
    rmSync(outdir, { recursive: true, force: true });
  });

  it('write the metric whose silence is the alarm, under the name and dimensions that the alarm reads', async () => {
    const alarms = Object.values(Template.fromStack(functionsStack).findResources('AWS::CloudWatch::Alarm'));
    const alarm = alarms.find(({ Properties }) => Properties.MetricName === 'OldestOverdueTimer')?.['Properties'];
    const { record } = await line(({ text }) => text.includes('OldestOverdueTimer'));
    expect(alarm).toMatchObject({
      Namespace: 'Curfew',
      Dimensions: [
        { Name: 'cluster', Value: { Ref: 'ClusterName' } },
        { Name: 'service', Value: record?.['service'] },
      ],
    });
    const [{ Namespace, Dimensions, Metrics }] = emfLine.parse(record)._aws.CloudWatchMetrics;
    expect([Namespace, Metrics[0].Name]).toEqual(['Curfew', alarm.MetricName]);
    expect(Dimensions.map(names => names.toSorted())).toEqual([['cluster', 'service']]);
    expect(record).toMatchObject({ cluster: aws.model.functions[0]?.environment['CLUSTER_NAME'] });
  });

  it('have their logs where the outputs of the stack say', async () => {
    await line(({ text }) => text.includes('OldestOverdueTimer'));
    const of = (endpoint: string): object => ({ endpoint, region: 'us-east-1', credentials: FAKE_CREDENTIALS });
    const [stacks, logs] = [
      new CloudFormationClient(of(aws.endpoints.cloudFormation)),
      new CloudWatchLogsClient(of(aws.endpoints.logs)),
    ];
    const { Stacks } = await stacks.send(new DescribeStacksCommand({ StackName: functionsStack.stackName }));
    const logGroupName = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === 'TimerLogGroup')?.OutputValue;
    const { events = [] } = await logs.send(new FilterLogEventsCommand({ logGroupName }));
    expect(events.map(({ message }) => message)).toContainEqual(expect.stringContaining('OldestOverdueTimer'));
    stacks.destroy();
    logs.destroy();
  });

  it('park an event that is not valid in the dead letters, with the reason', async () => {
    const client = new EventBridgeClient({
      endpoint: aws.endpoints.eventBridge,
      region: 'us-east-1',
      credentials: FAKE_CREDENTIALS,
    });
    const Entries = [
      {
        EventBusName: aws.eventBusName,
        Source: SOURCES.forwarder,
        DetailType: 'NodeClaimChanged',
        Detail: '{"schemaVersion":99,"cluster":"local"}',
      },
    ];
    await client.send(new PutEventsCommand({ Entries }));
    client.destroy();
    await line(({ function: name, text }) => name === 'repair' && text.includes('MessageParked'));
    const { ready } = await aws.deadLetters('repair');
    expect(ready).toMatchObject([
      {
        attributes: {
          function: 'repair',
          reason: 'InvalidMessage',
          explanation: expect.stringContaining('schemaVersion'),
        },
      },
    ]);
    expect(JSON.parse(ready[0]?.body ?? '')).toMatchObject({
      source: SOURCES.forwarder,
      detail: { schemaVersion: 99 },
    });
  });

  it("may end the instances of the cluster, Karpenter's and those of node groups, and no others", async () => {
    const roleArn = aws.model.functions.find(({ name }) => name === 'finalizer')?.roleArn ?? '';
    const client = new EC2Client({
      endpoint: aws.endpoints.ec2,
      region: 'us-east-1',
      credentials: createAccess(aws.model).credentialsOf(roleArn),
      maxAttempts: 1,
    });
    const terminate = (tags: Record<string, string>) =>
      client.send(new TerminateInstancesCommand({ InstanceIds: [aws.ec2.fleet.launch({ tags }).instanceId] }));
    for (const tag of ['eks:eks-cluster-name', 'eks:cluster-name']) {
      expect((await terminate({ [tag]: 'local' })).TerminatingInstances).toHaveLength(1);
      await expect(terminate({ [tag]: 'another' })).rejects.toMatchObject({ name: 'UnauthorizedOperation' });
    }
    await expect(terminate({})).rejects.toMatchObject({ name: 'UnauthorizedOperation' });
    client.destroy();
  });
});
