/**
 * What is left of attempts that were not carried out, or whose repair is over, is taken back (I7). Where the API server refuses that, as
 * admission policies can, it is said once on the Node and tried again: no other repair of the pool waits for it (I8).
 */
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { addDuration, earliest, isDue } from '../../../shared/domain/time.ts';
import { orRefused } from '../../../shared/lifecycle/refusals.ts';
import { REFUSED_CHECK, triedAgain } from '../report-failures.ts';
import type { ActionDeps } from '../actions/action.ts';
import { deleteRemediations, madeBy } from '../actions/made-resources.ts';
import { cancelDrain } from '../actions/drain.ts';
import { takeBackAnnotation } from '../actions/terminate.ts';
import type { Place } from '../report.ts';
import { reportOfRefusal } from '../report-failures.ts';
import type { PassDecision } from './decision.ts';
import type { PassDeps } from './deps.ts';
import type { RepairAttempt } from './pool.ts';

/**
 * Takes back what is left of one attempt. Doing it twice is doing it once.
 *
 * @param claim its NodeClaim as it was read since
 */
export async function withdraw(
  deps: ActionDeps,
  attempt: RepairAttempt,
  claim: NodeClaimView | undefined,
): Promise<void> {
  const { phase, action, requestId } = attempt;
  if (phase !== 'observed') {
    // A termination carries the id of the drain before it.
    if (action !== 'CustomResource' && requestId !== undefined) await cancelDrain(deps, attempt);
    if (action === 'Terminate') await takeBackAnnotation(deps, attempt, claim);
  }
  await deleteRemediations(deps, attempt);
}

interface Surroundings {
  readonly claims: readonly NodeClaimView[];
  readonly place: Place;
  /** What this run has reported. */
  readonly told: Set<string>;
}

/** Takes back what the decision withdraws, and what could not be before. Answers the decision with what still cannot. */
export async function takeBack(
  deps: PassDeps,
  { withdrawals, ...decision }: PassDecision,
  { claims, place, told }: Surroundings,
): Promise<PassDecision> {
  const now = deps.clock.now();
  const { left: before = [], ...state } = decision.state;
  const left = before.filter(({ retryTime }) => !isDue(now, retryTime));
  const tried = before.filter(({ retryTime }) => isDue(now, retryTime));
  for (const attempt of [...tried.map(each => each.attempt), ...withdrawals]) {
    const claim = claims.find(({ uid }) => uid === attempt.claim?.uid);
    // By UID from now on: another object may have the name when it is tried again (I10).
    const { mayHaveMade: _, ...exact } = { ...attempt, resources: await madeBy(deps, attempt) };
    const refused = await orRefused(withdraw(deps, exact, claim));
    if (refused === undefined) continue;
    const { message } = refused;
    const isKnown = tried.some(each => each.attempt === attempt && each.message === message);
    const key = `${attempt.node.uid} ${message}`;
    // Said before it is recorded: a run that dies in between says it again (I9).
    if (!isKnown && !told.has(key)) {
      const text = `what ${attempt.action} left cannot be taken back: ${triedAgain(refused)}`;
      await deps.reporter.report(reportOfRefusal(attempt, place, 'ActionRefused', text));
    }
    told.add(key);
    // Its drain is called off by now.
    const { requestId: __, ...rest } = exact;
    left.push({ attempt: rest, message, retryTime: addDuration(now, REFUSED_CHECK) });
  }
  return {
    ...decision,
    withdrawals,
    state: left.length === 0 ? state : { ...state, left },
    wakeTime: left.map(({ retryTime }) => retryTime).reduce(earliest, decision.wakeTime),
  };
}
