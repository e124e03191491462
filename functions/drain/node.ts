/**
 * Changes of a drain on its Node: state label, cordon, conditions, and whether its pods are published. They reach exactly the Node that was
 * looked at (I10).
 */
import { withoutWaiter, withWaiter } from '../../shared/cluster/pod-watchers.ts';
import { ANNOTATIONS, NVSENTINEL } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { DRAIN_IN_PROGRESS, DRAINED, isOwnCondition, OWN_REASON } from '../../shared/domain/node-drain-conditions.ts';
import { readConditions, type NodeCondition } from '../../shared/domain/node.ts';
import { DRAIN_STATES, isDrainState, REMEDIATING, stateWithoutDrain } from '../../shared/domain/quarantine.ts';
import { toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import { changeExactly, changeNodeConditions } from '../../shared/ports/exact-change.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { requestedId, describeUnderWay } from './rule/node-annotations.ts';
import type { DrainConditionState } from './rule/observation.ts';
import { OWNER, type ActiveDrain, type Cordon } from './record.ts';
import type { DrainStatus, FinishedDrain } from './request-record.ts';

interface Deps {
  readonly kubernetes: Pick<KubernetesApi, 'patch'>;
}

export type NodeChange =
  /** The Node is as wanted, in this version. */
  { readonly kind: 'ok'; readonly resourceVersion: string } | { readonly kind: 'gone' } | { readonly kind: 'changed' };

/** Prepares the Node: nobody schedules on it, its pods are published, and it is shown as draining. */
export function prepareNode(
  deps: Deps,
  node: KubernetesObject,
  {
    active,
    cordon,
    showDraining,
  }: { readonly active: ActiveDrain; readonly cordon: Cordon; readonly showDraining: boolean },
): Promise<NodeChange> {
  const isOwn = cordon.by === 'own';
  return change(deps, node, {
    annotations: {
      [ANNOTATIONS.watchPods]: withWaiter(node, OWNER),
      ...(isOwn && { [ANNOTATIONS.cordonedByDrain]: active.id }),
      [ANNOTATIONS.drainUnderWay]: describeUnderWay(active),
    },
    state: showDraining && stateOf(node) !== REMEDIATING ? DRAIN_STATES.draining : stateOf(node),
    unschedulable: isOwn ? true : undefined,
  });
}

export interface NodeEnd {
  readonly status: DrainStatus;
  /** Undoes our own cordon. */
  readonly uncordon: boolean;
  /** Ends of requests: one that a person asked for on the Node is answered there. */
  readonly ended: readonly FinishedDrain[];
}

/** Answers a person who asked on the Node; nothing else of it changes. */
export function answerNode(deps: Deps, node: KubernetesObject, ended: NodeEnd['ended']): Promise<NodeChange> {
  return change(deps, node, { annotations: answerTo(node, ended), state: stateOf(node), unschedulable: undefined });
}

function answerTo({ metadata }: KubernetesObject, ended: NodeEnd['ended']): Readonly<Record<string, string>> {
  const requested = requestedId(metadata.annotations?.[ANNOTATIONS.drainRequested]);
  const answer = ended.find(({ id }) => id === requested);
  if (answer === undefined) return {};
  const { id, status, reason, message, drained, left } = answer;
  return {
    [ANNOTATIONS.drainAnswer]: JSON.stringify({ id, status, reason, message, drained, left: left.slice(0, LISTED) }),
  };
}

/** Most names that an answer lists: annotations of an object are at most 256 KB together. */
const LISTED = 20;

/** Takes the marks of a drain off the Node, and writes how it ended. */
export function finishNode(
  deps: Deps,
  node: KubernetesObject,
  { status, uncordon, ended }: NodeEnd,
): Promise<NodeChange> {
  return change(deps, node, {
    annotations: {
      [ANNOTATIONS.watchPods]: withoutWaiter(node, OWNER),
      ...(uncordon && { [ANNOTATIONS.cordonedByDrain]: null }),
      ...withoutStaleMarks(node),
      [ANNOTATIONS.drainUnderWay]: null,
      ...answerTo(node, ended),
    },
    state: stateAfter(node, status),
    // A repair that has cordoned it, too, opens it at its own end.
    unschedulable:
      uncordon && node.metadata.annotations?.[ANNOTATIONS.cordonedByRepair] === undefined ? null : undefined,
  });
}

/** Takes the marks of our cordons, and the state of our drains, off a node that somebody has uncordoned since. */
export function disownCordon(deps: Deps, node: KubernetesObject): Promise<NodeChange> {
  const annotations = { [ANNOTATIONS.cordonedByDrain]: null, ...withoutStaleMarks(node) };
  return change(deps, node, { annotations, state: stateAfter(node, 'Cancelled'), unschedulable: undefined });
}

/** Once somebody has uncordoned the node, the next cordon is not ours: neither that of a drain, nor that of a repair. */
function withoutStaleMarks(node: KubernetesObject): Readonly<Record<string, null>> {
  const marks = [ANNOTATIONS.cordonedByDrain, ANNOTATIONS.cordonedByRepair];
  const stale = isCordoned(node) ? [] : marks.filter(mark => node.metadata.annotations?.[mark] !== undefined);
  return Object.fromEntries(stale.map(mark => [mark, null]));
}

const isCordoned = ({ spec }: KubernetesObject): boolean => spec?.['unschedulable'] === true;

const stateOf = ({ metadata }: KubernetesObject): string | undefined => metadata.labels?.[NVSENTINEL.stateLabel];

/** The state label after a drain. A drain that is called off takes back only what drains have written. */
function stateAfter(node: KubernetesObject, status: DrainStatus): string | undefined {
  const state = stateOf(node);
  if (state === REMEDIATING) return state;
  switch (status) {
    case 'Succeeded':
    case 'AlreadyDrained':
      return DRAIN_STATES.succeeded;
    case 'Failed':
      return DRAIN_STATES.failed;
    case 'Cancelled': {
      if (!isDrainState(state)) return state;
      return stateWithoutDrain(node.metadata.annotations);
    }
  }
}

interface WantedNode {
  readonly annotations: Readonly<Record<string, string | null>>;
  readonly state: string | undefined;
  /** The new `spec.unschedulable`; null: schedulable; undefined: as it is. */
  readonly unschedulable: true | null | undefined;
}

async function change({ kubernetes }: Deps, node: KubernetesObject, wanted: WantedNode): Promise<NodeChange> {
  const { name, resourceVersion, annotations = {} } = node.metadata;
  const changed = Object.entries(wanted.annotations).filter(([key, value]) => (annotations[key] ?? null) !== value);
  const isCordonSame = wanted.unschedulable === undefined || (wanted.unschedulable === true) === isCordoned(node);
  const isStateSame = wanted.state === stateOf(node);
  if (changed.length === 0 && isCordonSame && isStateSame) return { kind: 'ok', resourceVersion };
  const outcome = await changeExactly(kubernetes, { type: RESOURCES.Node, name }, node.metadata, {
    ...(changed.length > 0 && { annotations: Object.fromEntries(changed) }),
    ...(!isStateSame && { labels: { [NVSENTINEL.stateLabel]: wanted.state ?? null } }),
    ...(!isCordonSame && { spec: { unschedulable: wanted.unschedulable ?? null } }),
  });
  if (outcome.kind === 'ok') return { kind: 'ok', resourceVersion: outcome.object.metadata.resourceVersion };
  return { kind: outcome.kind === 'notFound' ? 'gone' : 'changed' };
}

/** State of the drain, by Curfew's own conditions on the Node. */
export function readShownDrain(conditions: readonly NodeCondition[]): DrainConditionState {
  const has = (type: string): boolean => conditions.some(each => each.type === type && isOwnCondition(each));
  return has(DRAIN_IN_PROGRESS) ? 'inProgress' : has(DRAINED) ? 'drained' : 'nothing';
}

/** Type of the condition that is true in a state. */
const TYPES: Readonly<Record<DrainConditionState, string | undefined>> = {
  inProgress: DRAIN_IN_PROGRESS,
  drained: DRAINED,
  nothing: undefined,
};

/**
 * Shows the state of a drain and its message, if the Node does not show them yet; conditions of others stay. Exactly the Node that was looked
 * at is changed.
 *
 * @returns the Node in the version that it has then; undefined: it changed, or is gone
 */
export async function showDrain(
  { kubernetes }: Deps,
  node: KubernetesObject,
  shown: DrainConditionState,
  { message, now }: { readonly message: string; readonly now: EpochMs },
): Promise<KubernetesObject | undefined> {
  const storedConditions = readConditions(node.status?.['conditions']);
  const isShown = readShownDrain(storedConditions) === shown;
  const stated = isShown ? storedConditions.find(each => each.type === TYPES[shown]) : undefined;
  if (isShown && (stated === undefined || stated.message === message)) return node;
  const time = toTimestamp(now);
  // Only another state is a transition.
  const transitionTime = stated?.lastTransitionTime === undefined ? time : toTimestamp(stated.lastTransitionTime);
  const is = (type: string, isTrue: boolean, reason: string): readonly JsonObject[] => {
    const stored = storedConditions.find(each => each.type === type);
    if (stored !== undefined && !isOwnCondition(stored)) return [];
    if (isTrue) {
      return [
        {
          type,
          status: 'True',
          reason: `${OWN_REASON}${reason}`,
          message,
          lastTransitionTime: transitionTime,
          lastHeartbeatTime: time,
        },
      ];
    }
    return stored === undefined ? [] : [{ type, $patch: 'delete' }];
  };
  const conditions = [
    ...is(DRAIN_IN_PROGRESS, shown === 'inProgress', 'Draining'),
    ...is(DRAINED, shown === 'drained', 'Drained'),
  ];
  if (conditions.length === 0) return node;
  const outcome = await changeNodeConditions(kubernetes, node.metadata, conditions);
  if (outcome.kind !== 'ok') return undefined;
  return { ...node, metadata: { ...node.metadata, resourceVersion: outcome.object.metadata.resourceVersion } };
}
