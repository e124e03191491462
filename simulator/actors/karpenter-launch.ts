/**
 * How Karpenter launches a NodeClaim that has no instance yet: 30 s after its creation it is Launched, Registered and Initialized, with a
 * Ready Node of its name. Or there is no capacity, and it gives the NodeClaim up after 10 s. Which ones, and how, the simulation says.
 */
import type { JsonObject, JsonValue, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import {
  addDuration,
  latest,
  parseTimestamp,
  seconds,
  toTimestamp,
  type DurationMs,
} from '../../shared/domain/time.ts';
import { arrayAt, isObject, objectAt, textAt } from '../../packages/kube-apiserver/src/json.ts';
import type { Cancel } from '../../runtime/scheduler.ts';
import { claimStatusOf, DEFAULT_ZONE, NODE_POOL_LABEL, nodeOf, providerIdOf, ZONE_LABEL } from '../launched-nodes.ts';
import type { LaunchResult } from '../scenario/scenario.ts';
import {
  follow,
  getSame,
  refOf,
  RESOURCE_TYPES,
  textIn,
  unlessRefused,
  type ActorApi,
  type ActorWorld,
} from './actor.ts';

const FINALIZER = 'karpenter.sh/termination';
const USER = 'actor:karpenter';
/** After the creation of the NodeClaim. */
const TAKES: Readonly<Record<Exclude<LaunchResult, 'never'>, DurationMs>> = {
  succeed: seconds(30),
  insufficientCapacity: seconds(10),
};

export function startLaunching({ core, scheduler, cloud, launches }: ActorWorld): void {
  if (launches === undefined) return;
  /** What is planned for NodeClaims without an instance, by UID. */
  const planned = new Map<string, Cancel>();

  const carryOut = (seen: KubernetesObject, result: LaunchResult): void => {
    const claim = getSame(core, refOf(RESOURCE_TYPES.nodeclaims, seen), seen.metadata.uid);
    planned.delete(seen.metadata.uid);
    if (claim === undefined || !isPending(claim)) return;
    if (result === 'succeed') launch(core, cloud, claim, toTimestamp(scheduler.now()));
    else giveUp(core, claim);
  };

  const plan = (claim: KubernetesObject): void => {
    const { uid, labels, creationTimestamp } = claim.metadata;
    planned.get(uid)?.();
    planned.delete(uid);
    const result = launches.resultFor({ uid, nodePool: labels?.[NODE_POOL_LABEL] });
    if (!isPending(claim) || result === undefined || result === 'never') return;
    const now = scheduler.now();
    const due = latest(now, addDuration(parseTimestamp(creationTimestamp) ?? now, TAKES[result]));
    planned.set(
      uid,
      scheduler.at(due, () => carryOut(claim, result)),
    );
  };

  // Who creates one is known once its write is done.
  follow(core, RESOURCE_TYPES.nodeclaims, claim => {
    if (isPending(claim) && !planned.has(claim.metadata.uid)) scheduler.at(scheduler.now(), () => plan(claim));
  });
  launches.onSet(nodePool => {
    for (const claim of core.list(RESOURCE_TYPES.nodeclaims).items) {
      if (claim.metadata.labels?.[NODE_POOL_LABEL] === nodePool) plan(claim);
    }
  });
}

const isPending = ({ metadata, status }: KubernetesObject): boolean =>
  metadata.deletionTimestamp === undefined && textIn(status, 'providerID') === undefined;

function launch(core: ActorApi, cloud: ActorWorld['cloud'], claim: KubernetesObject, launchTime: string): void {
  const { name, labels = {}, annotations = {}, finalizers = [], uid } = claim.metadata;
  const launched = {
    name,
    zone: zoneOf(core, claim),
    labels: { ...requiredLabels(claim), ...labels },
    taints: arrayAt(claim.spec ?? {}, 'taints'),
    launchTime,
  };
  cloud.add(providerIdOf(launched));
  const ref = refOf(RESOURCE_TYPES.nodeclaims, claim);
  if (!finalizers.includes(FINALIZER)) {
    const body = { metadata: { uid, finalizers: [...finalizers, FINALIZER] } };
    unlessRefused(() => core.patch(ref, { type: 'merge', body }, { user: USER }));
  }
  const node = nodeOf(launched);
  unlessRefused(() =>
    core.create(RESOURCE_TYPES.nodes, { ...node, metadata: { ...node.metadata, annotations } }, { user: USER }),
  );
  // A create leaves the status out, as on a real server.
  const { status } = node;
  const nodeRef = { type: RESOURCE_TYPES.nodes, name };
  unlessRefused(() => core.patch(nodeRef, { type: 'merge', body: { status } }, { user: USER, subresource: 'status' }));
  const body = { metadata: { uid }, status: claimStatusOf(launched) };
  unlessRefused(() => core.patch(ref, { type: 'merge', body }, { user: USER, subresource: 'status' }));
}

function giveUp(core: ActorApi, claim: KubernetesObject): void {
  const options = { user: USER, preconditions: { uid: claim.metadata.uid } };
  unlessRefused(() => core.delete(refOf(RESOURCE_TYPES.nodeclaims, claim), options));
}

/** Its requirement's first zone, else that of its NodePool. */
function zoneOf(core: ActorApi, claim: KubernetesObject): string {
  const own = firstValues(claim.spec ?? {})[ZONE_LABEL];
  const name = claim.metadata.labels?.[NODE_POOL_LABEL];
  if (own !== undefined || name === undefined) return own ?? DEFAULT_ZONE;
  const pool = unlessRefused(() => core.get({ type: RESOURCE_TYPES.nodepools, name }));
  const template = objectAt(objectAt(pool?.spec ?? {}, 'template'), 'spec');
  return firstValues(template)[ZONE_LABEL] ?? DEFAULT_ZONE;
}

/** What its requirements say of the Node's labels. */
const requiredLabels = (claim: KubernetesObject): Readonly<Record<string, string>> => firstValues(claim.spec ?? {});

/** The first value of each requirement that lists some, by key. */
function firstValues(spec: JsonObject): Readonly<Record<string, string>> {
  const entries = arrayAt(spec, 'requirements').flatMap((requirement: JsonValue): [string, string][] => {
    if (!isObject(requirement) || requirement['operator'] !== 'In') return [];
    const key = textAt(requirement, 'key');
    const [value] = arrayAt(requirement, 'values');
    return key !== undefined && typeof value === 'string' ? [[key, value]] : [];
  });
  return Object.fromEntries(entries);
}
