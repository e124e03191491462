/**
 * `Instances` on EC2 and Auto Scaling. Kept apart from the other adapters: the EC2 client is the largest of all, and only functions
 * that end or reboot instances carry it.
 */
import { TerminateInstanceInAutoScalingGroupCommand, type AutoScalingClient } from '@aws-sdk/client-auto-scaling';
import {
  DescribeInstancesCommand,
  RebootInstancesCommand,
  TerminateInstancesCommand,
  type EC2Client,
} from '@aws-sdk/client-ec2';
import { messageOf, TerminalError } from '../../errors.ts';
import type { InstanceOutcome, Instances, InstanceState } from '../../ports/instances.ts';
import { awsErrorCode, fromAwsError } from '../aws-errors.ts';

const NOT_FOUND = 'InvalidInstanceID.NotFound';
/** Errors of EC2 about what the instance is, and not about the call. `OperationNotPermitted`: it is protected from termination. */
const REFUSALS: ReadonlySet<string | undefined> = new Set([
  'IncorrectInstanceState',
  'IncorrectState',
  'OperationNotPermitted',
  'UnsupportedOperation',
]);
/** Written by Auto Scaling; users cannot set tags that begin with `aws:`. */
const AUTO_SCALING_GROUP_TAG = 'aws:autoscaling:groupName';
const PROVIDER_ID = /^aws:\/\/\/[a-z0-9-]+\/(i-[0-9a-f]+)$/;
const STATES: readonly InstanceState[] = ['pending', 'running', 'stopping', 'stopped', 'shutting-down', 'terminated'];

/**
 * The instance in `aws:///us-west-2a/i-0abc`. Throws a `TerminalError` for anything else: what is not an EC2 instance (Fargate,
 * a hybrid node, a typo) must never be taken for one that is gone (I6).
 */
export function parseProviderID(providerID: string): string {
  const instanceId = PROVIDER_ID.exec(providerID)?.[1];
  if (instanceId === undefined) {
    throw new TerminalError('InvalidProviderID', `not the providerID of an EC2 instance: ${providerID}`);
  }
  return instanceId;
}

export interface InstanceClients {
  readonly ec2: Pick<EC2Client, 'send'>;
  readonly autoScaling: Pick<AutoScalingClient, 'send'>;
}

/**
 * The clients must be of the cluster's Region. EC2 forgets a terminated instance after about an hour and answers NotFound from
 * then on; it may also answer NotFound in the first seconds of an instance's life.
 */
export function createInstances({ ec2, autoScaling }: InstanceClients): Instances {
  return {
    async describe(providerID) {
      const instanceId = parseProviderID(providerID);
      try {
        const answer = await ec2.send(new DescribeInstancesCommand({ InstanceIds: [instanceId] }));
        const instances = (answer.Reservations ?? []).flatMap(reservation => reservation.Instances ?? []);
        const instance = instances.find(({ InstanceId }) => InstanceId === instanceId);
        const state = STATES.find(known => known === instance?.State?.Name);
        if (state === undefined) return undefined;
        const group = instance?.Tags?.find(({ Key }) => Key === AUTO_SCALING_GROUP_TAG)?.Value;
        return { state, ...(group !== undefined && { autoScalingGroup: group }) };
      } catch (error) {
        if (awsErrorCode(error) === NOT_FOUND) return undefined;
        throw fromAwsError(error, { doing: `describing instance ${instanceId}`, write: false });
      }
    },

    async terminate(providerID) {
      const instanceId = parseProviderID(providerID);
      return await call(`terminating instance ${instanceId}`, () =>
        ec2.send(new TerminateInstancesCommand({ InstanceIds: [instanceId] })),
      );
    },

    async reboot(providerID) {
      const instanceId = parseProviderID(providerID);
      return await call(`rebooting instance ${instanceId}`, () =>
        ec2.send(new RebootInstancesCommand({ InstanceIds: [instanceId] })),
      );
    },

    async terminateInAutoScalingGroup(providerID) {
      const instanceId = parseProviderID(providerID);
      return await call(`terminating instance ${instanceId} in its Auto Scaling group`, () =>
        autoScaling.send(
          new TerminateInstanceInAutoScalingGroupCommand({
            InstanceId: instanceId,
            ShouldDecrementDesiredCapacity: false,
          }),
        ),
      );
    },
  };
}

async function call(doing: string, send: () => Promise<unknown>): Promise<InstanceOutcome> {
  try {
    await send();
    return { kind: 'ok' };
  } catch (error) {
    const code = awsErrorCode(error);
    if (code === NOT_FOUND) return { kind: 'notFound' };
    if (code !== undefined && REFUSALS.has(code)) return { kind: 'refused', reason: code, message: messageOf(error) };
    // Auto Scaling says so of an instance in no group, be it gone or not: whether it is gone, EC2 knows (I6).
    if (code === 'ValidationError' && messageOf(error).includes('No managed instance found')) {
      return { kind: 'refused', reason: 'NotInAutoScalingGroup', message: messageOf(error) };
    }
    throw fromAwsError(error, { doing, write: true });
  }
}
