/** Tells whether the instance still runs: without one nothing runs on the Node, and there is nothing to drain or detach, as in Karpenter. */
import { isGone } from '../common/instances.ts';
import { readConditions } from '../../../shared/domain/node.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { RetryableError } from '../../../shared/errors.ts';
import type { Step } from './steps.ts';
import { orNotKnown, orRefused } from '../../../shared/ports/read-answer.ts';
import { stepDone, type TerminationContext } from './context.ts';
import { lookAtInstance, instanceStateOf } from './instance.ts';

/** The step, done at once where the instance is stopped or gone. */
export function unlessInstanceGone(step: Step<TerminationContext>): Step<TerminationContext> {
  return {
    ...step,
    run: async context => ((await isInstanceMissing(context, step.name)) ? stepDone : step.run(context)),
  };
}

/**
 * Whether the instance is stopped or gone. A stopped instance runs nothing, whatever its Node still says. One that is gone counts so only while
 * no Node of it is Ready: a Ready Node has a kubelet that speaks. Do not drain again once EC2 was asked to terminate the instance, and it goes.
 * Whether a NodeClaim still stands for the instance does not matter.
 *
 * @param step that asks
 */
export async function isInstanceMissing(context: TerminationContext, step?: string): Promise<boolean> {
  const { nodes, providerID } = context.observed;
  if (providerID === undefined) return false;
  // What EC2 refuses for good is known by nobody: the Node is emptied like any other. Nor is an answer waited for where a kubelet speaks, or
  // at the deadline.
  const isSpeaking = nodes.some(isReady);
  const isNeeded = !isSpeaking && !context.isForced;
  const observed = isNeeded ? lookAtInstance(context, providerID, step) : instanceStateOf(context, providerID);
  const answer = await orNotKnown(observed.then(state => ({ kind: 'seen', state }) as const));
  if (answer.kind === 'seen') {
    const { state } = answer;
    const isEnded =
      !context.isForced &&
      context.state().instance?.phase === 'accepted' &&
      (state === 'shutting-down' || isGone(state));
    return state === 'stopped' || isEnded || (isGone(state) && !isSpeaking);
  }
  if (isNeeded && answer.error instanceof RetryableError) throw answer.error;
  return false;
}

/**
 * Whether the instance of a Node that no NodeClaim stands for is about to end, or has. One that EC2 refuses for good is known by nobody.
 * @param step that asks
 */
export async function isInstanceEnding(context: TerminationContext, step?: string): Promise<boolean> {
  const { providerID } = context.observed;
  if (providerID === undefined) return false;
  const state = await orRefused(lookAtInstance(context, providerID, step));
  return typeof state !== 'object' && (isGone(state) || state === 'shutting-down');
}

const isReady = ({ status }: KubernetesObject): boolean =>
  readConditions(status?.['conditions']).some(({ type, status: state }) => type === 'Ready' && state === 'True');
