/** The conditions by which a Node shows its drain. They inform: where they must not be written, the drain goes on. */
import { RESOURCES } from '../../shared/contract/resources.ts';
import { DRAIN_IN_PROGRESS, DRAINED, isOwnCondition, OWN_REASON } from '../../shared/domain/node-drain-conditions.ts';
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { readConditions, type NodeCondition } from '../../shared/domain/node.ts';
import { toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import type { ShownDrain } from './observation.ts';

interface Deps {
  readonly kubernetes: Pick<KubernetesApi, 'patch'>;
}

/** What Curfew's own conditions on the Node say. */
export function readShownDrain(conditions: readonly NodeCondition[]): ShownDrain {
  const has = (type: string): boolean => conditions.some(each => each.type === type && isOwnCondition(each));
  return has(DRAIN_IN_PROGRESS) ? 'inProgress' : has(DRAINED) ? 'drained' : 'nothing';
}

/**
 * Shows it, if the Node does not show it yet; conditions of others stay. Exactly the Node that was looked at.
 *
 * @returns the Node in the version that it has then; undefined: it changed, or is gone
 */
export async function showDrain(
  { kubernetes }: Deps,
  node: KubernetesObject,
  shown: ShownDrain,
  { message, now }: { readonly message: string; readonly now: EpochMs },
): Promise<KubernetesObject | undefined> {
  const { name, uid, resourceVersion } = node.metadata;
  const before = readConditions(node.status?.['conditions']);
  if (readShownDrain(before) === shown) return node;
  const time = toTimestamp(now);
  const is = (type: string, isTrue: boolean, reason: string): readonly JsonObject[] => {
    const own = before.find(each => each.type === type);
    if (isTrue) {
      return [
        {
          type,
          status: 'True',
          reason: `${OWN_REASON}${reason}`,
          message,
          lastTransitionTime: time,
          lastHeartbeatTime: time,
        },
      ];
    }
    return own !== undefined && isOwnCondition(own) ? [{ type, $patch: 'delete' }] : [];
  };
  const conditions = [
    ...is(DRAIN_IN_PROGRESS, shown === 'inProgress', 'Draining'),
    ...is(DRAINED, shown === 'drained', 'Drained'),
  ];
  const body = { metadata: { uid, resourceVersion }, status: { conditions } };
  const ref = { type: RESOURCES.Node, name };
  const outcome = await kubernetes.patch(ref, { type: 'strategic', body }, { subresource: 'status' });
  if (outcome.kind !== 'ok') return undefined;
  return { ...node, metadata: { ...node.metadata, resourceVersion: outcome.object.metadata.resourceVersion } };
}
