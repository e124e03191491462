/**
 * The other half of Karpenter, for clusters to live in: who deletes a Node that carries `karpenter.sh/termination` deletes its NodeClaim
 * with that. Scenarios delete the NodeClaim, so the simulation runs without it.
 */
import { follow, refOf, RESOURCE_TYPES, textIn, unlessRefused, type StartActor } from './actor.ts';

const FINALIZER = 'karpenter.sh/termination';
const USER = 'actor:karpenter';

export const startNodeDeletion: StartActor = ({ core }) => {
  follow(core, RESOURCE_TYPES.nodes, ({ metadata, spec }) => {
    if (metadata.deletionTimestamp === undefined || metadata.finalizers?.includes(FINALIZER) !== true) return;
    const providerID = textIn(spec, 'providerID');
    for (const claim of core.list(RESOURCE_TYPES.nodeclaims).items) {
      if (providerID === undefined || textIn(claim.status, 'providerID') !== providerID) continue;
      if (claim.metadata.deletionTimestamp !== undefined) continue;
      const preconditions = { uid: claim.metadata.uid };
      unlessRefused(() => core.delete(refOf(RESOURCE_TYPES.nodeclaims, claim), { user: USER, preconditions }));
    }
  });
};
