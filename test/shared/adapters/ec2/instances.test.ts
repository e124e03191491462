import type { EC2Client } from '@aws-sdk/client-ec2';
import { describe, expect, it } from 'vitest';
import { createInstances, parseProviderID } from '../../../../shared/adapters/ec2/instances.ts';
import { fakeClient, serviceError } from '../fake-client.ts';

const ID = 'aws:///us-west-2a/i-0abc';

function make(answer: Parameters<typeof fakeClient>[0]) {
  const { client, sent } = fakeClient<EC2Client>(answer);
  return { instances: createInstances(client), sent };
}

const notFound = serviceError('InvalidInstanceID.NotFound', 'client');
const describing = (...instances: object[]) => ({ Reservations: [{ Instances: instances }] });

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
  it('tells the state of an instance', async () => {
    const { instances, sent } = make(() => describing({ InstanceId: 'i-0abc', State: { Name: 'shutting-down' } }));
    expect(await instances.describe(ID)).toEqual({ state: 'shutting-down' });
    expect(sent).toEqual([{ name: 'DescribeInstancesCommand', input: { InstanceIds: ['i-0abc'] } }]);
  });

  it('knows no instance that EC2 does not know', async () => {
    expect(await make(() => notFound).instances.describe(ID)).toBeUndefined();
    expect(await make(() => ({ Reservations: [] })).instances.describe(ID)).toBeUndefined();
    expect(
      await make(() => describing({ InstanceId: 'i-0other', State: { Name: 'running' } })).instances.describe(ID),
    ).toBeUndefined();
  });

  it('terminates and reboots', async () => {
    const { instances, sent } = make(() => ({}));
    expect(await instances.terminate(ID)).toEqual({ kind: 'ok' });
    expect(await instances.reboot(ID)).toEqual({ kind: 'ok' });
    expect(sent).toEqual([
      { name: 'TerminateInstancesCommand', input: { InstanceIds: ['i-0abc'] } },
      { name: 'RebootInstancesCommand', input: { InstanceIds: ['i-0abc'] } },
    ]);
  });

  it('has nothing to do for an instance that is gone', async () => {
    const { instances } = make(() => notFound);
    expect(await instances.terminate(ID)).toEqual({ kind: 'notFound' });
    expect(await instances.reboot(ID)).toEqual({ kind: 'notFound' });
  });

  it.each([
    { code: 'RequestLimitExceeded', fault: 'client', expected: { name: 'RetryableError', outcomeUnknown: false } },
    { code: 'UnauthorizedOperation', fault: 'client', expected: { name: 'RetryableError', outcomeUnknown: false } },
    { code: 'InternalError', fault: 'server', expected: { name: 'RetryableError', outcomeUnknown: true } },
    // Termination protection.
    {
      code: 'OperationNotPermitted',
      fault: 'client',
      expected: { name: 'TerminalError', reason: 'OperationNotPermitted' },
    },
    { code: 'InvalidInstanceID.Malformed', fault: 'client', expected: { name: 'TerminalError' } },
  ] as const)('throws $expected.name after $code', async ({ code, fault, expected }) => {
    const { instances } = make(() => serviceError(code, fault));
    await expect(instances.terminate(ID)).rejects.toMatchObject(expected);
  });
});
