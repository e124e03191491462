/** What is watched, in one table. `deploy/forwarder` grants get, list and watch of exactly these resources. */
import { CONFIG_MAP } from '../shared/contract/names.ts';
import { RESOURCES } from '../shared/contract/resources.ts';
import type { KubernetesObject, ResourceType } from '../shared/domain/kubernetes-object.ts';
import type { WatchSelection } from '../shared/ports/cluster-watch.ts';
import {
  isPodOfInterest,
  projectConfigMap,
  projectNode,
  projectNodeClaim,
  projectNodePool,
  projectPod,
  projectPolicy,
  type PodInterest,
  type Project,
} from './project.ts';

export interface WatchedResource {
  /** The objects' kind; items of a list do not carry it. */
  readonly kind: string;
  readonly type: ResourceType;
  /** What the API server selects; without it, all objects of the cluster. */
  readonly selection?: WatchSelection;
  readonly project: Project;
  /** What the API server cannot select: objects that do not pass are forgotten at once. Without it, all pass. */
  readonly isOfInterest?: (object: KubernetesObject, interest: PodInterest) => boolean;
}

export const WATCHED_RESOURCES: readonly WatchedResource[] = [
  { kind: 'Node', type: RESOURCES.Node, project: projectNode },
  { kind: 'NodeClaim', type: RESOURCES.NodeClaim, project: projectNodeClaim },
  { kind: 'NodePool', type: RESOURCES.NodePool, project: projectNodePool },
  { kind: 'NodeLifecyclePolicy', type: RESOURCES.NodeLifecyclePolicy, project: projectPolicy },
  {
    kind: 'ConfigMap',
    type: RESOURCES.ConfigMap,
    selection: { namespace: CONFIG_MAP.namespace, fieldSelector: `metadata.name=${CONFIG_MAP.name}` },
    project: projectConfigMap,
  },
  { kind: 'Pod', type: RESOURCES.Pod, project: projectPod, isOfInterest: isPodOfInterest },
];
