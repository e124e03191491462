/**
 * What the API server refuses, as admission policies can, and EC2 for good: said on NodeClaim and Nodes, and tried again with the next
 * look (I8). At the deadline the instance ends without it, and without what fails for any other reason; a Node that cannot be deleted keeps
 * the NodeClaim until it can.
 */
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { RetryableError } from '../../../shared/errors.ts';
import { runSteps, type Step, type StepOutcome, type StepsOutcome } from '../../../shared/lifecycle/steps.ts';
import { deleteObjects, deleteUnheldClaim } from './delete-objects.ts';
import { orNotKnown } from '../../../shared/ports/read-answer.ts';
import { stepDone, tell, type TerminationContext } from './context.ts';
import { releaseObjects } from './release.ts';
import { terminateInstance } from './instance.ts';

/**
 * Runs the steps in their order up to the first that is not done. Past the deadline one that is refused or fails is passed over, and said;
 * the steps that end all are not: they need an answer.
 */
export function runUnlessRefused(
  steps: readonly Step<TerminationContext>[],
  context: TerminationContext,
): Promise<StepsOutcome> {
  let left: (() => StepOutcome) | undefined;
  const asAnswer = (step: Step<TerminationContext>): Step<TerminationContext> => ({
    name: step.name,
    async run(): Promise<StepOutcome> {
      const isEnd = step.name === deleteUnheldClaim.name || step.name === releaseObjects.name;
      if (isEnd && left !== undefined) return left();
      const outcome = await orNotKnown(step.run(context));
      if (outcome.kind !== 'notKnown') return outcome;
      const { error } = outcome;
      const { message } = error;
      if (error instanceof RetryableError) {
        if (!context.forced || isEnd || step.name === terminateInstance.name) throw error;
        await sayPassedOver(context, step.name, message);
        if (step.name === deleteObjects.name) {
          left = () => {
            throw error;
          };
        }
        return stepDone;
      }
      // Only EC2 knows whether the instance has ended, and no finalizer comes off before (I1).
      if (step.name === terminateInstance.name) {
        return { kind: 'failed', reason: EVENT_REASONS.instanceTerminationFailed, message };
      }
      const refused: StepOutcome = { kind: 'failed', reason: EVENT_REASONS.nodeChangeRefused, message };
      if (!context.forced || isEnd) return refused;
      if (step.name === deleteObjects.name) left = () => refused;
      return stepDone;
    },
  });
  return runSteps(steps.map(asAnswer), context);
}

/** Once for each step. */
async function sayPassedOver(context: TerminationContext, step: string, message: string): Promise<void> {
  const { passedOver = [] } = context.progress();
  if (passedOver.includes(step)) return;
  await tell(context, {
    decision: 'passOver',
    reason: EVENT_REASONS.nodeChangeRefused,
    message: `the deadline has passed, and the termination goes on without step ${step}, which fails: ${message}`,
    details: { step },
    event: { type: 'Warning' },
  });
  await context.remember({ passedOver: [...passedOver, step] });
}
