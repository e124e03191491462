import { AutoScalingClient } from '@aws-sdk/client-auto-scaling';
import { EC2Client } from '@aws-sdk/client-ec2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEc2, type LocalEc2 } from '../../../../packages/local-aws/src/ec2/ec2.ts';
import { FAKE_CREDENTIALS } from '../../../../packages/local-aws/src/fake-credentials.ts';
import { createInstances, parseProviderID } from '../../../../shared/adapters/ec2/instances.ts';
import { addDuration, hours, minutes, seconds, toEpochMs } from '../../../../shared/domain/time.ts';
import { fakeClient } from '../fake-client.ts';
import { defineInstancesContract } from '../../../contract/instances.contract.ts';

const ID = 'aws:///us-west-2a/i-0abc';

describe('parseProviderID', () => {
  it('finds the instance', () => {
    expect(parseProviderID(ID)).toBe('i-0abc');
    expect(parseProviderID('aws:///us-gov-west-1a/i-0123456789abcdef0')).toBe('i-0123456789abcdef0');
  });

  it.each([
    '',
    'i-0abc',
    'aws:///us-west-2a/fargate-ip-10-0-0-1',
    'gce://p/z/i-0abc',
    'aws:///us-west-2a/i-0abc/x',
    'eks-hybrid:///r/c/mi-1',
  ])('I6: does not take %j for an instance that is gone', providerID => {
    expect(() => parseProviderID(providerID)).toThrow(expect.objectContaining({ reason: 'InvalidProviderID' }));
  });
});

describe('Instances on EC2', () => {
  let now = toEpochMs(Date.UTC(2026, 0, 1));
  let ec2: LocalEc2;
  let clients: { readonly ec2: EC2Client; readonly autoScaling: AutoScalingClient };

  beforeAll(async () => {
    ec2 = await startEc2({
      model: { region: 'us-east-1', account: '000000000000' },
      clock: { now: () => now, sleep: () => Promise.resolve() },
    });
    const options = { endpoint: ec2.endpoint, region: 'us-east-1', credentials: FAKE_CREDENTIALS, maxAttempts: 1 };
    clients = { ec2: new EC2Client(options), autoScaling: new AutoScalingClient(options) };
  });
  afterAll(async () => {
    for (const client of Object.values(clients)) client.destroy();
    await ec2.stop();
  });

  const ACTIONS = [
    'DescribeInstances',
    'DescribeInstanceStatus',
    'TerminateInstances',
    'RebootInstances',
    'TerminateInstanceInAutoScalingGroup',
  ] as const;
  const failAll = (failure: Parameters<LocalEc2['fail']>[1]): void => {
    for (const action of ACTIONS) ec2.fail(action, failure);
  };
  const providerIDOf = (instanceId: string): string => `aws:///us-east-1a/${instanceId}`;
  const instanceIdOf = (providerID: string): string => providerID.slice(providerID.lastIndexOf('/') + 1);
  const launch = (options?: Parameters<LocalEc2['fleet']['launch']>[0]): string => {
    // As Karpenter and a managed node group tag theirs.
    const tag = options?.autoScalingGroup === undefined ? 'eks:eks-cluster-name' : 'eks:cluster-name';
    const { instanceId } = ec2.fleet.launch({ tags: { [tag]: 'prod' }, ...options });
    ec2.fleet.setState(instanceId, 'running');
    return providerIDOf(instanceId);
  };
  const start = () => {
    failAll(undefined);
    // The smallest page: the lists of the contract have several.
    return createInstances({ ...clients, clusterName: 'prod', pageSize: 5 });
  };

  defineInstancesContract('EC2 and Auto Scaling', () => ({
    instances: start(),
    launch,
    setState: (providerID, state) => ec2.fleet.setState(instanceIdOf(providerID), state),
    setCheck: (providerID, check, status) =>
      ec2.fleet.setChecks(
        instanceIdOf(providerID),
        check === 'InstanceStatus' ? { instance: status } : { application: status },
      ),
    throttle: () => failAll({ code: 'RequestLimitExceeded', message: 'Request limit exceeded.', status: 503 }),
    async pass(duration) {
      now = addDuration(now, duration);
    },
  }));

  it('sees a new instance start, and nothing of one that ended an hour ago', async () => {
    const instances = start();
    const id = providerIDOf(ec2.fleet.launch().instanceId);
    expect(await instances.describe(id)).toEqual({ state: 'pending' });
    now = addDuration(now, seconds(10));
    expect(await instances.describe(id)).toEqual({ state: 'running' });
    await instances.terminate(id);
    now = addDuration(now, minutes(59));
    expect(await instances.describe(id)).toEqual({ state: 'terminated' });
    now = addDuration(now, hours(1));
    expect(await instances.describe(id)).toBeUndefined();
    expect(await instances.terminate(id)).toEqual({ kind: 'notFound' });
  });

  it('lists nothing of another cluster', async () => {
    const instances = start();
    const other = launch({ tags: { 'eks:eks-cluster-name': 'staging' } });
    expect((await instances.list()).map(({ providerID }) => providerID)).not.toContain(other);
  });

  it('lets the Auto Scaling group keep its size', async () => {
    const instances = start();
    const id = launch({ autoScalingGroup: 'eks-green' });
    await instances.terminateInAutoScalingGroup(id);
    const states = ec2.fleet.all().filter(({ tags }) => tags['aws:autoscaling:groupName'] === 'eks-green');
    expect(states.map(({ state }) => state)).toEqual(['shutting-down', 'pending']);
  });

  it('gives the reason why an instance that is protected from termination stays', async () => {
    const instances = start();
    const id = launch({ protected: true });
    expect(await instances.terminate(id)).toMatchObject({
      kind: 'refused',
      reason: 'OperationNotPermitted',
      message: expect.stringContaining('disableApiTermination'),
    });
    expect(await instances.describe(id)).toEqual({ state: 'running' });
  });

  it('reboots an instance that runs', async () => {
    const instances = start();
    const id = launch();
    await instances.reboot(id);
    expect(ec2.fleet.rebootsOf(instanceIdOf(id))).toBe(1);
  });

  it('knows a malformed ID from one that is gone (I6)', async () => {
    const instances = start();
    for (const method of ['describe', 'terminate', 'reboot'] as const) {
      await expect(instances[method](ID)).rejects.toMatchObject({
        name: 'TerminalError',
        reason: 'InvalidInstanceID.Malformed',
      });
    }
  });

  it.each([
    ['no instance at all', []],
    ['no state', [{ Instances: [{ InstanceId: 'i-0abc' }] }]],
    ['a state that nobody knows', [{ Instances: [{ InstanceId: 'i-0abc', State: { Name: 'hibernating' } }] }]],
  ])('I6: does not take an answer with %s for the end of the instance', async (_what, Reservations) => {
    const ec2Client = fakeClient<EC2Client>(() => ({ Reservations })).client;
    const instances = createInstances({ ...clients, ec2: ec2Client, clusterName: 'prod' });
    await expect(instances.describe(ID)).rejects.toMatchObject({ name: 'RetryableError' });
  });

  it.each([
    { code: 'UnauthorizedOperation', status: 403, outcomeUnknown: false },
    { code: 'InternalError', status: 500, outcomeUnknown: true },
    { code: 'Unavailable', status: 503, outcomeUnknown: true },
  ])('tries again after $code', async ({ outcomeUnknown, ...failure }) => {
    const instances = start();
    const id = launch();
    failAll(failure);
    for (const method of ['terminate', 'reboot', 'terminateInAutoScalingGroup'] as const) {
      await expect(instances[method](id)).rejects.toMatchObject({ name: 'RetryableError', outcomeUnknown });
    }
    await expect(instances.describe(id)).rejects.toMatchObject({ name: 'RetryableError', outcomeUnknown: false });
  });

  it('tries again when Auto Scaling is busy with the group', async () => {
    const instances = start();
    const id = launch({ autoScalingGroup: 'eks-busy' });
    for (const code of ['ScalingActivityInProgress', 'ResourceContention']) {
      failAll({ code, status: code === 'ResourceContention' ? 500 : 400 });
      await expect(instances.terminateInAutoScalingGroup(id)).rejects.toMatchObject({ name: 'RetryableError' });
    }
  });
});
