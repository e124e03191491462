/** An act that was not carried out: it is reported where that is news, and what it has set is taken back. */
import type { ActResult, Failure, PassDeps } from './context.ts';
import { reportRefusal } from './attempt-report.ts';
import type { ObservedPool } from './observe.ts';
import { afterRefusedAct, noteRefusedAct, type NotedRefusal, type RefusedAct } from './rule/refused-act.ts';
import { takeBack } from './take-back.ts';
import type { NodeFinding } from './rule/verdict.ts';
import { getNodeClaimView } from '../../shared/cluster/lists.ts';
import type { Refusals } from '../../shared/domain/refusal.ts';
import type { EpochMs } from '../../shared/domain/time.ts';

/** What a node's finding is after its act. */
export interface FindingChange {
  readonly change: Partial<Pick<NodeFinding, 'record' | 'verdict' | 'state'>>;
  readonly time: EpochMs | undefined;
  /** What could not be taken back. */
  readonly failure?: { readonly error: unknown } | undefined;
}

/** It certainly was not carried out: another action may have its turn, and what was set is taken back. */
export async function afterRefusal(
  deps: PassDeps,
  observed: ObservedPool,
  result: ActResult,
  failure: Failure,
): Promise<FindingChange> {
  const { granted, record } = result;
  const { finding, attempt, ladder } = granted;
  const { refused, noted } = await noteAndReport(deps, observed, result, { ...failure, isCertain: true });
  const after = afterRefusedAct(refused, noted, { record, ladder, pause: observed.state.launchPause });
  const isAnnotated = after.record.ours?.annotation !== undefined;
  const live = attempt.claim && isAnnotated ? await getNodeClaimView(deps, attempt.claim.name) : undefined;
  const claims = new Map(live === undefined ? [] : [[live.uid, live]]);
  let failed: FindingChange['failure'];
  const left = noted.keepsTurn
    ? after
    : await takeBack(deps, observed.origin, { node: finding.node, record: after.record, claims }).catch(
        (error: unknown) => {
          failed = { error };
          return after;
        },
      );
  return { change: { record: left.record, verdict: undefined, state: after.state }, time: after.time, failure: failed };
}

/**
 * It may have taken effect, and is tried again where it has not: ever less often, as what is refused. Answers what is
 * remembered.
 */
export async function afterFailure(
  deps: PassDeps,
  observed: ObservedPool,
  result: ActResult,
  failure: Failure,
): Promise<Refusals> {
  return (await noteAndReport(deps, observed, result, { ...failure, isCertain: false })).noted.refusals;
}

/** Says it where that is news. Answers what is to be remembered. */
async function noteAndReport(
  deps: PassDeps,
  { basisOf, claims, origin }: ObservedPool,
  { granted: { finding, attempt, action }, record }: ActResult,
  { cause, message, reason, isCertain }: Failure & Pick<RefusedAct, 'isCertain'>,
): Promise<{ readonly refused: RefusedAct; readonly noted: NotedRefusal }> {
  const before = finding.record ?? record;
  const basis = basisOf(attempt.claim && claims.get(attempt.claim.uid));
  const refused = { now: deps.clock.now(), attempt, action, before, isCertain, cause, message, basis };
  const noted = noteRefusedAct(refused);
  const { text, reportKind } = noted;
  if (reportKind !== undefined)
    await reportRefusal(deps, origin, { node: finding.node, attempt, reason, text }, reportKind);
  return { refused, noted };
}
