/** What a drain changes on its Node: state label, cordon, and whether its pods are published. Exactly the Node that was looked at (I10). */
import { withoutWaiter, withWaiter } from '../../shared/cluster/pod-watchers.ts';
import { ANNOTATIONS, NVSENTINEL } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { DRAIN_STATES, QUARANTINED, REMEDIATING } from '../../shared/domain/quarantine.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import type { DrainStatus, Hold } from './model.ts';

interface Deps {
  readonly kubernetes: Pick<KubernetesApi, 'patch'>;
}

export type NodeChange = 'ok' | 'gone' | 'changed';

/** Nobody schedules on it, its pods are published, and it is shown as draining. */
export function prepareNode(
  deps: Deps,
  node: KubernetesObject,
  { id, hold, showDraining }: { readonly id: string; readonly hold: Hold; readonly showDraining: boolean },
): Promise<NodeChange> {
  const isOwn = hold.cordon === 'own';
  return change(deps, node, {
    annotations: {
      [ANNOTATIONS.watchPods]: withWaiter(node, 'drain'),
      ...(isOwn && { [ANNOTATIONS.cordonedByDrain]: id }),
    },
    state: showDraining && stateOf(node) !== REMEDIATING ? DRAIN_STATES.draining : stateOf(node),
    unschedulable: isOwn ? true : undefined,
  });
}

/** The drain is over. @param uncordon undoes our own cordon */
export function finishNode(
  deps: Deps,
  node: KubernetesObject,
  { status, uncordon }: { readonly status: DrainStatus; readonly uncordon: boolean },
): Promise<NodeChange> {
  return change(deps, node, {
    annotations: {
      [ANNOTATIONS.watchPods]: withoutWaiter(node, 'drain'),
      ...(uncordon && { [ANNOTATIONS.cordonedByDrain]: null }),
    },
    state: stateAfter(node, status),
    unschedulable: uncordon ? null : undefined,
  });
}

const stateOf = ({ metadata }: KubernetesObject): string | undefined => metadata.labels?.[NVSENTINEL.stateLabel];

/** A drain that is called off takes back only what drains have written. */
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
      const isOurs = Object.values<string | undefined>(DRAIN_STATES).includes(state);
      if (!isOurs) return state;
      return node.metadata.annotations?.[NVSENTINEL.quarantineAnnotation] === undefined ? undefined : QUARANTINED;
    }
  }
}

interface Wanted {
  readonly annotations: Readonly<Record<string, string | null>>;
  readonly state: string | undefined;
  /** null: schedulable; undefined: as it is. */
  readonly unschedulable: true | null | undefined;
}

async function change({ kubernetes }: Deps, node: KubernetesObject, wanted: Wanted): Promise<NodeChange> {
  const { name, uid, resourceVersion, annotations = {} } = node.metadata;
  const changed = Object.entries(wanted.annotations).filter(([key, value]) => (annotations[key] ?? null) !== value);
  const isCordoned = node.spec?.['unschedulable'] === true;
  const cordon = wanted.unschedulable === undefined || (wanted.unschedulable === true) === isCordoned;
  const isSame = wanted.state === stateOf(node);
  if (changed.length === 0 && cordon && isSame) return 'ok';
  const body: JsonObject = {
    metadata: {
      uid,
      resourceVersion,
      ...(changed.length > 0 && { annotations: Object.fromEntries(changed) }),
      ...(!isSame && { labels: { [NVSENTINEL.stateLabel]: wanted.state ?? null } }),
    },
    ...(!cordon && { spec: { unschedulable: wanted.unschedulable ?? null } }),
  };
  const outcome = await kubernetes.patch({ type: RESOURCES.Node, name }, { type: 'merge', body });
  return outcome.kind === 'ok' ? 'ok' : outcome.kind === 'notFound' ? 'gone' : 'changed';
}
