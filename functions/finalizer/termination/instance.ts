/**
 * Ends the instance: look first, one call, then look again until it is gone (I4). Where Karpenter's finalizer is next to ours,
 * Karpenter ends it and we wait. An instance that several NodeClaims name is not ended with one of them.
 */
import { isDeepStrictEqual } from 'node:util';
import { isGone, isUnknownYet, unknownUntil, type KnownState } from '../cluster/instances.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { RUN_ENDS_WITHIN } from '../../../shared/domain/run-end.ts';
import {
  addDuration,
  doubledWait,
  earliest,
  isDue,
  minutes,
  parseTimestamp,
  seconds,
  toDurationMs,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import { messageOf, RetryableError, TerminalError } from '../../../shared/errors.ts';
import { isRefusal, type RefusableChange, type Refused } from '../../../shared/lifecycle/refusals.ts';
import type { StepOutcome } from '../../../shared/lifecycle/steps.ts';
import { showProgress } from './conditions.ts';
import { KARPENTER_FINALIZER } from './decide.ts';
import { launchTimeOf } from './objects.ts';
import { lastReportOf, withReport, type CallAttempt } from './record.ts';
import { instanceLook, lookAgain, stepDone, reportOnAll, waitFor, type TerminationContext } from './context.ts';

export const terminateInstance = {
  name: 'TerminateInstance',
  async run(context: TerminationContext): Promise<StepOutcome> {
    const { observed, isForced, now } = context;
    const { claim, providerID, sharedWith } = observed;
    // Without a NodeClaim the instance is not ours to end; without a providerID there is none.
    if (claim === undefined || providerID === undefined || sharedWith.length > 0) return stepDone;
    const state = await lookAtInstance(context, providerID);
    if (isGone(state)) return stepDone;
    if (state === 'notFoundYet') return waitUntilKnown(context, providerID);
    const { instance } = context.state();
    const isKarpenters = claim.metadata.finalizers?.includes(KARPENTER_FINALIZER) === true;
    const deletion = parseTimestamp(claim.metadata.deletionTimestamp ?? '') ?? now;
    if (state === 'shutting-down') {
      // At the deadline nobody waits for an end that is certain.
      const since = isKarpenters ? deletion : (instance?.intendedTime ?? deletion);
      return isForced ? stepDone : waitFor(`instance ${providerID} is shutting down`, instanceLook(context, since));
    }
    if (isKarpenters) {
      const end = takeOverTime(context, deletion);
      const next = instanceLook(context, deletion);
      if (end === undefined || !isDue(now, end)) {
        return waitFor(`Karpenter ends instance ${providerID}`, earliest(next, end));
      }
    }

    if (instance !== undefined && context.run.ownAttempt !== instance.number) {
      const settled = addDuration(instance.intendedTime, RUN_ENDS_WITHIN);
      if (!isDue(now, settled)) {
        const attempt = `attempt ${instance.number} to end instance ${providerID}`;
        return waitFor(
          instance.phase === 'intended' ? `${attempt} may be under way` : `the instance runs after ${attempt}`,
          settled,
        );
      }
    }
    const waiting = context.run.tries.waiting(terminateChange(context, providerID));
    if (waiting !== undefined) return waitForRetry(providerID, waiting);
    if (instance?.phase === 'intended' && context.run.ownAttempt === instance.number) {
      return await callTerminate(context, providerID, instance);
    }
    const next: CallAttempt = { number: (instance?.number ?? 0) + 1, phase: 'intended', intendedTime: now };
    if (await context.saveState({ instance: next })) context.run.ownAttempt = next.number;
    return lookAgain(context, `the end of instance ${providerID} was noted down`);
  },
};

/** How much longer than the deadline Karpenter may take; its own deadline is the same. */
const KARPENTER_GRACE = minutes(1);

/** When an instance that Karpenter should have ended is ended by us: the deadline is a promise (I5). undefined: there is none. */
function takeOverTime({ deadline }: TerminationContext, deletion: EpochMs): EpochMs | undefined {
  if (deadline === undefined) return undefined;
  return addDuration(deadline.time > deletion ? deadline.time : deletion, KARPENTER_GRACE);
}

function waitUntilKnown({ observed, now }: TerminationContext, providerID: string): StepOutcome {
  const message = `EC2 does not know instance ${providerID}, which is too young for that to be certain`;
  return waitFor(message, unknownUntil(launchTimeOf(observed)) ?? now);
}

/** The state now; undefined: the cloud knows no such instance. Throws where it does not say. */
export async function instanceStateOf(
  { deps, observed, now }: TerminationContext,
  providerID: string,
): Promise<KnownState | undefined> {
  const found = await deps.instances.describe(providerID);
  return found === undefined && isUnknownYet(launchTimeOf(observed), now) ? 'notFoundYet' : found?.state;
}

/** What cannot be looked at is not ended (I6): said once, before the message goes back to the queue; what lasts is said as a refusal. */
export async function lookAtInstance(context: TerminationContext, providerID: string): Promise<KnownState | undefined> {
  const { isForced } = context;
  try {
    return await instanceStateOf(context, providerID);
  } catch (error) {
    const { refusals = {} } = context.state();
    const isSaid = Object.values(refusals).some(({ saidTime }) => saidTime !== undefined);
    if (!(error instanceof RetryableError) || isSaid) throw error;
    const lastReport = { isForced, text: `instance ${providerID} cannot be looked at` };
    if (!isDeepStrictEqual(lastReportOf(context.state()), lastReport)) {
      const message = `instance ${providerID} cannot be looked at, and is not ended before: ${messageOf(error)}`;
      // No step of its own: whichever asked, nothing is known of what comes before or after.
      await showProgress(context, { kind: 'notYet', step: 'LookAtInstance', on: message, until: context.now });
      await reportOnAll(context, {
        decision: 'retry',
        reason: EVENT_REASONS.instanceTerminationFailed,
        message,
        details: { providerID, error: error.reason ?? 'Unknown' },
        event: { type: 'Warning' },
      });
      await context.saveState(withReport(context.state(), lastReport));
    }
    throw error;
  }
}

/** The call as the schedule of refusals knows it. */
function terminateChange(context: TerminationContext, providerID: string): RefusableChange {
  const { observed, settings, deadline } = context;
  return {
    key: `terminate ${providerID}`,
    stored: context.state().refusals,
    restsOn: [observed.claim, settings],
    deadline: deadline?.time,
    isReportedAtOnce: true,
    report: (text, isRepeated) =>
      reportOnAll(context, {
        decision: 'retry',
        reason: EVENT_REASONS.instanceTerminationFailed,
        message: `instance ${providerID} could not be ended: ${text}`,
        details: { providerID },
        isRepeated,
        event: { type: 'Warning' },
      }),
  };
}

const waitForRetry = (providerID: string, { message, until }: Pick<Refused, 'message' | 'until'>): StepOutcome =>
  waitFor(`instance ${providerID} could not be ended: ${message}`, until);

async function callTerminate(
  context: TerminationContext,
  providerID: string,
  attempt: CallAttempt,
): Promise<StepOutcome> {
  const { instances } = context.deps;
  const outcome = await context.run.tries.make(terminateChange(context, providerID), async () => {
    try {
      const answer = await instances.terminate(providerID);
      if (answer.kind === 'refused') throw new TerminalError(answer.reason, answer.message);
      return answer;
    } catch (error) {
      // What may have taken effect is resolved by looking; what certainly has not is tried again as a new attempt.
      if (error instanceof RetryableError && error.outcomeUnknown) return { kind: 'unknown', error } as const;
      throw error;
    }
  });
  if (isRefusal(outcome)) return await settleRefusedCall(context, providerID, attempt, outcome);
  if (outcome.kind === 'unknown') throw outcome.error;
  if (outcome.kind === 'notFound') {
    return isUnknownYet(launchTimeOf(context.observed), context.now) ? waitUntilKnown(context, providerID) : stepDone;
  }
  await context.saveState({ instance: { ...attempt, phase: 'accepted' } });
  context.run.ownAttempt = undefined;
  await reportOnAll(context, {
    decision: 'terminateInstance',
    reason: 'InstanceTerminating',
    message: `instance ${providerID} is being ended`,
    details: { providerID, attempt: attempt.number },
    metric: { name: 'InstanceTermination' },
  });
  return lookAgain(context, `instance ${providerID} is being ended`);
}

/** The attempt had no effect, and has settled. What may pass is tried again after 5 s, 10 s, 20 s … 60 s, and is said at once. */
async function settleRefusedCall(
  context: TerminationContext,
  providerID: string,
  { number }: CallAttempt,
  { message, until, goesBack }: Refused,
): Promise<StepOutcome> {
  const { now } = context;
  const delay = goesBack === undefined ? seconds(0) : doubledWait(seconds(5), number, minutes(1));
  // Dated so that it has settled when the next one is due, and not before, whatever wakes us.
  const intendedTime = addDuration(now, toDurationMs(delay - RUN_ENDS_WITHIN));
  await context.saveState({ instance: { number, phase: 'accepted', intendedTime } });
  context.run.ownAttempt = undefined;
  return waitForRetry(providerID, { message, until: goesBack === undefined ? until : addDuration(now, delay) });
}
