/** One call about the instance of a node. */
import { messageOf, RetryableError, TerminalError } from '../../../shared/errors.ts';
import type { StepOutcome } from '../../../shared/lifecycle/steps.ts';
import type { InstanceOutcome, Instances } from '../../../shared/ports/instances.ts';
import { TAKEN, type ActionContext } from './action.ts';

export async function callInstance(
  { deps, now, node }: Pick<ActionContext, 'deps' | 'now' | 'node'>,
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
    return { kind: 'notYet', until: now, on: messageOf(error) };
  }
}
