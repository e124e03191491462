/**
 * EC2 behind the nodes of the kwok provider, whose instance is the Node itself: the product's own adapter and the unchanged SDK against
 * the local endpoint. Only the providerID is another: `kwok://NAME` stands for an instance of an ID made of the name.
 */
import { AutoScalingClient } from '@aws-sdk/client-auto-scaling';
import { EC2Client } from '@aws-sdk/client-ec2';
import { createHash } from 'node:crypto';
import { startEc2, type LocalEc2 } from '../../../packages/local-aws/src/ec2/ec2.ts';
import { FAKE_CREDENTIALS } from '../../../packages/local-aws/src/fake-credentials.ts';
import { createInstances } from '../../../shared/adapters/ec2/instances.ts';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import type { Instances } from '../../../shared/ports/instances.ts';

const REGION = 'us-west-2';

export interface KwokInstances {
  readonly instances: Instances;
  launch(providerID: string): void;
  stateOf(providerID: string): ReturnType<LocalEc2['fleet']['required']>['state'];
  stop(): Promise<void>;
}

export async function startKwokInstances(): Promise<KwokInstances> {
  const ec2 = await startEc2({ model: { region: REGION, account: '000000000000' }, clock: systemClock });
  const options = { endpoint: ec2.endpoint, region: REGION, credentials: FAKE_CREDENTIALS };
  const clients = { ec2: new EC2Client(options), autoScaling: new AutoScalingClient(options) };
  const onEc2 = createInstances({ ...clients, clusterName: 'kwok' });
  return {
    instances: {
      describe: providerID => onEc2.describe(ec2ProviderID(providerID)),
      checkOf: (providerID, check) => onEc2.checkOf(ec2ProviderID(providerID), check),
      list: () => onEc2.list(),
      terminate: providerID => onEc2.terminate(ec2ProviderID(providerID)),
      reboot: providerID => onEc2.reboot(ec2ProviderID(providerID)),
      terminateInAutoScalingGroup: providerID => onEc2.terminateInAutoScalingGroup(ec2ProviderID(providerID)),
    },
    launch(providerID) {
      ec2.fleet.launch({ instanceId: instanceIdOf(providerID) });
      ec2.fleet.setState(instanceIdOf(providerID), 'running');
    },
    stateOf: providerID => ec2.fleet.required(instanceIdOf(providerID)).state,
    async stop() {
      for (const client of Object.values(clients)) client.destroy();
      await ec2.stop();
    },
  };
}

const instanceIdOf = (providerID: string): string =>
  `i-${createHash('sha256').update(providerID).digest('hex').slice(0, 17)}`;
const ec2ProviderID = (providerID: string): string => `aws:///${REGION}a/${instanceIdOf(providerID)}`;
