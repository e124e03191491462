import { ENV, requireEnv } from '../contract/env.ts';
import type { Instances } from '../ports/instances.ts';
import { endOfCalls } from './run-time.ts';
import { whenNeeded } from './when-needed.ts';

/** For `createHandler(…, { others: { instances: ec2Instances } })`. The clients are loaded when an instance is first asked about. */
export function ec2Instances(): Instances {
  const clusterName = requireEnv(process.env, ENV.clusterName);
  const connected = whenNeeded('the EC2 client', async () => {
    const { connectInstances } = await import('../adapters/ec2/connect.ts');
    return connectInstances(clusterName, endOfCalls);
  });
  return {
    describe: async providerID => (await connected()).describe(providerID),
    list: async () => (await connected()).list(),
    terminate: async providerID => (await connected()).terminate(providerID),
    reboot: async providerID => (await connected()).reboot(providerID),
    terminateInAutoScalingGroup: async providerID => (await connected()).terminateInAutoScalingGroup(providerID),
  };
}
