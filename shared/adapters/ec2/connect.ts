/** `Instances` with clients of its own. They are large: only what ends, reboots or looks at instances loads this file. */
import { AutoScalingClient } from '@aws-sdk/client-auto-scaling';
import { EC2Client } from '@aws-sdk/client-ec2';
import type { Instances } from '../../ports/instances.ts';
import { CLIENT_DEFAULTS } from '../aws-errors.ts';
import { endingCalls, type EndOfCalls } from '../end-of-calls.ts';
import { createInstances } from './instances.ts';

/** @param clusterName the cluster whose instances are listed */
export function connectInstances(clusterName: string, endOfCalls?: EndOfCalls): Instances {
  return createInstances({
    ec2: endingCalls(new EC2Client(CLIENT_DEFAULTS), endOfCalls),
    autoScaling: endingCalls(new AutoScalingClient(CLIENT_DEFAULTS), endOfCalls),
    clusterName,
  });
}
