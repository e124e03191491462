/**
 * cloud: an instance runs for every providerID that a Node or NodeClaim names. That of a Node with the label of a managed node group is
 * part of an Auto Scaling group.
 */
import { follow, RESOURCE_TYPES, textIn, type StartActor } from './actor.ts';

const NODE_GROUP_LABEL = 'eks.amazonaws.com/nodegroup';

export const startCloud: StartActor = ({ core, cloud }) => {
  const add = (providerID: string | undefined, nodeGroup?: string): void => {
    if (providerID === undefined) return;
    cloud.add(providerID, nodeGroup === undefined ? {} : { autoScalingGroup: `eks-${nodeGroup}` });
  };
  follow(core, RESOURCE_TYPES.nodes, node =>
    add(textIn(node.spec, 'providerID'), node.metadata.labels?.[NODE_GROUP_LABEL]),
  );
  follow(core, RESOURCE_TYPES.nodeclaims, claim => add(textIn(claim.status, 'providerID')));
};
