/** Handles an act that was not accepted: what is reported of it, and what it leaves to take back. */
import type { ActOutcome, ActResult, Failure, PassDeps } from './context.ts';
import { reportRefusal } from './attempt-report.ts';
import type { ObservedPool } from './observe.ts';
import {
  afterAct,
  afterRefusedAct,
  type FindingChange,
  type NotedRefusal,
  noteRefusedAct,
  type RefusedAct,
} from './node/record-changes/after-act.ts';
import { takeBack, type TakenBack } from './take-back.ts';
import { getNodeClaimView } from '../../shared/cluster/lists.ts';
import { messageOf } from '../../shared/errors.ts';
import { causeOf } from '../../shared/lifecycle/refusals.ts';

/** Change of a node's finding by its act. @property failure failure of a try to take leftovers back */
export interface ActChange extends FindingChange {
  readonly failure?: { readonly error: unknown } | undefined;
}

/** Reports an act that was not accepted, if it was refused, and takes back what it leaves. */
export async function afterActNotAccepted(
  deps: PassDeps,
  observed: ObservedPool,
  result: ActResult,
  outcome: Exclude<ActOutcome, { kind: 'accepted' }>,
): Promise<ActChange> {
  const now = deps.clock.now();
  switch (outcome.kind) {
    case 'overtaken':
    case 'calledOff':
      return afterAct(outcome, result, now);
    case 'unknown': {
      const { kind, error } = outcome;
      const cause = result.granted.attempt.action === 'Terminate' ? causeOf(error) : undefined;
      if (cause === undefined) return afterAct({ kind }, result, now);
      // If it has not taken effect it is tried again, ever less often, as what is refused.
      const failure = { message: messageOf(error), reason: 'ActionRefused', cause, isCertain: false };
      const { noted } = await noteAndReport(deps, observed, result, failure);
      return afterAct({ kind, refusals: noted.refusals }, result, now);
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
): Promise<ActChange> {
  const { granted, record } = result;
  const { finding, attempt } = granted;
  const { ladder } = finding.verdict;
  const { refused, noted } = await noteAndReport(deps, observed, result, { ...failure, isCertain: true });
  const after = afterRefusedAct(refused, noted, { record, ladder, pause: observed.poolRecord.launchPause });
  const { annotation, maintenance = false } = after.record.leftovers ?? {};
  const isClaimMarked = annotation !== undefined || maintenance;
  const live = attempt.claim && isClaimMarked ? await getNodeClaimView(deps, attempt.claim.name) : undefined;
  const claims = new Map(live === undefined ? [] : [[live.uid, live]]);
  const takenBack: TakenBack = noted.keepsTurn
    ? { record: after.record, retryTime: undefined }
    : await takeBack(deps, observed.origin, { node: finding.node, record: after.record, claims }).catch(
        (error: unknown) => ({ record: after.record, retryTime: undefined, failure: { error } }),
      );
  const { attemptState, nextLookTime } = after;
  return {
    change: { record: takenBack.record, verdict: undefined, attemptState },
    nextLookTime,
    failure: takenBack.failure,
  };
}

/** Reports the refusal if it is news. Answers what the record keeps of it. */
async function noteAndReport(
  deps: PassDeps,
  { basisOf, claims, origin }: ObservedPool,
  { granted: { finding, attempt, action } }: ActResult,
  { cause, message, reason, isCertain }: Failure & Pick<RefusedAct, 'isCertain'>,
): Promise<{ readonly refused: RefusedAct; readonly noted: NotedRefusal }> {
  const before = finding.record;
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
