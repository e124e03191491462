/**
 * Ends the instance, as its rule says: looks first, makes one call, and reports the result. An instance that several NodeClaims name is not
 * ended with one of them.
 */
import { isDeepStrictEqual } from 'node:util';
import { isGone, isUnknownYet, unknownUntil } from '../common/instances.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { deletionTimeOf, type KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { messageOf, RetryableError, TerminalError } from '../../../shared/errors.ts';
import { isRefused, type RefusableChange } from '../../../shared/lifecycle/refusals.ts';
import type { InstanceState } from '../../../shared/ports/instances.ts';
import type { Step, StepOutcome } from './steps.ts';
import { showProgress } from './conditions.ts';
import { isKarpenters, launchTimeOf } from './rule/objects.ts';
import { lastReportOf, withReport, type CallAttempt } from './record.ts';
import { afterRefusedCall, type InstanceLook, nextForInstance, ownershipOf } from './rule/instance.ts';
import { lookAgain, stepDone, waitFor, type StepContext } from './context.ts';
import { reportOnAll } from './report.ts';

export const terminateInstance: Step<StepContext> = {
  name: 'TerminateInstance',
  role: 'instance',
  refusedReason: EVENT_REASONS.instanceTerminationFailed,
  async run(context) {
    const { claim, providerID } = context.observed;
    if (claim === undefined || providerID === undefined || ownershipOf(context.observed) !== 'ours') return stepDone;
    const look = await lookAtInstance(context, providerID, terminateInstance.name);
    return await carryOut(context, claim, providerID, look);
  },
};

/** Asks the rule what is next, and does that. */
async function carryOut(
  context: StepContext,
  claim: KubernetesObject,
  providerID: string,
  look: InstanceLook,
): Promise<StepOutcome> {
  const { run, now, deadline, isForced } = context;
  const effect = nextForInstance({
    now,
    providerID,
    look,
    isKarpenters: isKarpenters(claim),
    deletion: deletionTimeOf(claim) ?? now,
    deadline: deadline?.time,
    isForced,
    attempt: context.record().instance,
    ownAttempt: run.ownAttempt,
    refused: run.backoff.waiting(terminateChange(context, providerID)),
  });
  switch (effect.kind) {
    case 'done':
      return stepDone;
    case 'wait':
      return waitFor(effect.on, effect.until);
    case 'recordCall':
      if (await context.saveRecord({ instance: effect.attempt })) run.ownAttempt = effect.attempt.number;
      return lookAgain(`the end of instance ${providerID} was noted down`);
    case 'call':
      return await callTerminate(context, claim, providerID, effect.attempt);
  }
}

/** The look at the instance as EC2 answers now. Throws where EC2 does not say, and reports nothing. */
export async function lookUnreported(context: StepContext, providerID: string): Promise<InstanceLook> {
  return toLook(context, (await context.deps.instances.describe(providerID))?.state);
}

/** The look by a state. @param state undefined: EC2 knows no such instance */
function toLook(
  { observed, now }: Pick<StepContext, 'observed' | 'now'>,
  state: InstanceState | undefined,
): InstanceLook {
  const launchTime = launchTimeOf(observed);
  if (state === undefined && isUnknownYet(launchTime, now))
    return { kind: 'tooYoung', until: unknownUntil(launchTime) ?? now };
  if (isGone(state)) return { kind: 'gone' };
  if (state === 'stopped') return { kind: 'stopped' };
  return { kind: state === 'shutting-down' ? 'shuttingDown' : 'here' };
}

/**
 * Looks at the instance. If EC2 does not answer, the instance is not ended (I6). Curfew reports that once, and the message goes back to the
 * queue. A lasting failure is reported as a refusal.
 *
 * @param step that asks: once its refusal was said, this is not; undefined: none
 */
export async function lookAtInstance(
  context: StepContext,
  providerID: string,
  step: string | undefined,
): Promise<InstanceLook> {
  const { isForced } = context;
  try {
    return await lookUnreported(context, providerID);
  } catch (error) {
    const { refusals = {} } = context.record();
    const isReported = step !== undefined && refusals[step]?.saidTime !== undefined;
    if (!(error instanceof RetryableError) || isReported) throw error;
    const lastReport = { isForced, text: `instance ${providerID} cannot be looked at` };
    if (!isDeepStrictEqual(lastReportOf(context.record()), lastReport)) {
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
      await context.saveRecord(withReport(context.record(), lastReport));
    }
    throw error;
  }
}

/** The call as the schedule of refusals knows it. */
function terminateChange(context: StepContext, providerID: string): RefusableChange {
  const { observed, settings, deadline } = context;
  return {
    key: `terminate ${providerID}`,
    stored: context.record().refusals,
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

async function callTerminate(
  context: StepContext,
  claim: KubernetesObject,
  providerID: string,
  attempt: CallAttempt,
): Promise<StepOutcome> {
  const { deps, run, now } = context;
  const outcome = await run.backoff.try(terminateChange(context, providerID), async () => {
    try {
      const answer = await deps.instances.terminate(providerID);
      if (answer.kind === 'refused') throw new TerminalError(answer.reason, answer.message);
      return answer;
    } catch (error) {
      // What may have taken effect is resolved by looking; what certainly has not is tried again as a new attempt.
      if (error instanceof RetryableError && error.outcomeUnknown) return { kind: 'unknown', error } as const;
      throw error;
    }
  });
  if (isRefused(outcome)) {
    const { message, until, redeliveryError } = outcome;
    const next = afterRefusedCall(now, attempt, { until, isPassing: redeliveryError !== undefined });
    await context.saveRecord({ instance: next.attempt });
    run.ownAttempt = undefined;
    return waitFor(`instance ${providerID} could not be ended: ${message}`, next.until);
  }
  if (outcome.kind === 'unknown') throw outcome.error;
  if (outcome.kind === 'notFound') return await carryOut(context, claim, providerID, toLook(context, undefined));
  await context.saveRecord({ instance: { ...attempt, phase: 'accepted' } });
  run.ownAttempt = undefined;
  await reportOnAll(context, {
    decision: 'terminateInstance',
    reason: 'InstanceTerminating',
    message: `instance ${providerID} is being ended`,
    details: { providerID, attempt: attempt.number },
    metric: { name: 'InstanceTermination' },
  });
  return lookAgain(`instance ${providerID} is being ended`);
}
