import { AutoScalingClient } from '@aws-sdk/client-auto-scaling';
import { EC2Client } from '@aws-sdk/client-ec2';
import { CLIENT_DEFAULTS } from '../adapters/aws-errors.ts';
import { createInstances } from '../adapters/ec2/instances.ts';
import { ENV, requireEnv } from '../contract/env.ts';
import type { Instances } from '../ports/instances.ts';

/** For `createHandler(…, { instances: ec2Instances })`. In a file of its own, so that only bundles that ask for it carry these clients. */
export function ec2Instances(): Instances {
  return createInstances({
    ec2: new EC2Client(CLIENT_DEFAULTS),
    autoScaling: new AutoScalingClient(CLIENT_DEFAULTS),
    clusterName: requireEnv(process.env, ENV.clusterName),
  });
}
