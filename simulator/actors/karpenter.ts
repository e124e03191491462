/**
 * karpenter: a NodeClaim that is being deleted and carries `karpenter.sh/termination` has its pods evicted (`karpenter-drain.ts`), then its
 * Node and instance removed and its finalizer taken off, 5 s after the last pod is gone. At its termination timestamp what is left is
 * deleted, and the end follows 5 s later, whatever is there. Objects without that finalizer are none of its business. It launches the
 * NodeClaims that the simulation says (`karpenter-launch.ts`).
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, earliest, seconds, type EpochMs } from '../../shared/domain/time.ts';
import {
  follow,
  getSame,
  refOf,
  RESOURCE_TYPES,
  textIn,
  unlessRefused,
  type ActorApi,
  type ActorWorld,
  type StartActor,
} from './actor.ts';
import {
  deletePods,
  DISRUPTED,
  evictPods,
  firstGroup,
  podsToDrain,
  stateTermination,
  terminationTime,
} from './karpenter-drain.ts';
import { hasTaint } from './karpenter-cluster.ts';
import { createActs } from './karpenter-commands.ts';
import { startLaunching } from './karpenter-launch.ts';

const FINALIZER = 'karpenter.sh/termination';
const USER = 'actor:karpenter';
const TERMINATION_TAKES = seconds(5);
/** Its eviction queue tries again after at most this. */
const EVICTION_RETRY = seconds(10);

interface Termination {
  /** Whether its end is planned. */
  ending: boolean;
  /** When each of its pods was last asked to go, by UID. */
  readonly evictions: Map<string, EpochMs>;
  /** The one look that is planned. */
  next?: { readonly time: EpochMs; readonly cancel: () => void } | undefined;
}

export const startKarpenter: StartActor = world => terminateAndLaunch(world, false);
/** Group by group, with its taint on the Node: as it is where it disrupts nodes by itself (`karpenter-by-itself.ts`). */
export const startOrderedKarpenter: StartActor = world => terminateAndLaunch(world, true);

function terminateAndLaunch(world: ActorWorld, isOrdered: boolean): void {
  const acts = createActs(world.core, USER);
  const { core, scheduler, cloud } = world;
  const terminations = new Map<string, Termination>();

  const finish = (uid: string, seen: KubernetesObject): void => {
    const claim = getSame(core, refOf(RESOURCE_TYPES.nodeclaims, seen), uid);
    if (claim === undefined || !hasFinalizer(claim)) return;
    const providerID = textIn(claim.status, 'providerID');
    for (const node of nodesOf(core, claim, providerID)) removeNode(core, node);
    if (providerID !== undefined) cloud.remove(providerID);
    takeOffFinalizer(core, 'nodeclaims', claim);
  };

  const planLook = (uid: string, seen: KubernetesObject, time: EpochMs): void => {
    const termination = terminations.get(uid);
    if (termination === undefined || (termination.next !== undefined && termination.next.time <= time)) return;
    termination.next?.cancel();
    const cancel = scheduler.at(time, () => {
      termination.next = undefined;
      look(uid, seen);
    });
    termination.next = { time, cancel };
  };

  const look = (uid: string, seen: KubernetesObject): void => {
    const termination = terminations.get(uid);
    const claim = getSame(core, refOf(RESOURCE_TYPES.nodeclaims, seen), uid);
    if (termination === undefined || termination.ending || claim === undefined || !hasFinalizer(claim)) return;
    const now = scheduler.now();
    const deadline = terminationTime(claim);
    const nodes = nodesOf(core, claim, textIn(claim.status, 'providerID'));
    if (isOrdered)
      for (const node of nodes) if (!hasTaint(node, DISRUPTED.key)) acts.setTaint(node, DISRUPTED.key, true);
    const pods = podsToDrain(core, nodes, now);
    const isForced = deadline !== undefined && deadline <= now;
    if (isForced) deletePods(core, pods);
    if (pods.length === 0 || isForced) {
      termination.ending = true;
      scheduler.at(addDuration(now, TERMINATION_TAKES), () => finish(uid, claim));
      return;
    }
    evictPods(core, isOrdered ? firstGroup(pods) : pods, {
      now,
      isDue: pod => (retryTime(termination, pod) ?? now) <= now,
      onAsked: pod => termination.evictions.set(pod.metadata.uid, now),
    });
    const retries = pods.map(pod => retryTime(termination, pod)).filter(time => time !== undefined && time > now);
    planLook(uid, claim, [...retries, deadline].reduce<EpochMs>(earliest, addDuration(now, EVICTION_RETRY)));
  };

  follow(
    core,
    RESOURCE_TYPES.nodeclaims,
    claim => {
      const { uid, deletionTimestamp } = claim.metadata;
      if (deletionTimestamp === undefined || !hasFinalizer(claim)) return;
      if (!terminations.has(uid)) {
        terminations.set(uid, { ending: false, evictions: new Map() });
        scheduler.at(scheduler.now(), () => stateTermination(core, claim));
      }
      planLook(uid, claim, scheduler.now());
    },
    claim => terminations.delete(claim.metadata.uid),
  );
  follow(
    core,
    RESOURCE_TYPES.pods,
    () => undefined,
    () => {
      if (terminations.size === 0) return;
      for (const claim of core.list(RESOURCE_TYPES.nodeclaims).items) {
        const { uid } = claim.metadata;
        if (terminations.get(uid)?.ending === false) planLook(uid, claim, scheduler.now());
      }
    },
  );
  startLaunching(world);
}

/** When a pod may be asked to go again; undefined: it was not asked yet. */
function retryTime({ evictions }: Termination, { metadata }: KubernetesObject): EpochMs | undefined {
  const asked = evictions.get(metadata.uid);
  return asked === undefined ? undefined : addDuration(asked, EVICTION_RETRY);
}

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
