/**
 * An act that was not carried out: it is reported where that is news, and remembered, so that it is tried ever less
 * often.
 */
import { withoutAttempt } from './rule/attempt.ts';
import type { ActResult, Failure, PassDeps } from './context.ts';
import { isTransient, nextAction } from './rule/ladder.ts';
import { reportRefusal } from './attempt-report.ts';
import { type ObservedPool } from './observe.ts';
import type { NodeRecord } from './record.ts';
import { takeBack } from './take-back.ts';
import type { NodeFinding } from './rule/verdict.ts';
import { getNodeClaimView } from '../../shared/cluster/lists.ts';
import { noteRefusal, type Refusals, textOfRefusal } from '../../shared/domain/refusal.ts';
import { addDuration, earliest, type EpochMs, seconds } from '../../shared/domain/time.ts';

/** What was not carried out is looked at again, and others may take its place. */
export const AT_ONCE = seconds(1);

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
  const { key } = attempt;
  const now = deps.clock.now();
  const before = finding.record ?? record;
  const { basis, isSkipped, keepsTurn, refusals } = await rememberRefusal(deps, observed, result, {
    ...failure,
    isCertain: true,
  });
  const over = withoutAttempt({ ...before, attempt }, attempt);
  const { incident } = over;
  const undone: NodeRecord = {
    ...over,
    ours: { ...record.ours, ...over.ours },
    number: record.number,
    ...(record.launched !== undefined && { launched: record.launched }),
    ...(isSkipped
      ? { incident: incident && { ...incident, skipped: [...new Set([...(incident.skipped ?? []), key])] } }
      : { refusals }),
    attempt: before.attempt,
  };
  const live = attempt.claim && undone.ours?.annotation ? await getNodeClaimView(deps, attempt.claim.name) : undefined;
  const claims = new Map(live === undefined ? [] : [[live.uid, live]]);
  let failed: FindingChange['failure'];
  const left = keepsTurn
    ? { record: undone }
    : await takeBack(deps, observed.scope, { node: finding.node, record: undone, claims }).catch((error: unknown) => {
        failed = { error };
        return { record: undone };
      });
  const turn = nextAction(
    {
      ladder,
      taken: incident?.taken ?? [],
      acts: undone.acts,
      refusals: undone.refusals,
      basis,
      skipped: undone.incident?.skipped,
      launchesFrom: observed.state.launchPause?.until,
    },
    now,
  );
  const isNext = turn.kind === 'next';
  const state = isNext && before.attempt !== undefined ? 'inFlight' : 'followed';
  // Its place is free: others look at once.
  const time = earliest(isNext ? undefined : turn.until, addDuration(now, AT_ONCE));
  return { change: { record: left.record, verdict: undefined, state }, time, failure: failed };
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
  return (await rememberRefusal(deps, observed, result, { ...failure, isCertain: false })).refusals;
}

/** @param isCertain false: it may have taken effect, and is said only when it lasts */
async function rememberRefusal(
  deps: PassDeps,
  { basisOf, claims, scope }: ObservedPool,
  { granted: { finding, attempt, action }, record }: ActResult,
  { cause, message, reason, isCertain }: Failure & { readonly isCertain: boolean },
) {
  const { key } = attempt;
  const now = deps.clock.now();
  const before = finding.record ?? record;
  const basis = basisOf(attempt.claim && claims.get(attempt.claim.uid));
  const { refusal, reportKind } = noteRefusal(
    before.refusals,
    key,
    { cause, message, basis, now },
    { isReportedAtOnce: isCertain },
  );
  const keepsTurn = isTransient(refusal, action) && before.attempt === undefined;
  // What cannot be launched is skipped: the pool's pause says when it may be again.
  const isSkipped = attempt.action === 'Replace' && !keepsTurn;
  const refused = { node: finding.node, attempt, reason, text: isSkipped ? message : textOfRefusal(refusal) };
  if (reportKind !== undefined) await reportRefusal(deps, scope, refused, reportKind);
  return { basis, keepsTurn, isSkipped, refusals: { ...before.refusals, [key]: refusal } };
}
