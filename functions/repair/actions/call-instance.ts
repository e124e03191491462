/** One destructive call to the cloud about the instance of a node (I4, I10). */
import { addDuration, seconds } from '../../../shared/domain/time.ts';
import { messageOf, RetryableError, TerminalError } from '../../../shared/errors.ts';
import type { StepOutcome } from '../../../shared/lifecycle/steps.ts';
import type { InstanceOutcome, Instances } from '../../../shared/ports/instances.ts';
import { TAKEN, type ActionContext } from './action.ts';

/** What was certainly not done is tried again after 5 s, 10 s, 20 s …, at most a minute. */
const FIRST_RETRY_SECONDS = 5;
const LAST_RETRY_SECONDS = 60;

export async function callInstance(
  { deps, now, node, attempt }: ActionContext,
  call: (instances: Instances, providerID: string) => Promise<InstanceOutcome>,
): Promise<StepOutcome> {
  const { providerID } = node;
  if (providerID === undefined) {
    return { kind: 'failed', reason: 'NoInstance', message: `Node ${node.name} has no providerID` };
  }
  try {
    const outcome = await call(deps.instances, providerID);
    switch (outcome.kind) {
      case 'ok':
        return TAKEN;
      case 'notFound':
        return { kind: 'failed', reason: 'InstanceNotFound', message: `there is no instance ${providerID}` };
      case 'refused':
        return { kind: 'failed', reason: outcome.reason, message: outcome.message };
    }
  } catch (error) {
    if (error instanceof TerminalError) return { kind: 'failed', reason: error.reason, message: error.message };
    // What may have taken effect is never repeated.
    if (!(error instanceof RetryableError) || error.outcomeUnknown) throw error;
    const delay = Math.min(FIRST_RETRY_SECONDS * 2 ** Math.min(attempt.number - 1, 10), LAST_RETRY_SECONDS);
    return { kind: 'notYet', until: addDuration(now, seconds(delay)), on: messageOf(error) };
  }
}
