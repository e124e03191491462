/**
 * What the API server refuses, as admission policies can, and EC2 for good: said on NodeClaim and Nodes, and tried again with the next
 * look (I8). At the deadline the instance ends without it; a Node that cannot be deleted keeps the NodeClaim until it can.
 */
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { orRefused } from '../../../shared/lifecycle/refused.ts';
import { runSteps, type Step, type StepOutcome, type StepsOutcome } from '../../../shared/lifecycle/steps.ts';
import { deleteObjects, deleteUnheldClaim } from './delete-objects.ts';
import { stepDone, type TerminationContext } from './context.ts';
import { releaseObjects } from './release.ts';
import { terminateInstance } from './instance.ts';

/** Runs the steps in their order up to the first that is not done; after one that is refused the others go on, except those that end all. */
export function runUnlessRefused(
  steps: readonly Step<TerminationContext>[],
  context: TerminationContext,
): Promise<StepsOutcome> {
  let left: StepOutcome | undefined;
  const asAnswer = (step: Step<TerminationContext>): Step<TerminationContext> => ({
    name: step.name,
    async run(): Promise<StepOutcome> {
      const isEnd = step.name === deleteUnheldClaim.name || step.name === releaseObjects.name;
      if (isEnd && left !== undefined) return left;
      const outcome = await orRefused(step.run(context));
      if (outcome.kind !== 'refused') return outcome;
      const { message } = outcome;
      // Only EC2 knows whether the instance has ended, and no finalizer comes off before (I1).
      if (step.name === terminateInstance.name) {
        return { kind: 'failed', reason: EVENT_REASONS.instanceTerminationFailed, message };
      }
      const refused: StepOutcome = { kind: 'failed', reason: EVENT_REASONS.nodeChangeRefused, message };
      if (!context.forced || isEnd) return refused;
      if (step.name === deleteObjects.name) left = refused;
      return stepDone;
    },
  });
  return runSteps(steps.map(asAnswer), context);
}
