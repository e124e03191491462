/** IAM at the endpoint of EC2, with the statements that the app is deployed with. */
import { AutoScalingClient, TerminateInstanceInAutoScalingGroupCommand } from '@aws-sdk/client-auto-scaling';
import {
  DescribeInstancesCommand,
  DescribeInstanceStatusCommand,
  type DescribeInstancesCommandOutput,
  EC2Client,
  RebootInstancesCommand,
  StartInstancesCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { seconds } from '../../../shared/domain/time.ts';
import { startEc2, type LocalEc2 } from '../src/ec2/ec2.ts';
import type { ServiceEvent } from '../src/event-bus.ts';
import { FAKE_CREDENTIALS } from '../src/fake-credentials.ts';
import { createAccess, type Credentials } from '../src/iam/access.ts';
import { policyDocumentSchema } from '../src/iam/statements.ts';

const REGION = 'us-east-1';
const ACCOUNT = '000000000000';
const ROLE = `arn:aws:iam::${ACCOUNT}:role/FinalizerRole`;
const tagged = (tag: string) => ({ StringEquals: { [`aws:ResourceTag/${tag}`]: 'prod' } });
const instances = `arn:aws:ec2:${REGION}:${ACCOUNT}:instance/*`;
const groups = `arn:aws:autoscaling:${REGION}:${ACCOUNT}:autoScalingGroup:*:autoScalingGroupName/*`;
const { Statement: statements } = policyDocumentSchema.parse({
  Statement: [
    { Effect: 'Allow', Action: 'ec2:DescribeInstances', Resource: '*' },
    { Effect: 'Allow', Action: 'ec2:DescribeInstanceStatus', Resource: '*' },
    { Effect: 'Allow', Action: 'ec2:TerminateInstances', Resource: instances, Condition: tagged('cluster') },
    {
      Effect: 'Allow',
      Action: 'autoscaling:TerminateInstanceInAutoScalingGroup',
      Resource: groups,
      Condition: tagged('cluster'),
    },
  ],
});

describe('EC2', () => {
  const access = createAccess({ account: ACCOUNT, roles: [{ name: 'FinalizerRole', arn: ROLE, statements }] });
  let ec2: LocalEc2;
  const opened: { destroy(): void }[] = [];
  beforeAll(async () => {
    ec2 = await startEc2({ model: { region: REGION, account: ACCOUNT }, clock: systemClock, access });
  });
  afterAll(async () => {
    for (const client of opened) client.destroy();
    await ec2.stop();
  });

  const as = (credentials: Credentials) => {
    const options = { endpoint: ec2.endpoint, region: REGION, credentials, maxAttempts: 1 };
    const clients = { ec2: new EC2Client(options), autoScaling: new AutoScalingClient(options) };
    opened.push(clients.ec2, clients.autoScaling);
    return clients;
  };
  const launch = (tags: Record<string, string>, autoScalingGroup?: string) =>
    ec2.fleet.launch({ tags, ...(autoScalingGroup !== undefined && { autoScalingGroup }) }).instanceId;

  it('lets a role end the instances with its tag, and no others: not even together with them', async () => {
    const { ec2: client } = as(access.credentialsOf(ROLE));
    const own = launch({ cluster: 'prod' });
    const terminate = (...InstanceIds: string[]) => client.send(new TerminateInstancesCommand({ InstanceIds }));
    for (const other of [launch({}), launch({ cluster: 'staging' })]) {
      await expect(terminate(own, other)).rejects.toMatchObject({
        name: 'UnauthorizedOperation',
        message: expect.stringContaining(`ec2:TerminateInstances on resource: ${instances.replace('*', other)}`),
        $metadata: expect.objectContaining({ httpStatusCode: 403 }),
      });
      expect(ec2.fleet.look(other)?.state).toBe('pending');
    }
    expect(ec2.fleet.look(own)?.state).toBe('pending');
    expect((await terminate(own)).TerminatingInstances).toEqual([
      {
        InstanceId: own,
        CurrentState: { Code: 32, Name: 'shutting-down' },
        PreviousState: { Code: 0, Name: 'pending' },
      },
    ]);
  });

  it('shows all instances with their tags, escaped as XML wants it', async () => {
    const tags = { Name: 'a <b> & "c"', cluster: 'prod' };
    const instanceId = launch(tags);
    const { ec2: client } = as(access.credentialsOf(ROLE));
    const { Reservations = [] } = await client.send(new DescribeInstancesCommand({ InstanceIds: [instanceId] }));
    const [instance] = Reservations.flatMap(({ Instances = [] }) => Instances);
    expect(instance).toMatchObject({
      InstanceId: instanceId,
      State: { Code: 0, Name: 'pending' },
      Placement: { AvailabilityZone: 'us-east-1a' },
    });
    expect(Object.fromEntries((instance?.Tags ?? []).map(({ Key, Value }) => [Key, Value]))).toEqual(tags);
    const all = await client.send(new DescribeInstancesCommand({}));
    expect(all.Reservations?.length).toBe(ec2.fleet.all().length);
  });

  it('tells the status of what runs, and of others only where that is asked', async () => {
    const { ec2: client } = as(access.credentialsOf(ROLE));
    const InstanceIds = [launch({}), launch({})];
    const [one = '', other = ''] = InstanceIds;
    ec2.fleet.setState(one, 'running');
    ec2.fleet.setState(other, 'stopped');
    ec2.fleet.setChecks(one, { application: 'impaired' });
    const running = {
      InstanceId: one,
      InstanceState: { Code: 16, Name: 'running' },
      InstanceStatus: { Status: 'ok' },
      ApplicationStatus: { Status: 'impaired' },
    };
    const { InstanceStatuses } = await client.send(new DescribeInstanceStatusCommand({ InstanceIds }));
    expect(InstanceStatuses).toMatchObject([running]);
    const all = await client.send(new DescribeInstanceStatusCommand({ InstanceIds, IncludeAllInstances: true }));
    expect(all.InstanceStatuses).toMatchObject([
      running,
      { InstanceId: other, InstanceStatus: { Status: 'not-applicable' } },
    ]);
  });

  it('filters by tag and state, each with any of its values, page by page', async () => {
    const { ec2: client } = as(FAKE_CREDENTIALS);
    const ids = Array.from({ length: 7 }, (_, index) => launch({ filtered: index < 6 ? 'yes' : 'no' }));
    const [stopped = ''] = ids;
    ec2.fleet.setState(stopped, 'stopped');
    const Filters = [
      { Name: 'tag:filtered', Values: ['yes', 'maybe'] },
      { Name: 'instance-state-name', Values: ['pending', 'stopped'] },
    ];
    const idsOf = ({ Reservations = [] }: DescribeInstancesCommandOutput) =>
      Reservations.flatMap(({ Instances = [] }) => Instances.map(({ InstanceId }) => InstanceId));
    const first = await client.send(new DescribeInstancesCommand({ Filters, MaxResults: 5 }));
    expect(idsOf(first)).toEqual(ids.slice(0, 5));
    const { NextToken = '' } = first;
    const second = await client.send(new DescribeInstancesCommand({ Filters, MaxResults: 5, NextToken }));
    expect([idsOf(second), second.NextToken]).toEqual([[ids[5]], undefined]);
    await expect(client.send(new DescribeInstancesCommand({ MaxResults: 4 }))).rejects.toMatchObject({
      name: 'InvalidParameterValue',
    });
    await expect(client.send(new DescribeInstancesCommand({ MaxResults: 5, InstanceIds: ids }))).rejects.toMatchObject({
      name: 'InvalidParameterCombination',
    });
  });

  it('refuses an action that no statement names', async () => {
    const own = launch({ cluster: 'prod' });
    const { ec2: client } = as(access.credentialsOf(ROLE));
    await expect(client.send(new RebootInstancesCommand({ InstanceIds: [own] }))).rejects.toMatchObject({
      name: 'UnauthorizedOperation',
    });
    expect(ec2.fleet.rebootsOf(own)).toBe(0);
  });

  it('limits Auto Scaling to groups with the tag', async () => {
    const { autoScaling } = as(access.credentialsOf(ROLE));
    const end = (InstanceId: string) =>
      autoScaling.send(
        new TerminateInstanceInAutoScalingGroupCommand({ InstanceId, ShouldDecrementDesiredCapacity: true }),
      );
    const own = launch({ cluster: 'prod' }, 'own');
    const { Activity } = await end(own);
    expect(Activity).toMatchObject({ AutoScalingGroupName: 'own', StatusCode: 'InProgress' });
    expect(ec2.fleet.all().filter(({ tags }) => tags['aws:autoscaling:groupName'] === 'own')).toHaveLength(1);
    await expect(end(launch({}, 'other'))).rejects.toMatchObject({ name: 'AccessDenied' });
  });

  it('knows who signs', async () => {
    const InstanceIds = [launch({})];
    const describe = (accessKeyId: string) =>
      as({ accessKeyId, secretAccessKey: 'x' }).ec2.send(new DescribeInstancesCommand({ InstanceIds }));
    expect((await describe(FAKE_CREDENTIALS.accessKeyId)).Reservations).toHaveLength(1);
    await expect(describe('nobody')).rejects.toMatchObject({ name: 'AuthFailure' });
  });

  it('answers what does not run here as an error', async () => {
    const { ec2: client } = as(FAKE_CREDENTIALS);
    await expect(client.send(new StartInstancesCommand({ InstanceIds: ['i-00000000'] }))).rejects.toMatchObject({
      name: 'InvalidAction',
    });
    for (const filter of [
      { Name: 'vpc-id', Values: ['vpc-1'] },
      { Name: 'tag:a', Values: ['b*'] },
    ]) {
      await expect(client.send(new DescribeInstancesCommand({ Filters: [filter] }))).rejects.toMatchObject({
        name: 'UnsupportedOperation',
      });
    }
  });
});

describe("an instance's life", () => {
  it('is published as EC2 publishes it, state by state', async () => {
    const published: ServiceEvent[] = [];
    const ended = Promise.withResolvers<void>();
    const ec2 = await startEc2({
      model: { region: REGION, account: ACCOUNT },
      clock: systemClock,
      stateTakes: { pending: seconds(0), 'shutting-down': seconds(0) },
      async publish(event) {
        published.push(event);
        if (event.detail['state'] === 'running') ec2.fleet.terminate(['i-0abc0abc']);
        if (event.detail['state'] === 'terminated') ended.resolve();
      },
    });
    try {
      ec2.fleet.launch({ instanceId: 'i-0abc0abc' });
      await ended.promise;
    } finally {
      await ec2.stop();
    }
    const states = ['pending', 'running', 'shutting-down', 'terminated'];
    expect(published.map(({ detail }) => detail)).toEqual(
      states.map(state => ({ 'instance-id': 'i-0abc0abc', state })),
    );
    expect(published[0]).toMatchObject({
      source: 'aws.ec2',
      detailType: 'EC2 Instance State-change Notification',
      resources: [`arn:aws:ec2:${REGION}:${ACCOUNT}:instance/i-0abc0abc`],
    });
  });
});
