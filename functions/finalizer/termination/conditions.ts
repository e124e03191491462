/**
 * Conditions on NodeClaim and Nodes that show how far a termination has come, for `kubectl describe`. On a NodeClaim that Karpenter terminates
 * too, Karpenter's own conditions are Karpenter's. A condition that cannot be written is written with the next change.
 */
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { cutText } from '../../../shared/domain/cut-text.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { setConditions, type Condition } from '../common/set-condition.ts';
import type { StepContext } from './context.ts';
import { isKarpenters } from './rule/objects.ts';
import { messageOfWait, type StepWait } from './report.ts';
import { orUnavailable, type Unavailable } from '../../../shared/ports/read-answer.ts';

/** Condition on NodeClaim and Node: status `True` while the termination is under way, the step as reason, what it waits on as message. */
export const TERMINATING_CONDITION = 'curfew.dev/Terminating';

/** Writes how far the steps have come, when that has changed. */
export async function showProgress(context: StepContext, outcome: StepWait): Promise<void> {
  const { claim, nodes } = context.observed;
  const message = messageOfWait(outcome);
  const own: Condition = { type: TERMINATING_CONDITION, status: 'True', reason: reasonOf(outcome.step), message };
  if (claim !== undefined) {
    // At the deadline the steps before are skipped: they are not said to be done.
    const isOurs = !context.isForced && !isKarpenters(claim);
    await writeConditions(context, claim, [own, ...(isOurs ? karpenterConditions(outcome.step, message) : [])]);
  }
  for (const node of nodes) await writeConditions(context, node, [own]);
}

/** The reason of a step in one word: `Hooks:before-drain` is `HooksBeforeDrain`. */
function reasonOf(step: string): string {
  return step
    .split(/[^A-Za-z]/)
    .map(word => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');
}

const ORDER: readonly string[] = ['Drain', 'DetachVolumes', 'Hooks:before-terminate', 'TerminateInstance'];

/** Conditions with the names, statuses and reasons of Karpenter. */
function karpenterConditions(step: string, message: string): readonly Condition[] {
  const reached = ORDER.indexOf(step);
  const shown: Condition[] = [];
  if (reached === 0) shown.push({ type: 'Drained', status: 'Unknown', reason: 'Draining', message });
  if (reached > 0) shown.push({ type: 'Drained', status: 'True', reason: 'Drained', message: '' });
  if (reached === 1) {
    shown.push({ type: 'VolumesDetached', status: 'Unknown', reason: 'AwaitingVolumeDetachment', message });
  }
  if (reached > 1) shown.push({ type: 'VolumesDetached', status: 'True', reason: 'VolumesDetached', message: '' });
  if (reached === 3) {
    shown.push({ type: 'InstanceTerminating', status: 'True', reason: 'InstanceTerminating', message: '' });
  }
  return shown;
}

/** Shows volumes that are still attached at the deadline, as Karpenter says it: nobody waits for them. */
export async function showVolumesLeft(context: StepContext, message: string): Promise<void> {
  const { claim } = context.observed;
  if (claim === undefined || isKarpenters(claim)) return;
  await writeConditions(context, claim, [
    { type: 'VolumesDetached', status: 'False', reason: 'TerminationGracePeriodElapsed', message },
  ]);
}

/** Tries of a write: kubelet, Karpenter and the other functions write to the same objects. */
const TRIES = 3;

async function writeConditions(
  context: StepContext,
  seen: KubernetesObject,
  shown: readonly Condition[],
): Promise<void> {
  const { deps, now } = context;
  const { name, uid } = seen.metadata;
  const ref = { type: seen.kind === 'Node' ? RESOURCES.Node : RESOURCES.NodeClaim, name };
  for (let tried = 0; tried < TRIES; tried += 1) {
    // Read again: the steps have changed it, and others may have since.
    const answer = await orUnavailable(deps.kubernetes.get(ref));
    if (answer.kind === 'unavailable') return reportUnwritten(context, seen, shown, answer);
    // If it is not served, there is nobody to show it to.
    const object = answer.kind === 'there' ? answer.object : undefined;
    if (object?.metadata.uid !== uid) return;
    const written = await orUnavailable(
      setConditions(deps, ref, object, { conditions: shown, now }).then(kind => ({ kind })),
    );
    if (written.kind === 'unavailable') return reportUnwritten(context, seen, shown, written);
    if (written.kind !== 'changed') return;
  }
}

/** Reports conditions that could not be written. They only inform: nothing waits for them. */
async function reportUnwritten(
  { reporter }: StepContext,
  about: KubernetesObject,
  shown: readonly Condition[],
  { error }: Unavailable,
): Promise<void> {
  const texts = shown.map(({ type, reason, message }) => `${type}: ${reason}, ${message}`);
  const message = cutText(`${error.message}; not shown: ${texts.join('; ')}`);
  await reporter.report({ about, decision: 'passOver', reason: 'ConditionNotWritten', message });
}
