/**
 * The routing table: which events reach which function's inbox. Infra makes one EventBridge rule of each row; the simulation and
 * the local bus match with the same patterns. Only exact values are used, which every implementation agrees on.
 */
import { CUSTOM_RESOURCE_CHANGED, DRAIN_RESOURCE_CHANGED, SOURCES, type FunctionName } from './names.ts';
import { detailTypeFor } from './cluster-event.ts';

export interface EventPattern {
  readonly source: readonly string[];
  readonly 'detail-type': readonly string[];
}

export interface Route {
  readonly name: string;
  readonly target: FunctionName;
  readonly pattern: EventPattern;
}

const fromForwarder = (...kinds: string[]): EventPattern => ({
  source: [SOURCES.forwarder],
  'detail-type': kinds.map(detailTypeFor),
});

/** What is published only while the pods of a node are watched: pods on it, and what can hold them. */
const BLOCKER_KINDS = ['Pod', 'PodDisruptionBudget', 'VolumeAttachment'] as const;

const REPAIR_ROUTES: readonly Route[] = [
  {
    name: 'ClusterToRepair',
    target: 'repair',
    pattern: fromForwarder('Node', 'NodeClaim', 'NodePool', 'NodeLifecyclePolicy', 'ConfigMap'),
  },
];

const GRACE_PERIOD_ROUTES: readonly Route[] = [
  {
    name: 'ClusterToGracePeriod',
    target: 'grace-period',
    pattern: fromForwarder('Pod', 'Node', 'NodePool', 'NodeLifecyclePolicy'),
  },
];

/** `DrainResourceChanged` too: a FinalizerRule may name the kind of the custom drain. */
const FINALIZER_ROUTES: readonly Route[] = [
  {
    name: 'ClusterToFinalizer',
    target: 'finalizer',
    pattern: fromForwarder('Node', 'NodeClaim', 'NodePool', 'NodeLifecyclePolicy', 'FinalizerRule'),
  },
  { name: 'BlockersToFinalizer', target: 'finalizer', pattern: fromForwarder(...BLOCKER_KINDS) },
  {
    name: 'CustomResourcesToFinalizer',
    target: 'finalizer',
    pattern: { source: [SOURCES.forwarder], 'detail-type': [CUSTOM_RESOURCE_CHANGED, DRAIN_RESOURCE_CHANGED] },
  },
];

const DRAIN_ROUTES: readonly Route[] = [
  { name: 'ClusterToDrain', target: 'drain', pattern: fromForwarder('Node', 'NodeLifecyclePolicy', 'ConfigMap') },
  { name: 'BlockersToDrain', target: 'drain', pattern: fromForwarder(...BLOCKER_KINDS) },
  {
    name: 'DrainResourcesToDrain',
    target: 'drain',
    pattern: { source: [SOURCES.forwarder], 'detail-type': [DRAIN_RESOURCE_CHANGED] },
  },
];

/** Every route of each function, deployed or not. */
export const ROUTES_BY_FUNCTION: Readonly<Record<FunctionName, readonly Route[]>> = {
  repair: REPAIR_ROUTES,
  'grace-period': GRACE_PERIOD_ROUTES,
  finalizer: FINALIZER_ROUTES,
  drain: DRAIN_ROUTES,
  timer: [],
};

/** The functions that are deployed. */
export const DEPLOYED_FUNCTIONS: readonly FunctionName[] = ['repair', 'grace-period', 'timer'];

/** The routes of the deployed functions: infra makes a rule of each. */
export const ROUTES: readonly Route[] = DEPLOYED_FUNCTIONS.flatMap(name => ROUTES_BY_FUNCTION[name]);
