import type { KubernetesObject } from '../domain/kubernetes-object.ts';

/** A Kubernetes Event about an object, as `kubectl describe` shows it. */
export interface ObjectEvent {
  readonly type: 'Normal' | 'Warning';
  /** One CamelCase word of `shared/contract/reasons.ts`. */
  readonly reason: string;
  readonly message: string;
  readonly about: Pick<KubernetesObject, 'apiVersion' | 'kind'> & {
    readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid?: string };
  };
}

export interface EventRecorder {
  /** Records the event once per object, reason and message; a repetition raises the count of the existing Event. Never throws. */
  record(event: ObjectEvent): Promise<void>;
}
