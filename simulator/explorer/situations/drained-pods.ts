/** A pod on node n1 that is to go, its PodDisruptionBudget, and what is heard of them. */
import type { FunctionName } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesManifest, ObjectRef } from '../../../shared/domain/kubernetes-object.ts';
import { clusterEvent } from '../messages.ts';
import type { Message } from '../situation.ts';

/** Stops at once when it is evicted. */
export const POD: KubernetesManifest = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'prod', uid: 'uid-web', labels: { app: 'web' } },
  spec: { nodeName: 'n1', terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'main' }] },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
};
export const PROTECTED: KubernetesManifest = {
  ...POD,
  metadata: { ...POD.metadata, annotations: { 'karpenter.sh/do-not-disrupt': 'true' } },
};
/** Another one beside it. */
export const OTHER_POD: KubernetesManifest = {
  ...PROTECTED,
  metadata: { ...PROTECTED.metadata, name: 'api', uid: 'uid-api' },
};
export const BUDGET: KubernetesManifest = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web', namespace: 'prod', uid: 'uid-budget' },
  spec: { selector: { matchLabels: { app: 'web' } }, minAvailable: 1 },
  status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, observedGeneration: 1 },
};
export const budgetRef: ObjectRef = { type: RESOURCES.PodDisruptionBudget, namespace: 'prod', name: 'web' };
export const budgetEvent = (to: FunctionName): Message =>
  clusterEvent(to, {
    kind: 'PodDisruptionBudget',
    apiVersion: 'policy/v1',
    namespace: 'prod',
    name: 'web',
    uid: 'uid-budget',
    changed: ['status'],
  });
export const podEvent = (to: FunctionName, change: 'Modified' | 'Deleted'): Message =>
  clusterEvent(to, {
    kind: 'Pod',
    apiVersion: 'v1',
    namespace: 'prod',
    name: 'web',
    uid: 'uid-web',
    change,
    hints: { nodeName: 'n1' },
  });
