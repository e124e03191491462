import { ENV, requireEnv } from '../contract/env.ts';
import { messageOf, RetryableError } from '../errors.ts';
import type { Instances } from '../ports/instances.ts';
import { endOfCalls } from './run-time.ts';

/**
 * For `createHandler(…, { otherAdapters: { instances: ec2Instances } })`. The first call imports the clients, which make up more than half of a
 * function's code. A failed import is a `RetryableError` with reason `NotLoaded`, and the next call imports again.
 */
export function ec2Instances(): Instances {
  const clusterName = requireEnv(process.env, ENV.clusterName);
  let connection: Promise<Instances> | undefined;
  async function connect(): Promise<Instances> {
    try {
      const { connectInstances } = await import('../adapters/ec2/connect.ts');
      return connectInstances(clusterName, endOfCalls);
    } catch (error) {
      connection = undefined;
      throw new RetryableError(`loading the EC2 client: ${messageOf(error)}`, { cause: error, reason: 'NotLoaded' });
    }
  }
  const connected = (): Promise<Instances> => (connection ??= connect());
  return {
    describe: async providerID => (await connected()).describe(providerID),
    checkOf: async (providerID, check) => (await connected()).checkOf(providerID, check),
    list: async () => (await connected()).list(),
    terminate: async providerID => (await connected()).terminate(providerID),
    reboot: async providerID => (await connected()).reboot(providerID),
    terminateInAutoScalingGroup: async providerID => (await connected()).terminateInAutoScalingGroup(providerID),
  };
}
