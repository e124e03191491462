/**
 * `Instances` on EC2. Kept apart from the other adapters: the EC2 client is the largest of all, and only functions that end or
 * reboot instances carry it.
 */
import {
  DescribeInstancesCommand,
  RebootInstancesCommand,
  TerminateInstancesCommand,
  type EC2Client,
} from '@aws-sdk/client-ec2';
import { TerminalError } from '../../errors.ts';
import type { Instances, InstanceState } from '../../ports/instances.ts';
import { awsErrorCode, fromAwsError } from '../aws-errors.ts';

const NOT_FOUND = 'InvalidInstanceID.NotFound';
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

/**
 * The client must be of the cluster's Region. EC2 forgets a terminated instance after about an hour and answers NotFound from
 * then on; it may also answer NotFound in the first seconds of an instance's life.
 */
export function createInstances(client: Pick<EC2Client, 'send'>): Instances {
  return {
    async describe(providerID) {
      const instanceId = parseProviderID(providerID);
      const answer = await unlessNotFound({ doing: `describing instance ${instanceId}`, write: false }, () =>
        client.send(new DescribeInstancesCommand({ InstanceIds: [instanceId] })),
      );
      const instances = (answer?.Reservations ?? []).flatMap(reservation => reservation.Instances ?? []);
      const name = instances.find(instance => instance.InstanceId === instanceId)?.State?.Name;
      const state = STATES.find(known => known === name);
      return state === undefined ? undefined : { state };
    },

    async terminate(providerID) {
      const instanceId = parseProviderID(providerID);
      const answer = await unlessNotFound({ doing: `terminating instance ${instanceId}`, write: true }, () =>
        client.send(new TerminateInstancesCommand({ InstanceIds: [instanceId] })),
      );
      return { kind: answer === undefined ? 'notFound' : 'ok' };
    },

    async reboot(providerID) {
      const instanceId = parseProviderID(providerID);
      const answer = await unlessNotFound({ doing: `rebooting instance ${instanceId}`, write: true }, () =>
        client.send(new RebootInstancesCommand({ InstanceIds: [instanceId] })),
      );
      return { kind: answer === undefined ? 'notFound' : 'ok' };
    },
  };
}

/** The answer, or undefined when EC2 knows no such instance. */
async function unlessNotFound<Answer>(
  attempt: { doing: string; write: boolean },
  send: () => Promise<Answer>,
): Promise<Answer | undefined> {
  try {
    return await send();
  } catch (error) {
    if (awsErrorCode(error) === NOT_FOUND) return undefined;
    throw fromAwsError(error, attempt);
  }
}
