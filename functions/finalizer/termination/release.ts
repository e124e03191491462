/** Takes our finalizer off, Nodes first: everything that it stood for is done (I1). */
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { Step } from './steps.ts';
import type { WriteOutcome } from '../../../shared/ports/kubernetes-api.ts';
import { setFinalizers } from './finalizers.ts';
import { isLive } from './rule/objects.ts';
import { handHooksOn } from './other-claims.ts';
import { lookAgainAfter, stepDone, type StepContext } from './context.ts';

export const releaseObjects: Step<StepContext> = {
  name: 'Release',
  role: 'end',
  async run(context) {
    const { claim, nodes, object, providerID } = context.observed;
    const isEnd = !isLive(object) && providerID !== undefined;
    // First, so that a run that finds the object gone can rely on the hooks having been handed on.
    if (isEnd && !(await handHooksOn(context.deps, context.record(), { providerID, uid: object.metadata.uid }))) {
      return lookAgainAfter(context, { kind: 'conflict' }, 'another NodeClaim of the instance is looked at');
    }
    // A Node that is not being deleted belongs to a NodeClaim that never registered, or shares its instance: it stays.
    for (const released of [
      ...nodes.filter(node => !isLive(node)),
      ...(claim === undefined || isLive(claim) ? [] : [claim]),
    ]) {
      if (released.kind === 'Node') context.run.releasedNodes.add(released.metadata.uid);
      const outcome = await release(context, released);
      if (outcome?.kind === 'conflict') {
        return lookAgainAfter(context, outcome, `${released.kind} ${released.metadata.name} changed`);
      }
    }
    return stepDone;
  },
};

/** Takes our finalizer off one object; undefined: nothing of ours is on it. */
async function release(
  { deps, finalizerNames }: StepContext,
  object: KubernetesObject,
): Promise<WriteOutcome | undefined> {
  const { finalizers = [] } = object.metadata;
  const kept = finalizers.filter(name => !finalizerNames.includes(name));
  return kept.length === finalizers.length ? undefined : setFinalizers(deps, object, kept, undefined);
}
