/** The parts of a Pod that rules look at. Reading never throws: what cannot be read is absent. */
import type { KubernetesObject, OwnerReference } from './kubernetes-object.ts';
import { readConditions } from './node.ts';
import { parseTimestamp, type EpochMs } from './time.ts';

/** Karpenter's annotation: `"true"` or a Go duration on a Pod, `"true"` on a Node. */
export const DO_NOT_DISRUPT_ANNOTATION = 'karpenter.sh/do-not-disrupt';

export interface PodView {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Absent until the pod is bound. */
  readonly nodeName: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly ownerReferences: readonly OwnerReference[];
  /** `Pending`, `Running`, `Succeeded`, `Failed`, `Unknown`; empty when not reported yet. */
  readonly phase: string;
  /** The pod's condition `Ready` is `True`. */
  readonly ready: boolean;
  readonly creationTime: EpochMs | undefined;
  /** When the kubelet took the pod on (`status.startTime`). */
  readonly startTime: EpochMs | undefined;
  readonly deletionTime: EpochMs | undefined;
}

const optionalText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
const instant = (value: unknown): EpochMs | undefined =>
  typeof value === 'string' ? parseTimestamp(value) : undefined;

/** Reads a Pod object. */
export function readPod({ metadata, spec, status }: KubernetesObject): PodView {
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    nodeName: optionalText(spec?.['nodeName']),
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    ownerReferences: metadata.ownerReferences ?? [],
    phase: optionalText(status?.['phase']) ?? '',
    ready: readConditions(status?.['conditions']).some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    creationTime: instant(metadata.creationTimestamp),
    startTime: instant(status?.['startTime']),
    deletionTime: instant(metadata.deletionTimestamp),
  };
}

/** Whether all of the pod's containers have ended for good. */
export function isFinished({ phase }: Pick<PodView, 'phase'>): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** Whether the pod is being deleted. */
export function isTerminating({ deletionTime }: Pick<PodView, 'deletionTime'>): boolean {
  return deletionTime !== undefined;
}
