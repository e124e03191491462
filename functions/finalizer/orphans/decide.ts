/**
 * The rule of instances that may have been left behind, and of their entries in the ledger. Pure: no I/O, no clock.
 *
 * | question | function | in | asked by |
 * |---|---|---|---|
 * | what becomes of an instance and its entry | `decide` | `decide.ts` | `reconcile.ts` |
 * | which instances of a list are looked at | `orphanCandidates` | `rule/candidates.ts` | `wake-ups.ts` |
 */
import { addDuration, type EpochMs, hours, isDue, minutes } from '../../../shared/domain/time.ts';

/** Time between reports of a possible orphan, which is looked at on its own this often. */
export const ORPHAN_CHECK = hours(24);
/** Time after which a question that EC2 or the API server did not answer is asked again. */
const NO_ANSWER_CHECK = minutes(5);
/** The object of the cluster that has an instance. `unknown`: NodeClaims are not served, so nothing follows from their absence (I6). */
export type InstanceOwner = 'NodeClaim' | 'Node' | 'nothing' | 'unknown';

/** The instance, as a look found it. `state` is EC2's word. */
export type FoundInstance =
  /** EC2 or the API server does not answer. */
  | { readonly kind: 'unavailable' }
  /** It has ended or is about to. `instanceState` undefined: there is no such instance. */
  | { readonly kind: 'ending'; readonly instanceState: string | undefined }
  /** It may run. `instanceState` `unknown`: EC2 refuses to look at it, or does not know it yet. */
  | { readonly kind: 'present'; readonly instanceState: string; readonly owner: InstanceOwner };

export interface OrphanObservation {
  readonly now: EpochMs;
  readonly instance: FoundInstance;
  /** It was left by an object whose termination was not over: then a Node alone does not count, since it ends no instance. */
  readonly hasFormerOwner: boolean;
  /** Time when that termination left it; undefined: it is found just now. */
  readonly leftTime: EpochMs | undefined;
  /** The entry in the ledger. */
  readonly entry: { readonly since: EpochMs; readonly reportedTime: EpochMs; readonly forgotten?: boolean } | undefined;
}

export type OrphanDecision =
  /** No entry, and none is needed. */
  | { readonly kind: 'ignore' }
  /** The orphan is reported, now and again a day later. */
  | { readonly kind: 'report'; readonly since: EpochMs; readonly instanceState: string }
  | { readonly kind: 'wait'; readonly until: EpochMs }
  | { readonly kind: 'close'; readonly because: 'InstanceEnded'; readonly instanceState: string | undefined }
  | { readonly kind: 'close'; readonly because: 'InstanceHeld'; readonly owner: 'NodeClaim' | 'Node' };

/**
 * Decides about an instance. One that was left behind is reported once a day until it ends, is owned again, or somebody has it forgotten. Where
 * NodeClaims are not served, an instance that only a list has shown is not reported (I6).
 */
export function decide(observation: OrphanObservation): OrphanDecision {
  const { now, instance, hasFormerOwner, leftTime = now, entry } = observation;
  if (instance.kind === 'unavailable') return { kind: 'wait', until: addDuration(now, NO_ANSWER_CHECK) };
  if (instance.kind === 'ending')
    return entry === undefined
      ? { kind: 'ignore' }
      : { kind: 'close', because: 'InstanceEnded', instanceState: instance.instanceState };
  const { instanceState, owner } = instance;
  if (owner === 'NodeClaim' || (owner === 'Node' && !hasFormerOwner)) {
    return entry === undefined ? { kind: 'ignore' } : { kind: 'close', because: 'InstanceHeld', owner };
  }
  // What its own termination has left needs no list to be suspicious.
  const isUnknown = owner === 'unknown' && !hasFormerOwner;
  if (entry === undefined) return isUnknown ? { kind: 'ignore' } : { kind: 'report', since: leftTime, instanceState };
  // Silent, until the instance has ended or the cluster has it.
  if (entry.forgotten === true) return { kind: 'wait', until: addDuration(now, ORPHAN_CHECK) };
  const next = addDuration(entry.reportedTime, ORPHAN_CHECK);
  if (!isDue(now, next)) return { kind: 'wait', until: next };
  if (isUnknown) return { kind: 'wait', until: addDuration(now, ORPHAN_CHECK) };
  return { kind: 'report', since: entry.since, instanceState };
}
