/**
 * Steps that are refused, or fail: said on NodeClaim and Nodes, and tried again ever less often (I5, I8). At the deadline the instance ends
 * without them; a Node that cannot be deleted keeps the NodeClaim until it can.
 */
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { earliest } from '../../../shared/domain/time.ts';
import { RetryableError } from '../../../shared/errors.ts';
import { isRefused } from '../../../shared/lifecycle/refusals.ts';
import { runSteps, type Step, type StepOutcome, type StepsOutcome } from './steps.ts';
import { orUnavailable } from '../../../shared/ports/read-answer.ts';
import { claimAndNodes, stepDone, type StepContext } from './context.ts';
import { reportOnAll } from './report.ts';
import { afterFailedStep } from './rule/turn.ts';

/** Event reason for a step that is refused. For hooks it is the same at every point: they change nothing of the Node. */
const reasonOf = ({ refusedReason = EVENT_REASONS.nodeChangeRefused }: Step<StepContext>): string => refusedReason;

/** Runs the steps in their order up to the first that is not done, or that is refused or fails and is not passed over. */
export function runRefusableSteps(steps: readonly Step<StepContext>[], context: StepContext): Promise<StepsOutcome> {
  let failureAtEnd: (() => StepOutcome) | undefined;
  const asAnswer = (step: Step<StepContext>): Step<StepContext> => ({
    ...step,
    async run(): Promise<StepOutcome> {
      if (step.role === 'end' && failureAtEnd !== undefined) return failureAtEnd();
      const outcome = await orUnavailable(tryStep(context, step));
      if (outcome.kind !== 'unavailable' && !isRefused(outcome)) return outcome;
      const { error } = outcome;
      const redeliveryError = isRefused(outcome) ? outcome.redeliveryError : error;
      const answer = (): StepOutcome => {
        if (redeliveryError !== undefined) throw redeliveryError;
        const until = isRefused(outcome) ? { until: outcome.until } : {};
        return { kind: 'failed', reason: reasonOf(step), message: error.message, ...until };
      };
      const next = afterFailedStep(step.role, context.isForced);
      if (next === 'stop') {
        // Written down before the message goes back.
        if (redeliveryError !== undefined) await context.saveRecord({});
        return answer();
      }
      if (error instanceof RetryableError) await reportSkippedStep(context, step.name, error.message);
      if (next === 'passUntilEnd') failureAtEnd = answer;
      return stepDone;
    },
  });
  return runSteps(steps.map(asAnswer), context);
}

function tryStep(context: StepContext, step: Step<StepContext>) {
  const { run, settings, isForced, deadline } = context;
  const { refusals, hooks } = context.record();
  const change = {
    key: step.name,
    stored: refusals,
    restsOn: [...claimAndNodes(context), settings, isForced, hooks],
    deadline: earliest(step.timeoutTime?.(context), deadline?.time),
    report: (message: string, isRepeated: boolean) =>
      reportOnAll(context, {
        decision: 'wait',
        reason: reasonOf(step),
        message,
        details: { step: step.name },
        isRepeated,
        event: { type: 'Warning' },
      }),
  };
  return run.backoff.try(change, () => step.run(context));
}

/** Reports a step that was skipped past the deadline, once for each step. */
async function reportSkippedStep(context: StepContext, step: string, message: string): Promise<void> {
  const { skippedSteps = [] } = context.record();
  if (skippedSteps.includes(step)) return;
  await reportOnAll(context, {
    decision: 'passOver',
    reason: EVENT_REASONS.nodeChangeRefused,
    message: `the deadline has passed, and the termination goes on without step ${step}, which fails: ${message}`,
    details: { step },
    event: { type: 'Warning' },
  });
  await context.saveRecord({ skippedSteps: [...skippedSteps, step] });
}
