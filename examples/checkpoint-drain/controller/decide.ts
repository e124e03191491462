/**
 * The rule: a pod is asked to save its work, and evicted once it says that it has. Pure.
 *
 * The workload and the controller speak by annotations on the pod, `requested` and `done`, both the UID of the request: an old answer answers nothing
 * new. A pod without the label does not know of checkpoints, and is evicted at once. A protected pod is never evicted: its protection is waited for.
 */

import { DO_NOT_DISRUPT_ANNOTATION } from '../../../shared/domain/pod.ts';

export const LABEL = 'checkpoint.example.com/enabled';
export const REQUESTED = 'checkpoint.example.com/requested';
export const DONE = 'checkpoint.example.com/done';
/** Why the workload cannot save its work. */
export const FAILED = 'checkpoint.example.com/failed';

export interface CheckpointRequest {
  readonly uid: string;
  readonly nodeName: string;
}

/** A pod that the request names, as it is now. */
export interface SeenPod {
  readonly key: string;
  readonly nodeName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly terminating: boolean;
  /** The time that its do-not-disrupt annotation gives is over. */
  readonly protectionEnded?: boolean;
}

export type PodDecision =
  /** Gone, finished with, or a new pod of that name elsewhere. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'ask' }
  | { readonly kind: 'wait'; readonly message: string }
  | { readonly kind: 'evict' }
  | { readonly kind: 'failed'; readonly message: string };

/** @param pod undefined: there is none of that name */
export function decide({ uid, nodeName }: CheckpointRequest, pod: SeenPod | undefined): PodDecision {
  if (pod === undefined || pod.nodeName !== nodeName) return { kind: 'gone' };
  if (pod.terminating) return { kind: 'wait', message: `${pod.key} is stopping` };
  const { annotations, labels, key } = pod;
  if (labels[LABEL] !== 'true' || annotations[DONE] === uid) {
    const isProtected = annotations[DO_NOT_DISRUPT_ANNOTATION] !== undefined && pod.protectionEnded !== true;
    return isProtected ? { kind: 'wait', message: `${key} is protected by do-not-disrupt` } : { kind: 'evict' };
  }
  if (annotations[REQUESTED] !== uid) return { kind: 'ask' };
  const failure = annotations[FAILED];
  if (failure !== undefined) return { kind: 'failed', message: `${key} cannot save its work: ${failure}` };
  return { kind: 'wait', message: `${key} saves its work` };
}
