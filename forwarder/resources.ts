/** The table of watched resources. `deploy/forwarder` grants list and watch of exactly these. */
import {
  CONFIG_MAP,
  CUSTOM_RESOURCE_CHANGED,
  DRAIN_RESOURCE_CHANGED,
  HOOK_RESOURCE_CHANGED,
  REMEDIATION_CHANGED,
} from '../shared/contract/names.ts';
import { RESOURCES } from '../shared/contract/resources.ts';
import type { KubernetesObject, ResourceType } from '../shared/domain/kubernetes-object.ts';
import type { EpochMs } from '../shared/domain/time.ts';
import type { WatchSelection } from '../shared/ports/cluster-watch.ts';
import type { WantedKind } from './wanted-kinds.ts';
import {
  attachmentInterest,
  endOfProtection,
  isGoingPod,
  podInterest,
  projectConfigMap,
  projectFinalizerRule,
  projectNode,
  projectNodeClaim,
  projectNodePool,
  projectPod,
  projectPodDisruptionBudget,
  projectPolicy,
  projectVolumeAttachment,
} from './project.ts';
import {
  hookResourceInterest,
  projectCustomResource,
  projectDrainResource,
  projectHookResource,
  projectRemediation,
} from './project-custom-resource.ts';
import type { ObjectParts, PodInterest, Project } from './projection.ts';

export interface WatchedResource {
  /** The objects' kind; items of a list do not carry it. */
  readonly kind: string;
  readonly type: ResourceType;
  /** The objects that the API server selects. Absent: all objects of the cluster. */
  readonly selection?: WatchSelection;
  readonly project: Project;
  /**
   * Names of lists of objects that `project` does not look at: a page is read without them. Only for kinds whose fields are
   * all known, since a field of that name is cut out wherever it stands.
   */
  readonly unread?: readonly string[];
  /** Objects in a page, where they are so large that the page of the settings would take much memory. */
  readonly pageSizeMax?: number;
  /**
   * Selects where the API server cannot. An object for which it answers undefined is forgotten at once; one for which
   * it answers `node` is of interest only while its node is watched. Absent: all objects are of interest.
   */
  readonly interest?: (object: KubernetesObject, interest: PodInterest) => 'itself' | 'node' | undefined;
  /** True for an object of which only the end is awaited, if it is of interest because of its node alone. */
  readonly awaitsEnd?: (object: KubernetesObject) => boolean;
  /** Whether a changed state is published; deletions always are. Absent: all states are. */
  readonly isNew?: (parts: ObjectParts) => boolean;
  /** A part that is over at a time that the object itself says: that it goes after that time is not published. */
  readonly timedPart?: { readonly name: string; readonly endOf: (object: KubernetesObject) => EpochMs | undefined };
  /** Publishes nothing that the first list finds: only changes after it. */
  readonly quietAtFirst?: true;
  /** The detail-type of its events on the bus; `<Kind>Changed` without it. */
  readonly detailType?: string;
}

/** Name of the list that field managers keep. */
const NOTES = ['managedFields'];

export const WATCHED_RESOURCES: readonly WatchedResource[] = [
  {
    kind: 'Node',
    type: RESOURCES.Node,
    project: projectNode,
    unread: ['images', ...NOTES],
    pageSizeMax: 50,
    timedPart: { name: 'protection', endOf: endOfProtection },
  },
  { kind: 'NodeClaim', type: RESOURCES.NodeClaim, project: projectNodeClaim, unread: NOTES },
  { kind: 'NodePool', type: RESOURCES.NodePool, project: projectNodePool },
  { kind: 'NodeLifecyclePolicy', type: RESOURCES.NodeLifecyclePolicy, project: projectPolicy },
  { kind: 'FinalizerRule', type: RESOURCES.FinalizerRule, project: projectFinalizerRule },
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
    unread: NOTES,
    interest: podInterest,
    awaitsEnd: isGoingPod,
  },
];

/** Resources that are watched only while the pods of some node are. */
export const DRAIN_RESOURCES: readonly WatchedResource[] = [
  {
    kind: 'PodDisruptionBudget',
    type: RESOURCES.PodDisruptionBudget,
    project: projectPodDisruptionBudget,
    isNew: ({ open }) => open === true,
    quietAtFirst: true,
  },
  {
    kind: 'VolumeAttachment',
    type: RESOURCES.VolumeAttachment,
    project: projectVolumeAttachment,
    interest: attachmentInterest,
    quietAtFirst: true,
  },
];

/**
 * The settings that ask for a kind: FinalizerRules, the custom drain of the configuration, actions of repairs, or hooks
 * of terminations.
 */
export type KindRole = 'finalizer' | 'drain' | 'repair' | 'hook';

/** The watch of a kind that somebody names; of a kind that both name, the drain's parts include the other's. */
export function customResource(
  { kind, endConditions = [] }: WantedKind,
  type: ResourceType,
  role: KindRole,
): WatchedResource {
  switch (role) {
    case 'finalizer':
      return { kind, type, project: projectCustomResource, detailType: CUSTOM_RESOURCE_CHANGED };
    case 'drain':
      return { kind, type, project: projectDrainResource(endConditions), detailType: DRAIN_RESOURCE_CHANGED };
    case 'repair':
      return { kind, type, project: projectRemediation, detailType: REMEDIATION_CHANGED };
    case 'hook':
      return {
        kind,
        type,
        project: projectHookResource,
        interest: hookResourceInterest,
        detailType: HOOK_RESOURCE_CHANGED,
      };
  }
}
