/**
 * Waits until the volumes of the Nodes are detached, as Karpenter does: an instance that ends with a volume attached keeps
 * the volume from its next pod for minutes. Volumes of pods that the drain passed over will not be detached, and are not waited for.
 */
import type { FinalizerDeps } from '../common/context.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { listed } from '../../../shared/domain/cut-text.ts';
import { optionalText } from '../../../shared/domain/json.ts';
import type { PodView } from '../../../shared/domain/pod.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import type { Step } from './steps.ts';
import { inParallel } from '../../../shared/cluster/in-parallel.ts';
import { loadPodsOnNode } from '../../../shared/cluster/protected-pods.ts';
import { attachmentsOf, blockingAttachments, podsThatStay } from './rule/drain-plan.ts';
import { showVolumesLeft } from './conditions.ts';
import { terminatingNodes, safetyLook, stepDone, waitFor, type StepContext } from './context.ts';
import { objectOf, objectsOf } from '../../../shared/ports/read-answer.ts';

export const awaitVolumes: Step<StepContext> = {
  name: 'DetachVolumes',
  refusedReason: EVENT_REASONS.awaitingVolumeDetachment,
  async run(context) {
    if (terminatingNodes(context).length === 0) return stepDone;
    if (context.isForced) {
      const attachedText = await describeAttached(context);
      if (attachedText !== undefined) await showVolumesLeft(context, attachedText);
      return stepDone;
    }
    const message = await describeAttached(context);
    return message === undefined ? stepDone : waitFor(message, safetyLook(context));
  },
};

/** Names the attachments that keep the Nodes; undefined: none. */
async function describeAttached(context: StepContext): Promise<string | undefined> {
  const { deps, now } = context;
  const nodes = terminatingNodes(context);
  const answer = await deps.kubernetes.list(RESOURCES.VolumeAttachment);
  const attachments = attachmentsOf(nodes, objectsOf(answer, { ifNotServed: 'throw' }));
  if (attachments.length === 0) return undefined;
  const names = nodes.map(({ metadata }) => metadata.name);
  const pods = (await inParallel(names.map(name => loadPodsOnNode(deps, name)))).flat();
  const claims = podsThatStay(pods, now).flatMap(pod => pod.volumeClaims.map(claim => volumeOfClaim(deps, pod, claim)));
  const blocking = blockingAttachments(attachments, await inParallel(claims));
  return blocking.length === 0 ? undefined : `volumes are attached: VolumeAttachments ${listed(blocking)}`;
}

/** The PersistentVolume of a claim. A claim that is gone is skipped; any other failure goes up. */
async function volumeOfClaim(
  { kubernetes }: FinalizerDeps,
  { namespace }: PodView,
  name: string,
): Promise<string | undefined> {
  const claim = objectOf(await kubernetes.get({ type: RESOURCES.PersistentVolumeClaim, namespace, name }), {
    ifNotServed: 'throw',
  });
  return optionalText(claim?.spec?.['volumeName']);
}
