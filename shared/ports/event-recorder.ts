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
  /** Records one Event per object and reason; a repetition raises its count and replaces its message. Never throws. */
  record(event: ObjectEvent): Promise<void>;
}
