/**
 * Time at which a pod in mode `DeleteAfterTimeout` is deleted: at the time-out, at the end of its protection if that comes later (I2), or not at
 * all where the drain ends before. The drain, its Events and the command line share this answer. Pure.
 */
import { forceTime } from '../../../shared/domain/forced-deletion.ts';
import type { PodView } from '../../../shared/domain/pod.ts';
import { isActive, protectionOf, type ProtectionPolicy } from '../../../shared/domain/protection.ts';
import { earliest, type EpochMs } from '../../../shared/domain/time.ts';

export interface DeletionTimes {
  /** Instant at which pods in mode `DeleteAfterTimeout` are deleted. */
  readonly deleteTime: EpochMs;
  /** Instant by which unprotected pods are gone, since they are deleted in time; undefined: none is. */
  readonly forcedEndTime: EpochMs | undefined;
  /** Instant at which the drain ends, whatever is left; undefined: no policy sets one. */
  readonly deadline: EpochMs | undefined;
  readonly protection: ProtectionPolicy;
  /** The node's NodeClaim is past its forceful termination: protection does not count any more. */
  readonly isProtectionOverridden: boolean;
}

export type TimedDeletion =
  | { readonly kind: 'atTimeout'; readonly time: EpochMs }
  /** Its protection ends later than the time-out. */
  | { readonly kind: 'atExpiry'; readonly time: EpochMs }
  /** It is protected without end; `time`: the time-out. */
  | { readonly kind: 'onceUnprotected'; readonly time: EpochMs }
  /** The drain ends before the pod would be deleted. */
  | { readonly kind: 'kept'; readonly deadline: EpochMs; readonly isProtected: boolean };

/** The deletion of the pod as it stands, unless it ends before. */
export function timedDeletionOf(pod: PodView, times: DeletionTimes): TimedDeletion {
  const { deleteTime, forcedEndTime, deadline } = times;
  const timeout = earliest(deleteTime, forceTime(pod, forcedEndTime)) ?? deleteTime;
  const protection = protectionOf(pod, times.protection);
  const isProtected = !times.isProtectionOverridden && isActive(protection, timeout);
  const time = isProtected && protection.kind === 'until' ? protection.expiry : timeout;
  // A deadline that forces deletes at its own instant too.
  const isOver = deadline !== undefined && (forcedEndTime === undefined ? deadline <= time : deadline < time);
  if (isOver) return { kind: 'kept', deadline, isProtected };
  if (!isProtected) return { kind: 'atTimeout', time };
  return { kind: protection.kind === 'until' ? 'atExpiry' : 'onceUnprotected', time };
}
