/** The cloud of the local cluster's actors, as instances of the local EC2, so that functions find and end them by the AWS SDK. */
import type { Fleet } from '../../packages/local-aws/src/ec2/fleet.ts';
import { CLUSTER_TAGS } from '../../shared/contract/tags.ts';
import type { ActorWorld } from '../../simulator/actors/actor.ts';

const PROVIDER_ID = /^aws:\/\/\/([a-z0-9-]+)\/(i-[0-9a-f]{8}|i-[0-9a-f]{17})$/;
const [KARPENTER_TAG, NODE_GROUP_TAG] = CLUSTER_TAGS;

/**
 * An instance runs for each providerID of EC2 that is heard of, tagged as the cluster's; once only, even if it has ended since, as
 * long as something names it. One that runs already stays as it is.
 */
export function cloudOnEc2(fleet: Fleet, clusterName: string): ActorWorld['cloud'] {
  const known = new Set<string>();
  return {
    add(providerID, { autoScalingGroup } = {}) {
      const [, availabilityZone, instanceId] = PROVIDER_ID.exec(providerID) ?? [];
      if (availabilityZone === undefined || instanceId === undefined || known.has(instanceId)) return;
      known.add(instanceId);
      if (fleet.look(instanceId) !== undefined) return;
      const tag = autoScalingGroup === undefined ? KARPENTER_TAG : NODE_GROUP_TAG;
      const tags = { [tag]: clusterName };
      fleet.launch({ instanceId, availabilityZone, tags, ...(autoScalingGroup !== undefined && { autoScalingGroup }) });
      fleet.setState(instanceId, 'running');
    },
    remove(providerID) {
      const [, , instanceId] = PROVIDER_ID.exec(providerID) ?? [];
      if (instanceId !== undefined && fleet.look(instanceId) !== undefined) fleet.setState(instanceId, 'terminated');
    },
    forget(providerID) {
      const [, , instanceId] = PROVIDER_ID.exec(providerID) ?? [];
      if (instanceId !== undefined) known.delete(instanceId);
    },
  };
}
