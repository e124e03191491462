/**
 * Handles an act that was not accepted: what the record keeps, when the node is looked at again, what is reported, and
 * what a refused act leaves to take back.
 */
import type { ActResult, Failure, ActOutcome, PassDeps } from './context.ts';
import { reportRefusal } from './attempt-report.ts';
import type { ObservedPool } from './observe.ts';
import { afterRefusedAct, LOOK_AGAIN_AFTER, type NotedRefusal, noteRefusedAct, type RefusedAct } from './decide.ts';
import { takeBack, type TakenBack } from './take-back.ts';
import { judgeTime, withoutAttempt } from './rule/attempt.ts';
import type { NodeFinding } from './rule/finding.ts';
import type { NodeRecord } from './node-record.ts';
import { getNodeClaimView } from '../../shared/cluster/lists.ts';
import { addDuration, type EpochMs } from '../../shared/domain/time.ts';
import { messageOf } from '../../shared/errors.ts';
import { causeOf } from '../../shared/lifecycle/refusals.ts';

/** Change of a node's finding by its act. */
export interface FindingChange {
  readonly change: Partial<Pick<NodeFinding, 'record' | 'verdict' | 'state'>>;
  readonly time: EpochMs | undefined;
  /** Failure of a try to take leftovers back. */
  readonly failure?: { readonly error: unknown } | undefined;
}

interface ActNotAccepted {
  readonly outcome: Exclude<ActOutcome, { kind: 'accepted' }>;
  /** The record with what the act has made. */
  readonly withMade: NodeRecord;
  /** Time at which a node that was acted on is looked at again. */
  readonly time: EpochMs;
}

/**
 * The record and the next look after an act that was not accepted (I4). The next pass comes at once if nothing was
 * done. If the outcome is unknown, it waits until this run must be over.
 */
export async function afterActNotAccepted(
  deps: PassDeps,
  observed: ObservedPool,
  result: ActResult,
  { outcome, withMade, time }: ActNotAccepted,
): Promise<FindingChange> {
  const { granted, record } = result;
  const { finding, attempt } = granted;
  const now = deps.clock.now();
  const recordBefore = finding.record ?? record;
  switch (outcome.kind) {
    case 'overtaken':
      // Somebody else's act is not recorded as ours.
      return { change: { record: { ...recordBefore, attempt: undefined } }, time };
    case 'unknown': {
      const runOver = judgeTime(attempt);
      const cause = attempt.action === 'Terminate' ? causeOf(outcome.error) : undefined;
      if (cause === undefined) return { change: { record: withMade }, time: runOver };
      // If it has not taken effect it is tried again, ever less often, as what is refused.
      const failure = { message: messageOf(outcome.error), reason: 'ActionRefused', cause, isCertain: false };
      const { noted } = await noteAndReport(deps, observed, result, failure);
      return { change: { record: { ...withMade, refusals: noted.refusals } }, time: runOver };
    }
    case 'calledOff': {
      const known = finding.verdict.unfinished ? record.leftovers : recordBefore.leftovers;
      // We may have set the annotation before the NodeClaim changed: keep it as ours to take back (I7).
      const leftovers =
        attempt.action === 'Terminate' ? withoutAttempt({ ...record, leftovers: known }, attempt).leftovers : known;
      const kept = { ...recordBefore, number: record.number, leftovers: leftovers };
      const state = recordBefore.attempt === undefined ? 'followed' : 'inFlight';
      return { change: { record: kept, verdict: undefined, state }, time: addDuration(now, LOOK_AGAIN_AFTER) };
    }
    case 'refused':
      return afterRefusal(deps, observed, result, outcome);
  }
}

/**
 * Handles an act that certainly was not carried out: another action may have its turn, and what was set is taken back.
 */
async function afterRefusal(
  deps: PassDeps,
  observed: ObservedPool,
  result: ActResult,
  failure: Failure,
): Promise<FindingChange> {
  const { granted, record } = result;
  const { finding, attempt } = granted;
  const { ladder } = finding.verdict;
  const { refused, noted } = await noteAndReport(deps, observed, result, { ...failure, isCertain: true });
  const after = afterRefusedAct(refused, noted, { record, ladder, pause: observed.poolRecord.launchPause });
  const isAnnotated = after.record.leftovers?.annotation !== undefined;
  const live = attempt.claim && isAnnotated ? await getNodeClaimView(deps, attempt.claim.name) : undefined;
  const claims = new Map(live === undefined ? [] : [[live.uid, live]]);
  const takenBack: TakenBack = noted.keepsTurn
    ? { record: after.record, time: undefined }
    : await takeBack(deps, observed.origin, { node: finding.node, record: after.record, claims }).catch(
        (error: unknown) => ({ record: after.record, time: undefined, failure: { error } }),
      );
  const { state, time } = after;
  return { change: { record: takenBack.record, verdict: undefined, state }, time, failure: takenBack.failure };
}

/** Reports the refusal if it is news. Answers what the record keeps of it. */
async function noteAndReport(
  deps: PassDeps,
  { basisOf, claims, origin }: ObservedPool,
  { granted: { finding, attempt, action }, record }: ActResult,
  { cause, message, reason, isCertain }: Failure & Pick<RefusedAct, 'isCertain'>,
): Promise<{ readonly refused: RefusedAct; readonly noted: NotedRefusal }> {
  const before = finding.record ?? record;
  const basis = basisOf(attempt.claim && claims.get(attempt.claim.uid));
  const { laterActions } = finding.verdict;
  const act = { attempt, action, laterActions, before, isCertain };
  const refused = { ...act, now: deps.clock.now(), cause, message, basis };
  const noted = noteRefusedAct(refused);
  const { text, reportKind } = noted;
  if (reportKind !== undefined)
    await reportRefusal(deps, origin, { node: finding.node, attempt, reason, text }, reportKind);
  return { refused, noted };
}
