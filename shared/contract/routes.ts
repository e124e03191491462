/**
 * The routing table: which events reach which function's inbox. Infra makes one EventBridge rule of each row; the simulation and
 * the local bus match with the same patterns. Only exact values are used, which every implementation agrees on.
 */
import { detailTypeFor } from './cluster-event.ts';
import type { Envelope } from './envelope.ts';
import {
  CUSTOM_RESOURCE_CHANGED,
  DRAIN_COMPLETED,
  DRAIN_REQUESTED,
  DRAIN_RESOURCE_CHANGED,
  DRAINED_NODE_CHANGED,
  FORWARDER_HEARTBEAT,
  HEALTH_EVENT,
  HOOK_RESOURCE_CHANGED,
  HOOK_ANSWERED,
  NODE_PODS_CHANGED,
  NODE_PROTECTION_CHANGED,
  REMEDIATION_CHANGED,
  SOURCES,
  type FunctionName,
} from './names.ts';
import type { WatchedKind } from './resources.ts';

export interface EventPattern {
  /** Absent: from anybody. */
  readonly source?: readonly string[];
  readonly 'detail-type': readonly string[];
  /** Of cluster events: those of this cluster only. */
  readonly detail?: Readonly<Record<string, readonly string[]>>;
}

export interface Route {
  readonly name: string;
  readonly target: FunctionName;
  /** @param cluster its name, as the forwarder writes it into `detail.cluster` */
  readonly pattern: (cluster: string) => EventPattern;
}

/** Events of the forwarder with these detail types. */
const published =
  (...detailTypes: string[]) =>
  (cluster: string): EventPattern => ({
    source: [SOURCES.forwarder],
    'detail-type': detailTypes,
    detail: { cluster: [cluster] },
  });

const changesOf = (...kinds: WatchedKind[]): Route['pattern'] => published(...kinds.map(kind => detailTypeFor(kind)));

/** Which heartbeats count as those of the cluster's forwarder. */
export const heartbeatPattern: Route['pattern'] = published(FORWARDER_HEARTBEAT);

/** True when an event is one that the pattern asks for; says what EventBridge would. */
export function matchesPattern(
  pattern: EventPattern,
  event: Pick<Envelope, 'source' | 'detail-type' | 'detail'>,
): boolean {
  const { source, 'detail-type': detailType, detail } = pattern;
  if (source?.includes(event.source) === false || !detailType.includes(event['detail-type'])) return false;
  return Object.entries(detail ?? {}).every(([field, values]) => {
    const value = event.detail[field];
    return typeof value === 'string' && values.includes(value);
  });
}

/** What is published only while the pods of a node are watched: changes of them, and what can hold them. */
const BLOCKER_KINDS = ['PodDisruptionBudget', 'VolumeAttachment'] as const;
const changesOfBlockers = published(NODE_PODS_CHANGED, ...BLOCKER_KINDS.map(kind => detailTypeFor(kind)));

const REPAIR_ROUTES: readonly Route[] = [
  {
    name: 'ClusterToRepair',
    target: 'repair',
    pattern: changesOf('Node', 'NodeClaim', 'NodePool', 'NodeLifecyclePolicy', 'ConfigMap'),
  },
  { name: 'RemediationsToRepair', target: 'repair', pattern: published(REMEDIATION_CHANGED) },
  {
    name: 'DrainsToRepair',
    target: 'repair',
    pattern: () => ({ source: [SOURCES.drain], 'detail-type': [DRAIN_COMPLETED] }),
  },
];

const GRACE_PERIOD_ROUTES: readonly Route[] = [
  {
    name: 'ClusterToGracePeriod',
    target: 'grace-period',
    pattern: changesOf('Pod', 'Node', 'NodePool', 'NodeLifecyclePolicy'),
  },
  { name: 'ProtectionsToGracePeriod', target: 'grace-period', pattern: published(NODE_PROTECTION_CHANGED) },
];

/** `DrainResourceChanged` too: a FinalizerRule may name the kind of the custom drain. */
const FINALIZER_ROUTES: readonly Route[] = [
  {
    name: 'ClusterToFinalizer',
    target: 'finalizer',
    pattern: changesOf('Node', 'NodeClaim', 'NodePool', 'NodeLifecyclePolicy', 'FinalizerRule'),
  },
  { name: 'BlockersToFinalizer', target: 'finalizer', pattern: changesOfBlockers },
  {
    name: 'CustomResourcesToFinalizer',
    target: 'finalizer',
    pattern: published(CUSTOM_RESOURCE_CHANGED, DRAIN_RESOURCE_CHANGED, HOOK_RESOURCE_CHANGED),
  },
  {
    name: 'WorkersToFinalizer',
    target: 'finalizer',
    pattern: cluster => ({
      source: [SOURCES.worker],
      'detail-type': [HOOK_ANSWERED],
      detail: { cluster: [cluster] },
    }),
  },
];

const DRAIN_ROUTES: readonly Route[] = [
  { name: 'ClusterToDrain', target: 'drain', pattern: changesOf('Node', 'NodeLifecyclePolicy', 'ConfigMap') },
  { name: 'BlockersToDrain', target: 'drain', pattern: changesOfBlockers },
  { name: 'DrainedNodesToDrain', target: 'drain', pattern: published(DRAINED_NODE_CHANGED) },
  { name: 'DrainResourcesToDrain', target: 'drain', pattern: published(DRAIN_RESOURCE_CHANGED) },
  // A bus serves one cluster: a monitor need not know its name.
  { name: 'RequestsToDrain', target: 'drain', pattern: () => ({ 'detail-type': [HEALTH_EVENT, DRAIN_REQUESTED] }) },
];

const ROUTES_BY_FUNCTION: Readonly<Record<FunctionName, readonly Route[]>> = {
  finalizer: FINALIZER_ROUTES,
  drain: DRAIN_ROUTES,
  repair: REPAIR_ROUTES,
  'grace-period': GRACE_PERIOD_ROUTES,
  timer: [],
};

/** Infra makes a rule of each. */
export const ROUTES: readonly Route[] = Object.values(ROUTES_BY_FUNCTION).flat();
