/**
 * The attempts in a pool's record: their outcomes, found by looking at Node and NodeClaim (I4), and how far each is on the ladder
 * `repair.actions`. Pure.
 */
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import type { RepairAction, RepairSettings } from '../../../shared/domain/repair-policy.ts';
import { addDuration, isDue, latest, seconds, type EpochMs } from '../../../shared/domain/time.ts';
import { holdsPastInstant, type RepairRules } from '../decide.ts';
import { notTaken, placeAfterObserving } from './place.ts';
import type { RepairAttempt, Rung } from './pool.ts';

/** `DrainThenTerminate` is two rungs: a drain of at most its timeout, and the termination. */
export function rungsOf({ actions }: Pick<RepairSettings, 'actions'>): readonly Rung[] {
  return actions.flatMap(({ type, timeout, template }: RepairAction): Rung[] => {
    if (type === 'DrainThenTerminate') {
      return [
        { type: 'Drain', timeout },
        { type: 'Terminate', timeout },
      ];
    }
    return [{ type, timeout, ...(template !== undefined && { template }) }];
  });
}

/** Until when an attempt at this rung may take; a termination takes as long as it takes. */
export function rungDeadline(rung: Rung, now: EpochMs): EpochMs | undefined {
  return rung.type === 'Terminate' ? undefined : addDuration(now, rung.timeout);
}

/**
 * Where an attempt stands: it has time left (`waiting`), the next rung follows (`next`), or nothing is left to try (`exhausted`):
 * the same act is not repeated for the same incident. A ladder that was edited meanwhile begins again.
 */
export type Standing =
  { readonly kind: 'waiting' } | { readonly kind: 'next'; readonly rung: number } | { readonly kind: 'exhausted' };

/** @param rungs the ladder as it is configured now */
export function standingOf(attempt: RepairAttempt, rungs: readonly Rung[], now: EpochMs): Standing {
  const { phase, answer, until } = attempt;
  if (phase === 'intended' || phase === 'refused') return { kind: 'waiting' };
  if (answer?.kind === 'stopped') return { kind: 'exhausted' };
  if (answer === undefined && (until === undefined || !isDue(now, until))) return { kind: 'waiting' };
  const rung = rungs[attempt.rung]?.type === attempt.action ? attempt.rung + 1 : 0;
  return rung < rungs.length ? { kind: 'next', rung } : { kind: 'exhausted' };
}

/** What counts against the limits on concurrent repairs: until nothing is left to try. */
export function underWayOf(
  attempts: readonly RepairAttempt[],
  settings: RepairRules['settings'],
  now: EpochMs,
): readonly RepairAttempt[] {
  if (settings === undefined || 'invalid' in settings) return attempts;
  return attempts.filter(attempt => standingOf(attempt, rungsOf(settings), now).kind !== 'exhausted');
}

/**
 * How long the attempt of another run may still act: a function runs for at most 30 s, what it sent last may take effect some seconds later, and
 * the two clocks may differ.
 */
export const OUTCOME_SETTLES_AFTER = seconds(60);

/** From when on an attempt without an outcome is judged by what is seen. */
export const settledTime = ({ intendedTime, retryTime }: RepairAttempt): EpochMs => {
  const settled = addDuration(intendedTime, OUTCOME_SETTLES_AFTER);
  return retryTime === undefined ? settled : latest(settled, retryTime);
};

export interface OpenAttempts {
  /** Under way, in this pool's budget. */
  readonly kept: readonly RepairAttempt[];
  readonly byNode: ReadonlyMap<string, RepairAttempt>;
  /** Not carried out by a run that ended; the run that tries again takes their numbers over. */
  readonly stale: readonly RepairAttempt[];
  /** To be taken back: not carried out and their nodes are gone, or over and something that they made is left. */
  readonly withdrawals: readonly RepairAttempt[];
  /** Of runs that ended, without an outcome, and their nodes are gone: nothing else will say that they took place. */
  readonly lost: readonly RepairAttempt[];
  /** Of runs that ended without saying so, and a look shows that they took place, or nothing can show that they did not. */
  readonly found: readonly RepairAttempt[];
  /** Accepted terminations whose NodeClaims are gone. */
  readonly claimless: ReadonlySet<RepairAttempt>;
  /** When the next intended attempt of another run can be judged, or a refused one be tried again. */
  readonly settleTime: EpochMs | undefined;
}

/** What a run did not carry out at this node, for an illness that has not ended. */
export const staleOf = ({ uid }: NodeView, { stale }: OpenAttempts): RepairAttempt | undefined =>
  stale.find(attempt => attempt.node.uid === uid && attempt.wellTime === undefined);

interface Seen {
  readonly now: EpochMs;
  readonly nodes: readonly NodeView[];
  readonly claims: readonly NodeClaimView[];
  readonly observeOnly: boolean;
}

/**
 * Judges each recorded attempt by its node and NodeClaim as they are now. Where nothing can show that an act did not
 * take place, it counts as done (I4).
 */
export function sortAttempts(
  attempts: readonly RepairAttempt[],
  { now, nodes, claims, observeOnly }: Seen,
): OpenAttempts {
  const nodeUids = new Set(nodes.map(({ uid }) => uid));
  const claimsByUid = new Map(claims.map(claim => [claim.uid, claim]));
  const kept: RepairAttempt[] = [];
  const stale: RepairAttempt[] = [];
  const withdrawals: RepairAttempt[] = [];
  const lost: RepairAttempt[] = [];
  const found: RepairAttempt[] = [];
  const claimless = new Set<RepairAttempt>();
  let settleTime: EpochMs | undefined;
  const drop = (attempt: RepairAttempt): void => {
    const { resources, mayHaveMade, phase } = attempt;
    const isAnythingLeft = resources !== undefined || mayHaveMade !== undefined;
    if (isAnythingLeft || phase === 'intended' || phase === 'refused') withdrawals.push(attempt);
  };
  const wait = (attempt: RepairAttempt, until: EpochMs): void => {
    kept.push(attempt);
    settleTime = settleTime === undefined || until < settleTime ? until : settleTime;
  };
  for (const attempt of attempts) {
    const isNodeThere = nodeUids.has(attempt.node.uid);
    switch (attempt.phase) {
      case 'observed': {
        // In mode Enforce it stands for nothing that happened; what happened before it still counts.
        const seen = observeOnly ? attempt : placeAfterObserving(attempt);
        if (isNodeThere && seen !== undefined) kept.push(seen);
        else drop(attempt);
        continue;
      }
      case 'accepted':
        if (isNodeThere && !isUndone(attempt, claimsByUid)) kept.push(attempt);
        else drop(attempt);
        if (attempt.action === 'Terminate' && attempt.claim !== undefined && !claimsByUid.has(attempt.claim.uid))
          claimless.add(attempt);
        continue;
      case 'refused': {
        const { retryTime = now, until, answer } = attempt;
        if (!isNodeThere) drop(attempt);
        else if (until !== undefined && isDue(now, until)) {
          kept.push(notTaken(attempt, answer?.message ?? ''));
        } else if (isDue(now, retryTime)) stale.push(attempt);
        else wait(attempt, retryTime);
        continue;
      }
      case 'intended': {
        const settled = settledTime(attempt);
        if (!isDue(now, settled)) wait(attempt, settled);
        else if (isNodeThere && wasCarriedOut(attempt, claimsByUid, now)) {
          found.push(attempt);
          kept.push({ ...attempt, phase: 'accepted' });
        } else if (isNodeThere) stale.push(attempt);
        else {
          lost.push(attempt);
          drop(attempt);
        }
      }
    }
  }
  const byNode = new Map(kept.map(attempt => [attempt.node.uid, attempt]));
  return { kept, byNode, stale, withdrawals, lost, found, claimless, settleTime };
}

/**
 * A termination that was begun: the NodeClaim is gone, or on its way and forceful. A graceful deletion that somebody else had begun is
 * not what the attempt was for. Nothing tells for certain that a machine was not rebooted, so that counts as carried out, and the next
 * rung follows when its time is over. What is asked for under an id of its own can be asked for again.
 */
function wasCarriedOut(
  { action, claim }: RepairAttempt,
  claims: ReadonlyMap<string, NodeClaimView>,
  now: EpochMs,
): boolean {
  switch (action) {
    case 'Reboot':
      return true;
    case 'Drain':
    case 'CustomResource':
      return false;
    case 'Terminate': {
      // Without a NodeClaim the instance was looked at before (`carry-out.ts`), and had not been ended.
      if (claim === undefined) return false;
      const seen = claims.get(claim.uid);
      return seen === undefined || (seen.deletionTime !== undefined && holdsPastInstant(seen, now));
    }
  }
}

/** Accepted, and yet the NodeClaim stands there as if nothing had happened. */
function isUndone({ action, claim, answer }: RepairAttempt, claims: ReadonlyMap<string, NodeClaimView>): boolean {
  if (action !== 'Terminate' || claim === undefined || answer !== undefined) return false;
  const seen = claims.get(claim.uid);
  return seen !== undefined && seen.deletionTime === undefined;
}

/** Those that the answer to a question shows to be carried out. @param after the same attempts in the same order */
export const acceptedSince = (
  before: readonly RepairAttempt[],
  after: readonly RepairAttempt[],
): readonly RepairAttempt[] =>
  after.filter(({ phase }, index) => phase === 'accepted' && before[index]?.phase === 'intended');
