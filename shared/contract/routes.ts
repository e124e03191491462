/**
 * The routing table: which events reach which function's inbox, and of which parts of an object a function wants to hear. Infra makes
 * one EventBridge rule of each row; the simulation and the local bus match with the same patterns. Only exact values, `exists` and
 * `$or` are used, which every implementation agrees on.
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

/** One of the values that a field may have; of an event's array, one element has it. */
type Value = string | boolean | { readonly exists: boolean };
/** All fields must match. `$or` lists alternatives, one of which must match as well. */
export interface FieldsPattern {
  readonly [field: string]: readonly (Value | FieldsPattern)[] | FieldsPattern;
}

export interface EventPattern {
  /** Absent: from anybody. */
  readonly source?: readonly string[];
  readonly 'detail-type': readonly string[];
  /** Selects cluster events of this cluster only. */
  readonly detail?: FieldsPattern;
}

export interface Route {
  readonly name: string;
  readonly target: FunctionName;
  /** @param cluster its name, as the forwarder writes it into `detail.cluster` */
  readonly pattern: (cluster: string) => EventPattern;
}

/** Events of the forwarder with these detail types. @param detail what else they must say */
const published =
  (detailTypes: readonly string[], detail: FieldsPattern = {}) =>
  (cluster: string): EventPattern => ({
    source: [SOURCES.forwarder],
    'detail-type': detailTypes,
    detail: { cluster: [cluster], ...detail },
  });

/** An object that came, went or is published once more is of interest whatever changed; an event that cannot be read is to be parked. */
const WHOLE_OBJECT: readonly FieldsPattern[] = [
  { change: ['Added', 'Deleted', { exists: false }] },
  { resync: [true] },
];

const typesOf = (kinds: readonly WatchedKind[]): readonly string[] => kinds.map(kind => detailTypeFor(kind));

/** Changes of these kinds. @param parts of kinds of which only changes of these parts are of interest (`forwarder/project.ts`) */
function changesOf(
  kinds: readonly WatchedKind[],
  parts: Partial<Record<WatchedKind, readonly string[]>> = {},
): Route['pattern'] {
  const inPart = Object.entries(parts).map(([kind, changed]) => ({ subject: { kind: [kind] }, changed }));
  if (inPart.length === 0) return published(typesOf(kinds));
  const kindsOfParts = Object.keys(parts);
  const others = { subject: { kind: kinds.filter(kind => !kindsOfParts.includes(kind)) } };
  return published(typesOf(kinds), { $or: [...WHOLE_OBJECT, others, ...inPart] });
}

/** The heartbeats that count as those of the cluster's forwarder. */
export const heartbeatPattern: Route['pattern'] = published([FORWARDER_HEARTBEAT]);

/** True when an event is one that the pattern asks for; says what EventBridge would. */
export function matchesPattern(
  pattern: EventPattern,
  event: Pick<Envelope, 'source' | 'detail-type' | 'detail'>,
): boolean {
  const { source, 'detail-type': detailType, detail = {} } = pattern;
  if (source?.includes(event.source) === false || !detailType.includes(event['detail-type'])) return false;
  return matchesFields(detail, event.detail);
}

type WantedField = FieldsPattern[string];
const isList = (wanted: WantedField): wanted is Extract<WantedField, readonly unknown[]> => Array.isArray(wanted);
const isValue = (wanted: Value | FieldsPattern): wanted is Value =>
  typeof wanted !== 'object' || typeof wanted['exists'] === 'boolean';

function matchesFields(pattern: FieldsPattern, value: unknown): boolean {
  return Object.entries(pattern).every(([name, wanted]) => {
    if (name === '$or' && isList(wanted)) return wanted.some(each => !isValue(each) && matchesFields(each, value));
    const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
    return isList(wanted)
      ? wanted.some(each => isValue(each) && matchesValue(each, found))
      : matchesFields(wanted, found);
  });
}

function matchesValue(wanted: Value, found: unknown): boolean {
  const values: readonly unknown[] = Array.isArray(found) ? found : [found];
  return typeof wanted === 'object'
    ? values.some(each => each !== undefined) === wanted.exists
    : values.includes(wanted);
}

/**
 * The pattern for what is published only while the pods of a node are watched: changes of those pods, and of the
 * objects that can keep them.
 */
const changesOfBlockers = (owner: FunctionName, ...kinds: readonly WatchedKind[]): Route['pattern'] =>
  // `podsFor`: the one function that waits for the pods.
  published([NODE_PODS_CHANGED, ...typesOf(kinds)], { hints: { podsFor: [{ exists: false }, owner] } });

/** The routes of repair. A part that a pass reads only when it looks at the whole pool stands in no list. */
const REPAIR_ROUTES: readonly Route[] = [
  {
    name: 'ClusterToRepair',
    target: 'repair',
    pattern: changesOf(['Node', 'NodeClaim', 'NodePool', 'NodeLifecyclePolicy', 'ConfigMap'], {
      Node: ['annotations', 'bootID', 'conditions', 'deletionTimestamp', 'labels', 'providerID'],
      NodeClaim: ['annotations', 'deletionTimestamp', 'labels', 'nodeName', 'providerID'],
    }),
  },
  { name: 'RemediationsToRepair', target: 'repair', pattern: published([REMEDIATION_CHANGED]) },
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
    pattern: changesOf(['Pod', 'Node', 'NodePool', 'NodeLifecyclePolicy'], {
      Node: ['annotations', 'deletionTimestamp', 'labels', 'protection', 'providerID'],
    }),
  },
  { name: 'ProtectionsToGracePeriod', target: 'grace-period', pattern: published([NODE_PROTECTION_CHANGED]) },
];

/** `DrainResourceChanged` too: a FinalizerRule may name the kind of the custom drain. */
const FINALIZER_ROUTES: readonly Route[] = [
  {
    name: 'ClusterToFinalizer',
    target: 'finalizer',
    pattern: changesOf(['Node', 'NodeClaim', 'NodePool', 'NodeLifecyclePolicy', 'FinalizerRule']),
  },
  {
    name: 'BlockersToFinalizer',
    target: 'finalizer',
    pattern: changesOfBlockers('finalizer', 'PodDisruptionBudget', 'VolumeAttachment'),
  },
  {
    name: 'CustomResourcesToFinalizer',
    target: 'finalizer',
    // Any change of a hook's resource is a sign of life. Conditions are what Curfew writes of an object of a rule: they change nothing.
    pattern: published([CUSTOM_RESOURCE_CHANGED, DRAIN_RESOURCE_CHANGED, HOOK_RESOURCE_CHANGED], {
      $or: [
        ...WHOLE_OBJECT,
        { hints: { hookKey: [{ exists: true }] } },
        { changed: ['deletionTimestamp', 'ends', 'finalizers', 'generation'] },
      ],
    }),
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
  { name: 'ClusterToDrain', target: 'drain', pattern: changesOf(['Node', 'NodeLifecyclePolicy', 'ConfigMap']) },
  { name: 'BlockersToDrain', target: 'drain', pattern: changesOfBlockers('drain', 'PodDisruptionBudget') },
  { name: 'DrainedNodesToDrain', target: 'drain', pattern: published([DRAINED_NODE_CHANGED]) },
  { name: 'DrainResourcesToDrain', target: 'drain', pattern: published([DRAIN_RESOURCE_CHANGED]) },
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
