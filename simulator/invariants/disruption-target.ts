/** I8: a pod that is deleted by force has the condition `DisruptionTarget`, or the run has tried to write it: its owner must not take it for a failure. */
import type { MakeCheck } from './invariant.ts';
import { dig, listOf, nameOf } from './reading.ts';
import { does, isKubernetes, seenPod, targetOf } from './run-journal.ts';

export const checkDisruptionTarget: MakeCheck = ({ violate }) => ({
  onCall(call, run) {
    if (run.by !== 'finalizer' && run.by !== 'drain') return;
    if (!isKubernetes(call, 'delete') || targetOf(call).resource !== 'pods') return;
    const pod = seenPod(call, run);
    if (pod === undefined) return;
    const isMarked = (conditions: unknown): boolean =>
      listOf(conditions).some(
        condition => dig(condition, 'type') === 'DisruptionTarget' && dig(condition, 'status') === 'True',
      );
    const { name, namespace } = targetOf(call);
    const isTried = run.calls.some(
      each =>
        isKubernetes(each, 'patch') &&
        targetOf(each).resource === 'pods' &&
        targetOf(each).name === name &&
        targetOf(each).namespace === namespace &&
        isMarked(dig(each.args[1], 'body', 'status', 'conditions')),
    );
    if (isTried || isMarked(dig(pod, 'status', 'conditions'))) return;
    violate('I8', `${run.by} ${does(call)} ${nameOf(pod)} by force without the condition DisruptionTarget`);
  },
});
