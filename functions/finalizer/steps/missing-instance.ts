/** Without an instance that runs nothing runs on the Node: there is nothing to drain or detach, as in Karpenter. */
import { readConditions } from '../../../shared/domain/node.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { orRefused } from '../../../shared/lifecycle/refused.ts';
import type { Step } from '../../../shared/lifecycle/steps.ts';
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
  // What EC2 refuses for good is known by nobody: the Node is emptied like any other.
  const state = await orRefused(lookAtInstance(context, providerID));
  if (typeof state === 'object') return false;
  return state === 'stopped' || (isGone(state) && !nodes.some(isReady));
}

const isReady = ({ status }: KubernetesObject): boolean =>
  readConditions(status?.['conditions']).some(({ type, status: state }) => type === 'Ready' && state === 'True');
