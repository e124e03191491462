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
import type { Unread } from './unread.ts';

export interface WatchedResource {
  /** The objects' kind; items of a list do not carry it. */
  readonly kind: string;
  readonly type: ResourceType;
  /** What the API server selects; without it, all objects of the cluster. */
  readonly selection?: WatchSelection;
  readonly project: Project;
  /** What the API server cannot select: objects that do not pass are forgotten at once. Without it, all pass. */
  readonly isOfInterest?: (object: KubernetesObject, interest: PodInterest) => boolean;
  /** Which of its events need not even be parsed. */
  readonly unread?: Unread;
}

/**
 * What a heartbeat changes of a node: the heartbeat of each condition, the time at which its manager wrote, the version. None of
 * it is in a projection, and a node has no other fields of these names.
 */
const NODE_HEARTBEAT = /"(?:lastHeartbeatTime|time|resourceVersion)":"[^"]*"/g;
/** In the name of the annotation without which a pod matters only on a node that is being drained. */
const POD_MARK = 'do-not-disrupt';

export const WATCHED_RESOURCES: readonly WatchedResource[] = [
  {
    kind: 'Node',
    type: RESOURCES.Node,
    project: projectNode,
    unread: { kind: 'heartbeat', unprojected: NODE_HEARTBEAT },
  },
  { kind: 'NodeClaim', type: RESOURCES.NodeClaim, project: projectNodeClaim },
  { kind: 'NodePool', type: RESOURCES.NodePool, project: projectNodePool },
  { kind: 'NodeLifecyclePolicy', type: RESOURCES.NodeLifecyclePolicy, project: projectPolicy },
  {
    kind: 'ConfigMap',
    type: RESOURCES.ConfigMap,
    selection: { namespace: CONFIG_MAP.namespace, fieldSelector: `metadata.name=${CONFIG_MAP.name}` },
    project: projectConfigMap,
  },
  {
    kind: 'Pod',
    type: RESOURCES.Pod,
    project: projectPod,
    isOfInterest: isPodOfInterest,
    unread: { kind: 'unmarked', mark: POD_MARK },
  },
];
