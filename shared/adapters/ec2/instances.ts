/**
 * `Instances` on EC2 and Auto Scaling. Kept apart from the other adapters: the EC2 client is the largest of all, and only functions
 * that end or reboot instances carry it.
 */
import { TerminateInstanceInAutoScalingGroupCommand, type AutoScalingClient } from '@aws-sdk/client-auto-scaling';
import {
  DescribeInstancesCommand,
  DescribeInstanceStatusCommand,
  RebootInstancesCommand,
  TerminateInstancesCommand,
  type EC2Client,
  type Instance as Ec2Instance,
} from '@aws-sdk/client-ec2';
import { CLUSTER_TAGS } from '../../contract/tags.ts';
import { toEpochMs } from '../../domain/time.ts';
import { messageOf, RetryableError, TerminalError } from '../../errors.ts';
import type { InstanceOutcome, Instances, InstanceState, LaunchedInstance } from '../../ports/instances.ts';
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
const [KARPENTER_TAG] = CLUSTER_TAGS;
/** The most that EC2 gives at once. */
const LARGEST_PAGE = 1000;
const LISTED_STATES = ['pending', 'running', 'stopping', 'stopped'] as const satisfies readonly InstanceState[];
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
  /** The name of the cluster whose instances are listed. */
  readonly clusterName: string;
  /** Instances of one page of a list, 5 to 1000. Default 1000. */
  readonly pageSize?: number;
}

/**
 * The clients must be of the cluster's Region. EC2 forgets a terminated instance after about an hour and answers NotFound from
 * then on; it may also answer NotFound in the first seconds of an instance's life.
 */
export function createInstances({
  ec2,
  autoScaling,
  clusterName,
  pageSize = LARGEST_PAGE,
}: InstanceClients): Instances {
  return {
    async describe(providerID) {
      const instanceId = parseProviderID(providerID);
      try {
        const answer = await ec2.send(new DescribeInstancesCommand({ InstanceIds: [instanceId] }));
        const instances = (answer.Reservations ?? []).flatMap(reservation => reservation.Instances ?? []);
        const instance = instances.find(({ InstanceId }) => InstanceId === instanceId);
        const said = instance?.State?.Name;
        const state = STATES.find(known => known === said);
        // EC2 says of an instance that it does not know by an error. Anything else is no answer, and must not be taken for its end (I6).
        if (state === undefined) throw new RetryableError(`EC2 says ${said ?? 'nothing'} of instance ${instanceId}`);
        const group = instance?.Tags?.find(({ Key }) => Key === AUTO_SCALING_GROUP_TAG)?.Value;
        return { state, ...(group !== undefined && { autoScalingGroup: group }) };
      } catch (error) {
        if (awsErrorCode(error) === NOT_FOUND) return undefined;
        throw fromAwsError(error, { doing: `describing instance ${instanceId}`, write: false });
      }
    },

    async checkOf(providerID, check) {
      const instanceId = parseProviderID(providerID);
      try {
        // Without it EC2 answers about running ones alone.
        const command = new DescribeInstanceStatusCommand({ InstanceIds: [instanceId], IncludeAllInstances: true });
        const { InstanceStatuses = [] } = await ec2.send(command);
        return InstanceStatuses.find(({ InstanceId }) => InstanceId === instanceId)?.[check]?.Status;
      } catch (error) {
        if (awsErrorCode(error) === NOT_FOUND) return undefined;
        throw fromAwsError(error, { doing: `asking for ${check} of instance ${instanceId}`, write: false });
      }
    },

    async list() {
      const found: Ec2Instance[] = [];
      let token: string | undefined;
      do {
        const command = new DescribeInstancesCommand({
          Filters: [
            { Name: `tag:${KARPENTER_TAG}`, Values: [clusterName] },
            { Name: 'instance-state-name', Values: [...LISTED_STATES] },
          ],
          MaxResults: pageSize,
          ...(token !== undefined && { NextToken: token }),
        });
        try {
          const page = await ec2.send(command);
          found.push(...(page.Reservations ?? []).flatMap(({ Instances = [] }) => Instances));
          token = page.NextToken;
        } catch (error) {
          throw fromAwsError(error, { doing: `listing the instances of ${clusterName}`, write: false });
        }
        // The last page may have an empty token.
      } while (token !== undefined && token !== '');
      return found.flatMap(toLaunched);
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

/** Without one of these it is none that could be compared with a NodeClaim. */
function toLaunched({ InstanceId, Placement, State, LaunchTime }: Ec2Instance): readonly LaunchedInstance[] {
  const zone = Placement?.AvailabilityZone;
  const state = LISTED_STATES.find(known => known === State?.Name);
  if (InstanceId === undefined || zone === undefined || LaunchTime === undefined || state === undefined) return [];
  return [{ providerID: `aws:///${zone}/${InstanceId}`, state, launchTime: toEpochMs(LaunchTime.getTime()) }];
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
