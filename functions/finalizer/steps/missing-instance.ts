/** Without an instance that runs nothing runs on the Node: there is nothing to drain or detach, as in Karpenter. */
import { readConditions } from '../../../shared/domain/node.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { RetryableError } from '../../../shared/errors.ts';
import type { Step } from '../../../shared/lifecycle/steps.ts';
import { orNotKnown } from '../../../shared/ports/read-answer.ts';
import { stepDone, type TerminationContext } from './context.ts';
import { isGone, lookAtInstance } from './instance.ts';

/** The step, done at once where the instance is stopped or gone. */
export function unlessInstanceGone(step: Step<TerminationContext>): Step<TerminationContext> {
  return {
    name: step.name,
    run: async context => ((await isInstanceMissing(context)) ? stepDone : step.run(context)),
  };
}

/**
 * A stopped instance runs nothing, whatever its Node still says. One that is gone counts so only while no Node of it is Ready: a Ready Node
 * has a kubelet that speaks (N18, N19). Whether a NodeClaim still stands for the instance does not matter.
 */
export async function isInstanceMissing(context: TerminationContext): Promise<boolean> {
  const { nodes, providerID } = context.look;
  if (providerID === undefined) return false;
  // What EC2 refuses for good is known by nobody: the Node is emptied like any other. Neither a kubelet that speaks nor a deadline waits for
  // an answer.
  const isSpeaking = nodes.some(isReady);
  const state = await orNotKnown(lookAtInstance(context, providerID).then(seen => ({ kind: 'seen', seen }) as const));
  if (state.kind === 'seen') return state.seen === 'stopped' || (isGone(state.seen) && !isSpeaking);
  if (state.error instanceof RetryableError && !isSpeaking && !context.forced) throw state.error;
  return false;
}

const isReady = ({ status }: KubernetesObject): boolean =>
  readConditions(status?.['conditions']).some(({ type, status: state }) => type === 'Ready' && state === 'True');
