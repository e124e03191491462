/**
 * The replacement of an unhealthy node is a NodeClaim that Karpenter launches. It is made of the NodePool's template,
 * with the size of the unhealthy node and in its zone, capacity type and architecture. A taint reserves it until it is
 * ready; the taint goes before the unhealthy NodeClaim does. From then on the replacement stays, whatever becomes of
 * the unhealthy node. We check that the NodePool has room for it: Karpenter does not apply its limits to a NodeClaim
 * that somebody else makes. Pure.
 */
import type { Replacement } from '../attempt-record.ts';
import type { LaunchPause } from '../../pool-record.ts';
import { isJsonObject, listIn, objectIn } from '../../../../shared/domain/json.ts';
import type { JsonObject, KubernetesManifest, KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import { NODE_POOL_LABEL, type NodeClaimView } from '../../../../shared/domain/node-claim.ts';
import {
  isConditionTrue,
  isReserved,
  type NodeView,
  POOL_HOLD_ANNOTATION,
  REPLACES_ANNOTATION,
  RESERVED_TAINT,
} from '../../../../shared/domain/node.ts';
import { DO_NOT_DISRUPT_ANNOTATION } from '../../../../shared/domain/pod.ts';
import { addDuration, doubledWait, type EpochMs, hours, isDue, minutes } from '../../../../shared/domain/time.ts';

const LONGEST_NAME = 63;

/** The name of the replacement's NodeClaim. @param attempt number of the launch, from 1 */
export function replacementName(pool: string, claimUid: string, attempt: number): string {
  const end = `-curfew-${claimUid.slice(0, 8)}${attempt === 1 ? '' : `-${attempt}`}`;
  return `${pool.slice(0, LONGEST_NAME - end.length).replace(/[^a-z0-9]+$/, '')}${end}`;
}

/** `gone`: Karpenter has given it up, or somebody has deleted it. */
export type ReplacementStatus =
  | { readonly kind: 'gone' }
  | { readonly kind: 'launching' }
  /** The Node of the replacement is there. @property isReleased its taint is off */
  | { readonly kind: 'ready' | 'unready'; readonly node: NodeView; readonly isReleased: boolean };

export interface PoolObjects {
  readonly claims: ReadonlyMap<string, NodeClaimView>;
  readonly nodesByName: ReadonlyMap<string, NodeView>;
}

export function replacementStatusOf(replacement: Replacement, { claims, nodesByName }: PoolObjects): ReplacementStatus {
  const claim = claimOf(replacement, claims);
  if (claim === undefined || claim.deletionTime !== undefined) return { kind: 'gone' };
  const node = claim.nodeName === undefined ? undefined : nodesByName.get(claim.nodeName);
  if (node === undefined || node.providerID !== claim.providerID) return { kind: 'launching' };
  const isReleased = !isReserved(node);
  const isReady =
    isConditionTrue(claim.conditions, 'Initialized') &&
    isConditionTrue(node.conditions, 'Ready') &&
    !isStarting(node, claim);
  return { kind: isReady ? 'ready' : 'unready', node, isReleased };
}

/** Whether pods may run on the replacement: its taint is off, or has been. */
export const isInUse = ({ releasedTime }: Replacement, status: ReplacementStatus): boolean =>
  releasedTime !== undefined || ('isReleased' in status && status.isReleased);

/**
 * The NodeClaim of the replacement. It is found by its UID once that is recorded, before that by its name and
 * annotation.
 */
const claimOf = ({ uid, name }: Replacement, claims: PoolObjects['claims']): NodeClaimView | undefined =>
  uid === undefined
    ? [...claims.values()].find(each => each.name === name && each.annotations[REPLACES_ANNOTATION] !== undefined)
    : claims.get(uid);

/** The replacement with what the cluster shows of it: its UID, and when its taint was first seen to be off. */
export function replacementNow(replacement: Replacement, objects: PoolObjects, now: EpochMs): Replacement {
  const uid = replacement.uid ?? claimOf(replacement, objects.claims)?.uid;
  const status = replacementStatusOf(replacement, objects);
  const isReleased = 'isReleased' in status && status.isReleased;
  const releasedTime = replacement.releasedTime ?? (isReleased ? now : undefined);
  return { ...replacement, ...(uid !== undefined && { uid }), ...(releasedTime !== undefined && { releasedTime }) };
}

/** Whether a taint of node-readiness-controller, or a startup taint of the pool, still keeps pods off the node. */
const isStarting = ({ taints = [] }: NodeView, { startupTaints = [] }: NodeClaimView): boolean =>
  taints.some(({ key }) => key.startsWith('readiness.k8s.io/') || startupTaints.includes(key));

/** A replacement loses its marks this long after its taint, even while the unhealthy node is still there. */
const MARKED_FOR = hours(1);

/**
 * The time from which its marks are taken off although the unhealthy node is still there; undefined: its taint is still
 * on.
 */
export const unmarkTime = ({ releasedTime }: Replacement): EpochMs | undefined =>
  releasedTime && addDuration(releasedTime, MARKED_FOR);

/** The pause of a pool after its first failed launch, and the longest one: each is twice the one before. */
const LAUNCH_PAUSE = { first: minutes(5), longest: hours(1) };

/** A pause is forgotten this long after its end. */
const PAUSE_REMEMBERED_FOR = hours(24);

export function pauseAfterFailure(pause: LaunchPause | undefined, now: EpochMs): LaunchPause {
  const failures = (pause?.failures ?? 0) + 1;
  return { failures, until: addDuration(now, doubledWait(LAUNCH_PAUSE.first, failures, LAUNCH_PAUSE.longest)) };
}

/** The time at which the pause is forgotten. */
export const pauseExpires = ({ until }: LaunchPause): EpochMs => addDuration(until, PAUSE_REMEMBERED_FOR);

/** The pause; undefined: it is forgotten. */
export const unexpiredPause = (pause: LaunchPause, now: EpochMs): LaunchPause | undefined =>
  isDue(now, pauseExpires(pause)) ? undefined : pause;

/** Labels copied from the unhealthy node. */
const KEPT_LABELS = ['topology.kubernetes.io/zone', 'karpenter.sh/capacity-type', 'kubernetes.io/arch'];

const HOSTNAME = 'kubernetes.io/hostname';

const HASHES = ['karpenter.sh/nodepool-hash', 'karpenter.sh/nodepool-hash-version'];

/** Fields copied from the NodePool's template. */
const TEMPLATE_FIELDS = ['nodeClassRef', 'expireAfter', 'terminationGracePeriod', 'startupTaints'] as const;

interface NewClaim {
  readonly name: string;
  readonly pool: KubernetesObject;
  /** The NodeClaim of the unhealthy node. */
  readonly unhealthyClaim: KubernetesObject;
  readonly node: NodeView;
}

export function replacementClaim({ name, pool, unhealthyClaim, node }: NewClaim): KubernetesManifest {
  const template = objectIn(pool.spec, 'template');
  const templateMetadata = objectIn(template, 'metadata');
  const spec = objectIn(template, 'spec');
  const kept = Object.fromEntries(
    TEMPLATE_FIELDS.flatMap(field => {
      const value = spec[field] ?? (field === 'nodeClassRef' ? unhealthyClaim.spec?.[field] : undefined);
      return value === undefined ? [] : [[field, value]];
    }),
  );
  const annotations = textsIn(templateMetadata, 'annotations');
  const poolHold = annotations[DO_NOT_DISRUPT_ANNOTATION];
  const hashes = Object.entries(unhealthyClaim.metadata.annotations ?? {}).filter(([key]) => HASHES.includes(key));
  const { apiVersion, kind } = pool;
  return {
    apiVersion: unhealthyClaim.apiVersion,
    kind: 'NodeClaim',
    metadata: {
      name,
      labels: { ...textsIn(templateMetadata, 'labels'), [NODE_POOL_LABEL]: pool.metadata.name },
      annotations: {
        ...annotations,
        ...Object.fromEntries(hashes),
        [DO_NOT_DISRUPT_ANNOTATION]: 'true',
        [REPLACES_ANNOTATION]: node.uid,
        ...(poolHold !== undefined && { [POOL_HOLD_ANNOTATION]: poolHold }),
      },
      ownerReferences: [{ apiVersion, kind, name: pool.metadata.name, uid: pool.metadata.uid }],
    },
    spec: {
      ...kept,
      taints: [...listIn(spec, 'taints'), { key: RESERVED_TAINT, effect: 'NoSchedule' }],
      requirements: requirementsOf(unhealthyClaim, node),
      ...(unhealthyClaim.spec?.['resources'] !== undefined && { resources: unhealthyClaim.spec['resources'] }),
    },
  };
}

function requirementsOf(unhealthyClaim: KubernetesObject, { labels }: NodeView): readonly JsonObject[] {
  const pinned = KEPT_LABELS.flatMap((key): JsonObject[] => {
    const value = labels[key];
    return value === undefined ? [] : [{ key, operator: 'In', values: [value] }];
  });
  const keys = new Set([HOSTNAME, ...pinned.map(({ key }) => key)]);
  const others = listIn(unhealthyClaim.spec, 'requirements').flatMap((each): JsonObject[] =>
    isJsonObject(each) && !(typeof each['key'] === 'string' && keys.has(each['key'])) ? [each] : [],
  );
  return [...others, ...pinned];
}

const textsIn = (object: JsonObject, key: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(objectIn(object, key)).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  );

/**
 * A replacement that would be launched.
 * @property uncounted number of replacements that the NodePool's status does not know of yet
 */
interface Launching {
  readonly unhealthyClaim: KubernetesObject;
  readonly uncounted: number;
  /** Number of NodeClaims of the pool. */
  readonly claims: number;
}

/** Counts the NodeClaims of the pool. Launches that were granted before in this pass count as if they existed. */
export function launchCapacityOf({
  claims,
  earlierLaunches,
}: Pick<PoolObjects, 'claims'> & { readonly earlierLaunches: number }): Omit<Launching, 'unhealthyClaim'> {
  const living = [...claims.values()].filter(({ deletionTime }) => deletionTime === undefined);
  const unlaunched = living.filter(
    each => each.annotations[REPLACES_ANNOTATION] !== undefined && each.providerID === undefined,
  );
  return { claims: living.length + earlierLaunches, uncounted: unlaunched.length + earlierLaunches };
}

/** Reason why the NodePool has no capacity for one more node; undefined: it has. */
export function launchCapacityFault(
  pool: KubernetesObject,
  { unhealthyClaim, uncounted, claims }: Launching,
): string | undefined {
  const { replicas } = pool.spec ?? {};
  const name = `NodePool ${pool.metadata.name}`;
  if (typeof replicas === 'number' && claims >= replicas) return `${name} is static, and has its ${replicas} nodes`;
  const limits = objectIn(pool.spec, 'limits');
  const used = objectIn(pool.status, 'resources');
  const need: JsonObject = {
    ...objectIn(objectIn(unhealthyClaim.spec, 'resources'), 'requests'),
    ...objectIn(unhealthyClaim.status, 'capacity'),
    nodes: 1,
  };
  for (const [resource, value] of Object.entries(limits)) {
    const limit = thousandths(value);
    const one = thousandths(need[resource]) ?? 0n;
    if (limit === undefined) return `limit ${resource} of ${name} cannot be read`;
    const after = (thousandths(used[resource]) ?? 0n) + one * BigInt(uncounted + 1);
    if (after > limit) return `limit ${resource} of ${name} is ${JSON.stringify(value)}: there is no room for one more`;
  }
  return undefined;
}

const QUANTITY = /^(\d+)(?:\.(\d*))?(?:([KMGTPE]i)|([numkMGTPE])|[eE](\d{1,2}))?$/;

const POWERS: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** Thousandths of a quantity, rounded up; undefined: it is none. */
function thousandths(value: unknown): bigint | undefined {
  const match = typeof value === 'string' || typeof value === 'number' ? QUANTITY.exec(String(value)) : null;
  if (match === null) return undefined;
  const [, whole = '', fraction = '', binary, decimal, exponent] = match;
  const factor = binary === undefined ? 1n : 1024n ** BigInt(BINARY.indexOf(binary) + 1);
  const power = (decimal === undefined ? Number(exponent ?? 0) : (POWERS[decimal] ?? 0)) + 3 - fraction.length;
  const digits = BigInt(`${whole}${fraction}`) * factor;
  if (power >= 0) return digits * 10n ** BigInt(power);
  const by = 10n ** BigInt(-power);
  return (digits + by - 1n) / by;
}
