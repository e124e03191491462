/**
 * Waits until the volumes of the Nodes are detached, as Karpenter does: an instance that ends with a volume attached keeps
 * the volume from its next pod for minutes. Volumes of pods that the drain passed over will not be detached, and are not waited for.
 */
import type { FinalizerDeps } from '../common/context.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { listed } from '../../../shared/domain/cut-text.ts';
import { drainabilityOf } from '../../../shared/domain/drainable-pod.ts';
import { objectIn, optionalText } from '../../../shared/domain/json.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { PodView } from '../../../shared/domain/pod.ts';
import { parseTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import type { Step } from './steps.ts';
import { inParallel } from '../../../shared/cluster/in-parallel.ts';
import { loadPodsOnNode } from '../../../shared/cluster/protected-pods.ts';
import { showVolumesLeft } from './conditions.ts';
import { terminatingNodes, safetyLook, stepDone, waitFor, type TerminationContext } from './context.ts';
import { objectOf, objectsOf } from '../../../shared/ports/read-answer.ts';

export const awaitVolumes: Step<TerminationContext> = {
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
async function describeAttached(context: TerminationContext): Promise<string | undefined> {
  const { deps, now } = context;
  const nodes = new Map(terminatingNodes(context).map(node => [node.metadata.name, node]));
  const names = new Set(nodes.keys());
  const attachments = objectsOf(await deps.kubernetes.list(RESOURCES.VolumeAttachment), {
    notServed: 'notKnown',
  }).filter(attachment => {
    const nodeName = attachment.spec?.['nodeName'];
    const node = typeof nodeName === 'string' ? nodes.get(nodeName) : undefined;
    return node !== undefined && !isOlder(attachment, node);
  });
  const withVolume = attachments.flatMap(attachment => {
    const volume = volumeOf(attachment);
    return volume === undefined ? [] : [{ name: attachment.metadata.name, volume }];
  });
  if (withVolume.length === 0) return undefined;
  const staying = await volumesThatStay(deps, names, now);
  const blocking = withVolume.filter(({ volume }) => !staying.has(volume)).map(({ name }) => name);
  if (blocking.length === 0) return undefined;
  return `volumes are attached: VolumeAttachments ${listed(blocking.toSorted())}`;
}

/** Whether an attachment was made for an earlier Node of that name (I10). A time that cannot be read says nothing. */
function isOlder(attachment: KubernetesObject, node: KubernetesObject): boolean {
  const [attached, begun] = [attachment, node].map(({ metadata }) => parseTimestamp(metadata.creationTimestamp));
  return attached !== undefined && begun !== undefined && attached < begun;
}

/** The PersistentVolume of an attachment; undefined: its volume is inline, has none, and does not count. */
const volumeOf = ({ spec }: KubernetesObject): string | undefined =>
  optionalText(objectIn(spec, 'source')['persistentVolumeName']);

/** PersistentVolumes of pods that stay where they are. Those of finished pods are detached, so they count. */
async function volumesThatStay(
  deps: FinalizerDeps,
  nodeNames: ReadonlySet<string>,
  now: EpochMs,
): Promise<ReadonlySet<string>> {
  const pods = (await inParallel([...nodeNames].map(name => loadPodsOnNode(deps, name)))).flat();
  const staying = pods.filter(pod => {
    const drainability = drainabilityOf(pod, now);
    return drainability.kind === 'skipped' && drainability.because !== 'Finished';
  });
  const volumes = await inParallel(
    staying.flatMap(pod => pod.volumeClaims.map(claim => volumeOfClaim(deps, pod, claim))),
  );
  return new Set(volumes.filter(volume => volume !== undefined));
}

/** The PersistentVolume of a claim. A claim that is gone is skipped; any other failure goes up. */
async function volumeOfClaim({ kubernetes }: FinalizerDeps, { namespace }: PodView, name: string) {
  const claim = objectOf(await kubernetes.get({ type: RESOURCES.PersistentVolumeClaim, namespace, name }), {
    notServed: 'notKnown',
  });
  return optionalText(claim?.spec?.['volumeName']);
}
