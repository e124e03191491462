/** What a test of the Kubernetes ports is run against, and the objects it makes there. */
import type {
  KubernetesManifest,
  KubernetesObject,
  ObjectRef,
  ResourceType,
} from '../../shared/domain/kubernetes-object.ts';
import type { ClusterWatch } from '../../shared/ports/cluster-watch.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';

export interface KubernetesSubject {
  /** Allowed to do everything. */
  readonly api: KubernetesApi;
  readonly watch: ClusterWatch;
  /** A namespace of this test alone, in which pods can be created. */
  readonly namespace: string;
  /** Makes what happened so far too old to watch from. Absent where that cannot be brought about; the test is skipped. */
  readonly compact?: () => Promise<void>;
  /** False: the server sends none (kube-apiserver without its watch cache). */
  readonly bookmarks?: false;
  /** Makes the server send bookmarks soon. Absent: it does so by itself within the time-out of a watch. */
  readonly sendBookmarks?: () => void;
  /** Lets time pass for the server. Absent: it passes by itself. */
  readonly passSeconds?: (count: number) => Promise<void>;
}

export const NAMESPACES: ResourceType = { group: '', version: 'v1', resource: 'namespaces' };
export const CRDS: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
};
export const NOT_SERVED: ResourceType = { group: 'nobody.example.com', version: 'v1', resource: 'nothings' };

export function configMap(
  namespace: string,
  name: string,
  overrides: Partial<KubernetesManifest> = {},
): KubernetesManifest {
  return { apiVersion: 'v1', kind: 'ConfigMap', ...overrides, metadata: { name, namespace, ...overrides.metadata } };
}

export function configMapRef(namespace: string, name: string): ObjectRef {
  return { type: RESOURCES.ConfigMap, namespace, name };
}

/** Creates an object that the test needs; its refusal is the test's failure. */
export async function created(
  api: KubernetesApi,
  type: ResourceType,
  manifest: KubernetesManifest,
): Promise<KubernetesObject> {
  const outcome = await api.create(type, manifest);
  if (outcome.kind !== 'ok') throw new Error(`not created: ${JSON.stringify(outcome)}`);
  return outcome.object;
}

/** A pod on a node that no kubelet serves: deleted gracefully, it stays until somebody deletes it with no grace. */
export async function runningPod(
  { api, namespace }: KubernetesSubject,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<KubernetesObject> {
  const pod = await created(api, RESOURCES.Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels },
    spec: {
      nodeName: 'nowhere',
      terminationGracePeriodSeconds: 30,
      // Pods of a bare control plane have no service account token to mount.
      automountServiceAccountToken: false,
      tolerations: [{ operator: 'Exists' }],
      containers: [{ name: 'main', image: 'registry.example.com/main:1' }],
    },
  });
  const ready = { type: 'Ready', status: 'True' };
  const status = { phase: 'Running', conditions: [ready] };
  const outcome = await api.patch(podRef(pod), { type: 'merge', body: { status } }, { subresource: 'status' });
  if (outcome.kind !== 'ok') throw new Error(`status not set: ${JSON.stringify(outcome)}`);
  return outcome.object;
}

export function podRef({ metadata: { name, namespace } }: KubernetesObject): ObjectRef {
  return { type: RESOURCES.Pod, ...(namespace === undefined ? {} : { namespace }), name };
}

/** A budget for pods with these labels and the status that its controller gives it. */
export async function budget(
  { api, namespace }: KubernetesSubject,
  name: string,
  options: { labels: Readonly<Record<string, string>>; minAvailable: number; disruptionsAllowed: number },
): Promise<void> {
  const { metadata } = await created(api, RESOURCES.PodDisruptionBudget, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace },
    spec: { minAvailable: options.minAvailable, selector: { matchLabels: options.labels } },
  });
  const status = {
    observedGeneration: metadata.generation ?? 1,
    disruptionsAllowed: options.disruptionsAllowed,
    currentHealthy: 1,
    desiredHealthy: options.minAvailable,
    expectedPods: 1,
  };
  const ref = { type: RESOURCES.PodDisruptionBudget, namespace, name };
  const outcome = await api.patch(ref, { type: 'merge', body: { status } }, { subresource: 'status' });
  if (outcome.kind !== 'ok') throw new Error(`status not set: ${JSON.stringify(outcome)}`);
}
