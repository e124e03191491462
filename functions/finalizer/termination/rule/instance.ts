/**
 * The rule of the instance: whose it is, whether it still runs, and how it ends. One call, whose intent is in the record before it, then looks until it is gone (I4).
 * Where Karpenter's finalizer is next to ours, Karpenter ends it, and the deadline is a promise all the same (I5). Pure: no I/O, no clock.
 */
import { deletionTimeOf, type KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import { readConditions } from '../../../../shared/domain/node.ts';
import { RUN_ENDS_WITHIN } from '../../../../shared/domain/run-end.ts';
import {
  addDuration,
  earliest,
  isDue,
  latest,
  minutes,
  retryWait,
  seconds,
  toDurationMs,
  type EpochMs,
} from '../../../../shared/domain/time.ts';
import type { CallAttempt, TerminationRecord } from '../record.ts';
import { isLive, isManaged, isRegistered } from './objects.ts';
import { nextLook } from './turn.ts';

/** Ownership of an instance, as a termination sees it. `none`: there never was one; `shared`: other NodeClaims have it; `unclaimed`: no NodeClaim has it. */
export type InstanceOwnership = 'ours' | 'none' | 'shared' | 'unclaimed';

/** The ownership of the instance: only one that a single NodeClaim has ends with it. */
export function ownershipOf(observed: {
  readonly claim: object | undefined;
  readonly providerID: string | undefined;
  readonly sharedWith: readonly string[];
}): InstanceOwnership {
  if (observed.providerID === undefined) return 'none';
  if (observed.sharedWith.length > 0) return 'shared';
  return observed.claim === undefined ? 'unclaimed' : 'ours';
}

/** Other NodeClaims that have the instance of this one. */
export interface InstanceSharing {
  /** Names of the others. If the NodeClaim is being deleted, only those that live count. */
  readonly sharedWith: readonly string[];
  /** Name of the one that ends the instance, where all are being deleted and this one waits for it. */
  readonly endedWith: string | undefined;
}

export const UNSHARED: InstanceSharing = { sharedWith: [], endedWith: undefined };

/** The sharing of an instance with others. @param others that have the instance of the NodeClaim, too */
export function instanceSharing(claim: KubernetesObject, others: readonly KubernetesObject[]): InstanceSharing {
  const sharedWith = others.filter(other => isLive(claim) || isLive(other)).map(({ metadata }) => metadata.name);
  const ender = endingClaim([claim, ...others]);
  const isOther = ender !== undefined && ender.metadata.uid !== claim.metadata.uid;
  return { sharedWith, endedWith: isOther ? ender.metadata.name : undefined };
}

/**
 * The NodeClaim in whose termination the instance ends, of several that are all being deleted: all look at the same order. One that has our
 * finalizer goes before one that nothing holds, and one whose Nodes are emptied before one that leaves them alone.
 */
export function endingClaim(claims: readonly KubernetesObject[]): KubernetesObject | undefined {
  if (claims.some(isLive)) return undefined;
  const timeOf = (claim: KubernetesObject): number => deletionTimeOf(claim) ?? 0;
  const [first] = claims.toSorted(
    (a, b) =>
      Number(isManaged(b)) - Number(isManaged(a)) ||
      Number(isRegistered(b)) - Number(isRegistered(a)) ||
      timeOf(a) - timeOf(b) ||
      (a.metadata.uid < b.metadata.uid ? -1 : 1),
  );
  return first;
}

/**
 * The Nodes without the mismatched. Such a Node is being deleted while both the NodeClaim and the Node that it names live: it merely states the same
 * instance, for example under an old name, and its deletion is its own.
 */
export function withoutMismatched(
  claim: KubernetesObject,
  nodes: readonly KubernetesObject[],
): readonly KubernetesObject[] {
  if (!isLive(claim)) return nodes;
  const isNamed = nodes.some(node => node.metadata.name === claim.status?.['nodeName'] && isLive(node));
  return isNamed ? nodes.filter(isLive) : nodes;
}

/** Whether the deletion of a Node, which empties it, or the end of the instance comes next: a NodeClaim that came meanwhile must be seen (I6). */
export const precedesDestructiveCall = (
  record: Pick<TerminationRecord, 'instance'> | undefined,
  nodes: readonly KubernetesObject[],
): boolean => nodes.some(isLive) || record?.instance?.phase === 'intended';

/** State of the instance as it was seen. `until`: EC2 does not know it, which is no answer before then. */
export type InstanceLook =
  | { readonly kind: 'gone' | 'shuttingDown' | 'stopped' | 'here' }
  | { readonly kind: 'tooYoung'; readonly until: EpochMs };

/** Facts that say whether an instance counts as missing, beside the look at it: without one nothing runs on the Node, as in Karpenter. */
interface Surroundings {
  /** A Node of it is Ready: then a kubelet speaks. */
  readonly hasReadyNode: boolean;
  /** The deadline has come. */
  readonly isForced: boolean;
}

/** Whether one of the Nodes is Ready. */
export const hasReadyNode = (nodes: readonly KubernetesObject[]): boolean => nodes.some(isReady);

const isReady = ({ status }: KubernetesObject): boolean =>
  readConditions(status?.['conditions']).some(({ type, status: state }) => type === 'Ready' && state === 'True');

/** Whether the step waits for EC2's answer. It does not where a kubelet speaks, nor at the deadline. */
export const needsAnswer = (around: Surroundings): boolean => !around.hasReadyNode && !around.isForced;

/**
 * Whether the instance is stopped or gone. A stopped instance runs nothing, whatever its Node still says. One that is gone counts so only while
 * no Node of it is Ready. Do not drain again once EC2 was asked to terminate the instance, and it goes. Whether a NodeClaim still stands for
 * the instance does not matter.
 *
 * @param look undefined: not known, so the Node is emptied like any other
 * @param attempt the call of this termination that ends the instance
 */
export function isMissing(
  look: InstanceLook | undefined,
  around: Surroundings,
  attempt: Pick<CallAttempt, 'phase'> | undefined,
): boolean {
  const isEndedByUs = !around.isForced && attempt?.phase === 'accepted';
  switch (look?.kind) {
    case 'stopped':
      return true;
    case 'gone':
      return isEndedByUs || !around.hasReadyNode;
    case 'shuttingDown':
      return isEndedByUs;
    case 'here':
    case 'tooYoung':
    case undefined:
      return false;
  }
}

/** Whether the instance is about to end, or has. @param look undefined: not known */
export const isEnding = (look: InstanceLook | undefined): boolean =>
  look?.kind === 'gone' || look?.kind === 'shuttingDown';

export interface InstanceObservation {
  readonly now: EpochMs;
  readonly providerID: string;
  readonly look: InstanceLook;
  /** Karpenter's finalizer is on the NodeClaim, too. */
  readonly isKarpenters: boolean;
  /** Deletion time of the NodeClaim. */
  readonly deletion: EpochMs;
  readonly deadline: EpochMs | undefined;
  readonly isForced: boolean;
  /** The last call that the record knows. */
  readonly attempt: CallAttempt | undefined;
  /** Number of the call that this run has noted down and not made yet. */
  readonly ownAttempt: number | undefined;
  /** The refusal that the next call waits for. */
  readonly refused: { readonly message: string; readonly until: EpochMs } | undefined;
}

interface Wait {
  readonly kind: 'wait';
  readonly on: string;
  readonly until: EpochMs;
}

export type InstanceEffect =
  | { readonly kind: 'done' }
  | Wait
  /** The call is noted down; the next turn makes it. */
  | { readonly kind: 'recordCall'; readonly attempt: CallAttempt }
  | { readonly kind: 'call'; readonly attempt: CallAttempt };

/** Time after the deadline that Karpenter may take; its own deadline is the same. */
const KARPENTER_GRACE = minutes(1);

export function nextForInstance(observation: InstanceObservation): InstanceEffect {
  const { now, providerID, look, isKarpenters, deletion, attempt } = observation;
  if (look.kind === 'gone') return { kind: 'done' };
  if (look.kind === 'tooYoung') {
    return wait(`EC2 does not know instance ${providerID}, which is too young for that to be certain`, look.until);
  }
  if (look.kind === 'shuttingDown') {
    // At the deadline nobody waits for an end that is certain.
    if (observation.isForced) return { kind: 'done' };
    const since = isKarpenters ? deletion : (attempt?.intendedTime ?? deletion);
    return wait(`instance ${providerID} is shutting down`, instanceLook(now, since));
  }
  if (isKarpenters) {
    const end = karpenterEnd(observation);
    if (end === undefined || !isDue(now, end)) {
      return wait(`Karpenter ends instance ${providerID}`, earliest(instanceLook(now, deletion), end));
    }
  }
  return nextCall(observation);
}

const wait = (on: string, until: EpochMs): Wait => ({ kind: 'wait', on, until });

/** Time until which Karpenter may end the instance by itself; undefined: there is no deadline. */
const karpenterEnd = ({ deletion, deadline }: InstanceObservation): EpochMs | undefined =>
  deadline === undefined ? undefined : addDuration(latest(deadline, deletion), KARPENTER_GRACE);

/** The next call that ends the instance: after what the last one came to is certain, and noted down before it is made (I4). */
function nextCall({ now, providerID, attempt, ownAttempt, refused }: InstanceObservation): InstanceEffect {
  const isOwn = attempt !== undefined && attempt.number === ownAttempt;
  const callOfOther = isOwn ? undefined : attempt;
  const settledTime = callOfOther && addDuration(callOfOther.intendedTime, RUN_ENDS_WITHIN);
  if (callOfOther !== undefined && settledTime !== undefined && !isDue(now, settledTime)) {
    const which = `attempt ${callOfOther.number} to end instance ${providerID}`;
    const isNoted = callOfOther.phase === 'intended';
    return wait(isNoted ? `${which} may be under way` : `the instance runs after ${which}`, settledTime);
  }
  if (refused !== undefined)
    return wait(`instance ${providerID} could not be ended: ${refused.message}`, refused.until);
  if (isOwn && attempt.phase === 'intended') return { kind: 'call', attempt };
  return { kind: 'recordCall', attempt: { number: (attempt?.number ?? 0) + 1, phase: 'intended', intendedTime: now } };
}

/**
 * The attempt after a call that was refused: it had no effect, and has settled. A refusal that may pass is tried again after 5 s, 10 s, 20 s …
 * 60 s.
 *
 * @param refused `isPassing`: it may pass within seconds
 */
export function afterRefusedCall(
  now: EpochMs,
  { number }: Pick<CallAttempt, 'number'>,
  refused: { readonly until: EpochMs; readonly isPassing: boolean },
): { readonly attempt: CallAttempt; readonly until: EpochMs } {
  const delay = refused.isPassing ? retryWait(number) : seconds(0);
  // Dated so that it has settled when the next one is due, and not before, whatever wakes us.
  const intendedTime = addDuration(now, toDurationMs(delay - RUN_ENDS_WITHIN));
  return {
    attempt: { number, phase: 'accepted', intendedTime },
    until: refused.isPassing ? addDuration(now, delay) : refused.until,
  };
}

/** Bounds of the time between looks at an instance that is about to end. */
const INSTANCE_LOOKS = { least: seconds(5), most: minutes(1), share: 0.5 };

/**
 * Time when an instance that is about to end is looked at again: after 5 s, 10 s, 15 s, 22 s, 34 s …, so late by half the time that its end
 * takes. Nothing wakes the termination: EC2's events carry no tags, so each deployment of an account would be sent the end of every instance in
 * it.
 *
 * @param since when its end began
 */
export const instanceLook = (now: EpochMs, since: EpochMs): EpochMs => nextLook(since, now, INSTANCE_LOOKS);
