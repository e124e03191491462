/** What becomes of an act that was not taken: it cannot be done at all, it is looked at again, or it is tried again later. */
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { readNodeClaim, type NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { addDuration, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import type { StepOutcome } from '../../../shared/lifecycle/steps.ts';
import { orRefused, type TurnedAway as Refused } from '../../../shared/lifecycle/refusals.ts';
import type { ActionDeps } from '../actions/action.ts';
import { takeBackAnnotation } from '../actions/terminate.ts';
import type { Place } from '../report.ts';
import { REFUSED_CHECK, reportOfRefusal } from '../report-failures.ts';
import type { PassDeps } from './deps.ts';
import type { RepairAttempt } from './pool.ts';
import { objectOf } from '../../../shared/ports/read-answer.ts';

export type Refusal =
  /** It is not wanted any more; nothing was done. */
  | { readonly kind: 'calledOff'; readonly why: string }
  /** It certainly was not carried out, and is tried again. */
  | { readonly kind: 'refused'; readonly why: string; readonly retryTime: EpochMs }
  /** It cannot be carried out as things are. */
  | { readonly kind: 'failed'; readonly why: string };

/** Reports the act that was not done, and says what becomes of it. */
export async function refuse(
  deps: PassDeps,
  outcome: Exclude<StepOutcome, { kind: 'done' }>,
  attempt: RepairAttempt,
  place: Place,
): Promise<Refusal> {
  if (outcome.kind === 'failed') {
    const why = `${outcome.reason}: ${outcome.message}`;
    const message = `${attempt.action} cannot be carried out: ${why}`;
    await deps.reporter.report(reportOfRefusal(attempt, place, outcome.reason, message));
    return { kind: 'failed', why };
  }
  // A NodeClaim that changed in between is looked at again at once, as if nothing had been tried.
  if (attempt.action === 'Terminate' && attempt.claim !== undefined) return { kind: 'calledOff', why: outcome.on };
  return await later(deps, outcome, attempt, place);
}

async function later(
  deps: PassDeps,
  { until, on }: Omit<Extract<StepOutcome, { kind: 'notYet' }>, 'kind'>,
  attempt: RepairAttempt,
  place: Place,
): Promise<Refusal> {
  const message = `${attempt.action} could not be carried out: ${on}; it is tried again at ${toTimestamp(until)}`;
  await deps.reporter.report(reportOfRefusal(attempt, place, 'ActionRefused', message));
  return { kind: 'refused', why: on, retryTime: until };
}

/** The same for one that the API server or EC2 refused. */
export async function refusedByServer(
  deps: PassDeps,
  { message }: Refused,
  attempt: RepairAttempt,
  place: Place,
): Promise<Refusal> {
  // Where that is refused, too, the next try takes it over, or takes it back.
  if (attempt.claim !== undefined) {
    await orRefused(takeBackAnnotation(deps, attempt, await readClaim(deps, attempt.claim.name)));
  }
  const until = addDuration(deps.clock.now(), REFUSED_CHECK);
  return await later(deps, { until, on: message }, attempt, place);
}

/** The live NodeClaim of this name; undefined: there is none. */
export async function readClaim(
  { kubernetes }: Pick<ActionDeps, 'kubernetes'>,
  name: string,
): Promise<NodeClaimView | undefined> {
  const object = objectOf(await kubernetes.get({ type: RESOURCES.NodeClaim, name }), { notServed: 'notKnown' });
  return object && readNodeClaim(object);
}
