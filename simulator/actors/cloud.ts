/**
 * cloud: an instance runs for every providerID that a Node or NodeClaim names. That of a Node with the label of a managed node group is
 * part of an Auto Scaling group.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { follow, RESOURCE_TYPES, textIn, type StartActor } from './actor.ts';

const NODE_GROUP_LABEL = 'eks.amazonaws.com/nodegroup';

export const startCloud: StartActor = ({ core, cloud }) => {
  /** The UIDs of those that name it. */
  const named = new Map<string, Set<string>>();
  const add = ({ metadata: { uid } }: KubernetesObject, providerID: string | undefined, nodeGroup?: string): void => {
    if (providerID === undefined) return;
    named.set(providerID, (named.get(providerID) ?? new Set<string>()).add(uid));
    cloud.add(providerID, nodeGroup === undefined ? {} : { autoScalingGroup: `eks-${nodeGroup}` });
  };
  const gone = ({ metadata: { uid } }: KubernetesObject, providerID = ''): void => {
    const others = named.get(providerID);
    others?.delete(uid);
    if (others?.size !== 0) return;
    named.delete(providerID);
    cloud.forget?.(providerID);
  };
  follow(
    core,
    RESOURCE_TYPES.nodes,
    node => add(node, textIn(node.spec, 'providerID'), node.metadata.labels?.[NODE_GROUP_LABEL]),
    node => gone(node, textIn(node.spec, 'providerID')),
  );
  follow(
    core,
    RESOURCE_TYPES.nodeclaims,
    claim => add(claim, textIn(claim.status, 'providerID')),
    claim => gone(claim, textIn(claim.status, 'providerID')),
  );
};
