/**
 * The replacement of an unhealthy node: its name, and how it stands by what is seen. It is reserved by a taint until it is ready; the taint goes
 * before the unhealthy NodeClaim does, and from then on it stays, whatever becomes of the unhealthy node. Pure.
 */
import type { LaunchPause, Replacement } from './record.ts';
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import { isReserved, type NodeCondition, type NodeView, REPLACES_ANNOTATION } from '../../shared/domain/node.ts';
import { addDuration, doubledWait, type EpochMs, hours, isDue, minutes } from '../../shared/domain/time.ts';

const LONGEST_NAME = 63;

/** @param attempt from 1 */
export function replacementName(pool: string, claimUid: string, attempt: number): string {
  const end = `-curfew-${claimUid.slice(0, 8)}${attempt === 1 ? '' : `-${attempt}`}`;
  return `${pool.slice(0, LONGEST_NAME - end.length).replace(/[^a-z0-9]+$/, '')}${end}`;
}

/** `gone`: Karpenter has given it up, or somebody has deleted it. */
export type ReplacementStatus =
  | { readonly kind: 'gone' }
  | { readonly kind: 'launching' }
  /** @param isReleased its taint is off */
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
    isTrue(claim.conditions, 'Initialized') && isTrue(node.conditions, 'Ready') && !isStarting(node, claim);
  return { kind: isReady ? 'ready' : 'unready', node, isReleased };
}

/** Whether one of the conditions says so. */
export const isTrue = (list: readonly NodeCondition[] | undefined, type: string): boolean =>
  list?.some(each => each.type === type && each.status === 'True') === true;

/** Known by its UID once that is recorded, before by its name and mark. */
const claimOf = ({ uid, name }: Replacement, claims: PoolObjects['claims']): NodeClaimView | undefined =>
  uid === undefined
    ? [...claims.values()].find(each => each.name === name && each.annotations[REPLACES_ANNOTATION] !== undefined)
    : claims.get(uid);

/** With what is seen of it: its UID, and when its taint was off for the first time. */
export function replacementNow(replacement: Replacement, objects: PoolObjects, now: EpochMs): Replacement {
  const uid = replacement.uid ?? claimOf(replacement, objects.claims)?.uid;
  const status = replacementStatusOf(replacement, objects);
  const isReleased = 'isReleased' in status && status.isReleased;
  const releasedTime = replacement.releasedTime ?? (isReleased ? now : undefined);
  return { ...replacement, ...(uid !== undefined && { uid }), ...(releasedTime !== undefined && { releasedTime }) };
}

/** A rule of node-readiness-controller, or a start-up taint of the pool, still keeps it closed. */
const isStarting = ({ taints = [] }: NodeView, { startupTaints = [] }: NodeClaimView): boolean =>
  taints.some(({ key }) => key.startsWith('readiness.k8s.io/') || startupTaints.includes(key));

const MARKED_FOR = hours(1);

/** From when on its marks are taken off although the unhealthy node is still there; undefined: its taint is still on. */
export const unmarkTime = ({ releasedTime }: Replacement): EpochMs | undefined =>
  releasedTime && addDuration(releasedTime, MARKED_FOR);

export function nextPause(pause: LaunchPause | undefined, now: EpochMs): LaunchPause {
  const failures = (pause?.failures ?? 0) + 1;
  return { failures, until: addDuration(now, doubledWait(minutes(5), failures, hours(1))) };
}

/** Forgotten once it was of no use for a day. */
export const pauseAt = (pause: LaunchPause, now: EpochMs): LaunchPause | undefined =>
  isDue(now, addDuration(pause.until, hours(24))) ? undefined : pause;
