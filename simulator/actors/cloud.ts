/** cloud: an instance runs for every providerID that a Node or NodeClaim names. */
import { follow, RESOURCE_TYPES, textIn, type StartActor } from './actor.ts';

export const startCloud: StartActor = ({ core, cloud }) => {
  const add = (providerID: string | undefined): void => {
    if (providerID !== undefined) cloud.add(providerID);
  };
  follow(core, RESOURCE_TYPES.nodes, node => add(textIn(node.spec, 'providerID')));
  follow(core, RESOURCE_TYPES.nodeclaims, claim => add(textIn(claim.status, 'providerID')));
};
