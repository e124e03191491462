/**
 * karpenter: a NodeClaim that is being deleted and carries `karpenter.sh/termination` has its Node and instance removed and its
 * finalizer taken off after 5 s. Objects without that finalizer are none of its business.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, seconds } from '../../shared/domain/time.ts';
import {
  follow,
  getSame,
  refOf,
  RESOURCE_TYPES,
  textIn,
  unlessRefused,
  type ActorApi,
  type StartActor,
} from './actor.ts';

const FINALIZER = 'karpenter.sh/termination';
const USER = 'actor:karpenter';
const TERMINATION_TAKES = seconds(5);

export const startKarpenter: StartActor = ({ core, scheduler, cloud }) => {
  const terminating = new Set<string>();

  const finish = (uid: string, seen: KubernetesObject): void => {
    const ref = refOf(RESOURCE_TYPES.nodeclaims, seen);
    const claim = getSame(core, ref, uid);
    if (claim === undefined || !hasFinalizer(claim)) return;
    const providerID = textIn(claim.status, 'providerID');
    for (const node of nodesOf(core, claim, providerID)) removeNode(core, node);
    if (providerID !== undefined) cloud.remove(providerID);
    takeOffFinalizer(core, 'nodeclaims', claim);
  };

  follow(
    core,
    RESOURCE_TYPES.nodeclaims,
    claim => {
      const { uid, deletionTimestamp } = claim.metadata;
      if (deletionTimestamp === undefined || !hasFinalizer(claim) || terminating.has(uid)) return;
      terminating.add(uid);
      scheduler.at(addDuration(scheduler.now(), TERMINATION_TAKES), () => finish(uid, claim));
    },
    claim => terminating.delete(claim.metadata.uid),
  );
};

const hasFinalizer = ({ metadata }: KubernetesObject): boolean => metadata.finalizers?.includes(FINALIZER) === true;

/** The claim's Node by name, unless another instance has that name by now, else whatever has its providerID. */
function nodesOf(core: ActorApi, claim: KubernetesObject, providerID: string | undefined): readonly KubernetesObject[] {
  const name = textIn(claim.status, 'nodeName');
  const named = name === undefined ? undefined : unlessRefused(() => core.get({ type: RESOURCE_TYPES.nodes, name }));
  const namedProviderID = named === undefined ? undefined : textIn(named.spec, 'providerID');
  const isSame = providerID === undefined || namedProviderID === undefined || namedProviderID === providerID;
  if (named !== undefined && isSame) return [named];
  if (providerID === undefined) return [];
  return core.list(RESOURCE_TYPES.nodes).items.filter(node => textIn(node.spec, 'providerID') === providerID);
}

function removeNode(core: ActorApi, node: KubernetesObject): void {
  const options = { user: USER, preconditions: { uid: node.metadata.uid } };
  unlessRefused(() => core.delete(refOf(RESOURCE_TYPES.nodes, node), options));
  const left = getSame(core, refOf(RESOURCE_TYPES.nodes, node), node.metadata.uid);
  if (left !== undefined && hasFinalizer(left)) takeOffFinalizer(core, 'nodes', left);
}

function takeOffFinalizer(core: ActorApi, resource: 'nodes' | 'nodeclaims', object: KubernetesObject): void {
  const finalizers = (object.metadata.finalizers ?? []).filter(finalizer => finalizer !== FINALIZER);
  const body = { metadata: { uid: object.metadata.uid, finalizers } };
  unlessRefused(() => core.patch(refOf(RESOURCE_TYPES[resource], object), { type: 'merge', body }, { user: USER }));
}
