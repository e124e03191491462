/** The cluster as a Karpenter that acts by itself sees it, kept by watches: its nodes with their NodeClaims, pods and NodePool. */
import { nanosecondsToDuration, parseGoDuration } from '../../shared/domain/go-duration.ts';
import type { JsonObject, JsonValue, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { DurationMs, EpochMs } from '../../shared/domain/time.ts';
import { arrayAt, isObject, objectAt, textAt } from '../../packages/kube-apiserver/src/json.ts';
import { wasHitWithin } from '../cron.ts';
import { groupObjects, type Grouping } from '../grouping.ts';
import { follow, RESOURCE_TYPES, says, textIn, type ActorApi } from './actor.ts';
import { DISRUPTED, DO_NOT_DISRUPT, isDrained } from './karpenter-drain.ts';

export const NODE_POOL_LABEL = 'karpenter.sh/nodepool';

/** A Node that Karpenter manages. */
export interface Managed {
  readonly node: KubernetesObject;
  readonly claim: KubernetesObject;
  /** The NodePool by name; undefined: the NodeClaim names none. */
  readonly pool: string | undefined;
}

export interface KarpenterCluster {
  readonly managed: () => readonly Managed[];
  readonly claims: () => readonly KubernetesObject[];
  readonly pool: (name: string) => KubernetesObject | undefined;
  /** Which it has to put elsewhere. */
  readonly podsOf: (managed: Managed, now: EpochMs) => readonly KubernetesObject[];
  /** Why the pods cannot be moved now; undefined: nothing is in the way. */
  readonly blockerOf: (pods: readonly KubernetesObject[]) => string | undefined;
}

export function followCluster(core: ActorApi): KarpenterCluster {
  const objects = (type: (typeof RESOURCE_TYPES)[keyof typeof RESOURCE_TYPES]): Map<string, KubernetesObject> => {
    const known = new Map<string, KubernetesObject>();
    follow(
      core,
      type,
      object => known.set(object.metadata.uid, object),
      ({ metadata }) => known.delete(metadata.uid),
    );
    return known;
  };
  // By what a look asks for: it is about all nodes, and comes often.
  const grouped = (
    type: (typeof RESOURCE_TYPES)['nodes' | 'pods'],
    keyOf: (object: KubernetesObject) => string | undefined,
  ): Grouping =>
    groupObjects(
      {
        follow: listener =>
          follow(
            core,
            type,
            object => listener('all', object.metadata.uid, object),
            ({ metadata }) => listener('all', metadata.uid, undefined),
          ),
      },
      'all',
      keyOf,
    );
  const nodesOf = grouped(RESOURCE_TYPES.nodes, node => textIn(node.spec, 'providerID'));
  const claims = objects(RESOURCE_TYPES.nodeclaims);
  const pools = objects(RESOURCE_TYPES.nodepools);
  const podsOn = grouped(RESOURCE_TYPES.pods, pod => textIn(pod.spec, 'nodeName'));
  const budgets = objects(RESOURCE_TYPES.poddisruptionbudgets);
  return {
    managed() {
      const found: Managed[] = [];
      for (const claim of claims.values()) {
        const instance = textIn(claim.status, 'providerID');
        const [node, ...more] = instance === undefined ? [] : nodesOf.get(instance);
        // None or two: it stops without a word.
        if (node === undefined || more.length > 0) continue;
        found.push({ node, claim, pool: claim.metadata.labels?.[NODE_POOL_LABEL] });
      }
      return found;
    },
    claims: () => [...claims.values()],
    pool: name => [...pools.values()].find(({ metadata }) => metadata.name === name),
    podsOf: ({ node }, now) => podsOn.get(node.metadata.name).filter(pod => isDrained(pod, now) && !isOfDaemon(pod)),
    blockerOf(moved) {
      const held = moved.find(({ metadata }) => metadata.annotations?.[DO_NOT_DISRUPT] !== undefined);
      if (held !== undefined) return `pod ${held.metadata.name} has ${DO_NOT_DISRUPT}`;
      const namespaces = new Set(moved.map(({ metadata }) => metadata.namespace));
      const full = [...budgets.values()].find(
        budget => namespaces.has(budget.metadata.namespace) && budget.status?.['disruptionsAllowed'] === 0,
      );
      return full && `PodDisruptionBudget ${full.metadata.name} allows none`;
    },
  };
}

const isOfDaemon = ({ metadata }: KubernetesObject): boolean =>
  metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet') === true;

export const hasTaint = ({ spec = {} }: KubernetesObject, key: string): boolean =>
  arrayAt(spec, 'taints').some(taint => isObject(taint) && taint['key'] === key);

/** It is being deleted, or somebody is about to. */
export const isLeaving = ({ node, claim }: Managed): boolean =>
  [node, claim].some(({ metadata }) => metadata.deletionTimestamp !== undefined) ||
  hasTaint(node, DISRUPTED.key) ||
  says(claim, 'DisruptionReason');

/** `do-not-disrupt: "true"` on Node or NodeClaim, which holds what is voluntary. */
export const isHeld = ({ node, claim }: Managed): boolean =>
  [node, claim].some(({ metadata }) => metadata.annotations?.[DO_NOT_DISRUPT] === 'true');

export const disruptionOf = (pool: KubernetesObject | undefined): JsonObject =>
  objectAt(pool?.spec ?? {}, 'disruption');

/** Of a duration in a spec; undefined for none, and for `Never`. */
export function durationIn(part: JsonObject, key: string): DurationMs | undefined {
  const text = textAt(part, key);
  if (text === undefined) return undefined;
  const parsed = parseGoDuration(text);
  return parsed.ok ? nanosecondsToDuration(parsed.nanoseconds) : undefined;
}

/**
 * How many nodes more of the pool may be disrupted for that reason: by the smallest budget that names it, or no reason at all, and whose time it is.
 * One that cannot be read allows none, for whatever reason.
 */
export function roomIn(
  pool: KubernetesObject | undefined,
  { reason, now }: { readonly reason: string; readonly now: EpochMs },
  members: readonly Managed[],
): number {
  const { budgets = [{ nodes: '10%' }] } = disruptionOf(pool);
  const counted = members.filter(({ claim }) => says(claim, 'Initialized') || says(claim, 'Rebooting'));
  const isCounted = (each: Managed): boolean =>
    isLeaving(each) || (reason !== 'Unhealthy' && !says(each.node, 'Ready')) || says(each.claim, 'Rebooting');
  const list: readonly JsonValue[] = Array.isArray(budgets) ? budgets : [];
  const allowed = list.map(budget => {
    if (!isObject(budget)) return 0;
    const { reasons } = budget;
    const isActive = isActiveAt(budget, now);
    if (isActive === undefined) return 0;
    if (!isActive || (Array.isArray(reasons) && !reasons.includes(reason))) return Infinity;
    const [, number = '', percent] = /^(\d+)(%?)$/.exec(textAt(budget, 'nodes') ?? '') ?? [];
    if (number === '') return 0;
    return percent === '%' ? Math.ceil((Number(number) * counted.length) / 100) : Number(number);
  });
  return Math.min(Infinity, ...allowed) - counted.filter(isCounted).length;
}

/** Whether its schedule hit within its duration; undefined: it cannot be read. */
function isActiveAt(budget: JsonObject, now: EpochMs): boolean | undefined {
  if (budget['schedule'] === undefined && budget['duration'] === undefined) return true;
  const schedule = textAt(budget, 'schedule');
  const duration = durationIn(budget, 'duration');
  return schedule === undefined || duration === undefined ? undefined : wasHitWithin(schedule, duration, now);
}
