/** Drain requests that stay on a Node after their answer: only Curfew's records know that they are over, and here records are in memory. */
import { requestedId } from '../../functions/drain/node-request.ts';
import { ANNOTATIONS } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { readAnswer } from '../drain/follow.ts';
import { UsageError } from '../usage-error.ts';
import { objectsOf } from '../../shared/ports/read-answer.ts';

/** Throws `UsageError` that names the Nodes: each would be cordoned and drained once more, even if it is in use again since. */
export async function refuseAnsweredDrains(kubernetes: Pick<KubernetesApi, 'list'>): Promise<void> {
  const names = objectsOf(await kubernetes.list(RESOURCES.Node), { notServed: 'notKnown' })
    .filter(({ metadata: { annotations = {} } }) => {
      const requested = requestedId(annotations[ANNOTATIONS.drainRequested]);
      return requested !== undefined && readAnswer(annotations[ANNOTATIONS.drainAnswer])?.id === requested;
    })
    .map(({ metadata }) => metadata.name);
  if (names.length === 0) return;
  const all = names.join(' ');
  throw new UsageError(
    `a drain that was asked for on ${all} is over, and would begin again, since records are in memory here: kubectl annotate node ${all} ${ANNOTATIONS.drainRequested}-`,
  );
}
