/** Asks EC2 whether the instance still runs, for the steps that have nothing to do without one. */
import { RetryableError } from '../../../shared/errors.ts';
import { orUnavailable, orRejected } from '../../../shared/ports/read-answer.ts';
import type { Step } from './steps.ts';
import { hasReadyNode, isEnding, isMissing, needsAnswer } from './rule/instance.ts';
import { stepDone, type StepContext } from './context.ts';
import { lookAtInstance, lookUnreported } from './instance.ts';

/** The step, done at once where the instance is stopped or gone. */
export function unlessInstanceGone(step: Step<StepContext>): Step<StepContext> {
  return {
    ...step,
    run: async context => ((await isInstanceMissing(context, step.name)) ? stepDone : step.run(context)),
  };
}

/** Whether EC2 says that the instance is stopped or gone. Of one that it says nothing of, the pods may run. Reports nothing. */
export async function isInstanceKnownMissing(context: StepContext): Promise<boolean> {
  const { nodes, providerID } = context.observed;
  if (providerID === undefined) return false;
  const around = { hasReadyNode: hasReadyNode(nodes), isForced: context.isForced };
  const look = await orUnavailable(lookUnreported(context, providerID));
  return isMissing(look.kind === 'unavailable' ? undefined : look, around, context.record().instance);
}

/** Whether the instance is stopped or gone. @param step that asks */
export async function isInstanceMissing(context: StepContext, step?: string): Promise<boolean> {
  const { nodes, providerID } = context.observed;
  if (providerID === undefined) return false;
  const around = { hasReadyNode: hasReadyNode(nodes), isForced: context.isForced };
  const isNeeded = needsAnswer(around);
  const look = await orUnavailable(
    isNeeded ? lookAtInstance(context, providerID, step) : lookUnreported(context, providerID),
  );
  if (look.kind !== 'unavailable') return isMissing(look, around, context.record().instance);
  if (isNeeded && look.error instanceof RetryableError) throw look.error;
  return isMissing(undefined, around, context.record().instance);
}

/** Whether the instance of a Node that no NodeClaim stands for is about to end, or has. @param step that asks */
export async function isInstanceEnding(context: StepContext, step?: string): Promise<boolean> {
  const { providerID } = context.observed;
  if (providerID === undefined) return false;
  const look = await orRejected(lookAtInstance(context, providerID, step));
  return isEnding(look.kind === 'rejected' ? undefined : look);
}
