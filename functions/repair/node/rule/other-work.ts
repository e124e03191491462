/**
 * Finds other controllers that are at work on a node, by the taints, conditions and annotations that they leave on it, and by
 * their requests.
 * Pure.
 */
import { DISRUPTED_TAINT } from '../../../../shared/domain/drainable-pod.ts';
import { objectIn, textOrEmpty } from '../../../../shared/domain/json.ts';
import type { KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import type { NodeClaimView } from '../../../../shared/domain/node-claim.ts';
import { isOwnCondition } from '../../../../shared/domain/node-drain-conditions.ts';
import { isConditionTrue, type NodeCondition, type NodeView, readConditions } from '../../../../shared/domain/node.ts';
import {
  addDuration,
  type DurationMs,
  type EpochMs,
  hours,
  isDue,
  minutes,
  parseTimestamp,
  seconds,
  toEpochMs,
} from '../../../../shared/domain/time.ts';

/** Another controller at work on the node. */
export interface OtherWork {
  /** The mark of the other controller, e.g. `taint karpenter.sh/disrupted`. */
  readonly what: string;
  /**
   * Time for which the work counts as in flight after it was first seen. After that it stops only the repair of its own
   * node.
   */
  readonly inFlightFor: DurationMs;
}

const IN_FLIGHT_FOR = hours(1);

const REBOOT_IN_FLIGHT_FOR = minutes(40);

const AUTOSCALER_TAINT = 'ToBeDeletedByClusterAutoscaler';

const AUTOSCALER_BLOCKS_FOR = minutes(15);

/** An instance that somebody has stopped. */
const SHUTDOWN_TAINT = 'node.cloudprovider.kubernetes.io/shutdown';

const taintOf = ({ taints }: Pick<NodeView, 'taints'>, key: string) => taints?.find(each => each.key === key);

const isTrueForOthers = (list: readonly NodeCondition[] | undefined, type: string): boolean =>
  list?.some(each => each.type === type && each.status === 'True' && !isOwnCondition(each)) === true;

/** The mark by which Karpenter says that it reboots the node; undefined: there is none. */
export function rebootMarkOf(node: NodeView, claim: NodeClaimView | undefined): string | undefined {
  if (isTrueForOthers(claim?.conditions, 'Rebooting')) return 'condition Rebooting of the NodeClaim';
  return taintOf(node, 'karpenter.sh/rebooting') && 'taint karpenter.sh/rebooting';
}

/** The mark by which Karpenter says that it is going to disrupt the node; undefined: there is none. */
export function disruptionMarkOf(node: NodeView, claim: NodeClaimView | undefined): string | undefined {
  if (taintOf(node, DISRUPTED_TAINT.key)) return `taint ${DISRUPTED_TAINT.key}`;
  return isTrueForOthers(claim?.conditions, 'DisruptionReason')
    ? 'condition DisruptionReason of the NodeClaim'
    : undefined;
}

/**
 * The work of another controller on the node; undefined: there is none.
 * @param externalRequest a request for the node by another system, in words
 */
export function otherWorkOn(
  node: NodeView,
  claim: NodeClaimView | undefined,
  externalRequest: string | undefined,
  now: EpochMs,
): OtherWork | undefined {
  const other = (what: string, inFlightFor: DurationMs = IN_FLIGHT_FOR): OtherWork => ({ what, inFlightFor });
  const reboot = rebootMarkOf(node, claim);
  if (reboot !== undefined) return other(reboot, REBOOT_IN_FLIGHT_FOR);
  // Whoever terminates the node has set that taint, and a repair may force a termination.
  if (claim?.deletionTime === undefined && node.deletionTime === undefined) {
    const marked = disruptionMarkOf(node, claim);
    if (marked !== undefined) return other(marked);
  }
  const removal = taintOf(node, AUTOSCALER_TAINT);
  const since = removal && Number(removal.value) * 1000;
  const isRead = since !== undefined && Number.isSafeInteger(since);
  if (isRead && !isDue(now, addDuration(toEpochMs(since), AUTOSCALER_BLOCKS_FOR)))
    return other(`taint ${AUTOSCALER_TAINT}`);
  if (isTrueForOthers(node.conditions, 'MaintenanceInProgress')) return other('condition MaintenanceInProgress');
  return externalRequest === undefined ? undefined : other(externalRequest);
}

/** Before the node's name, in the name of a Lease of medik8s. */
const LEASE_PREFIX = 'node-';

/**
 * Requests of other systems for these nodes, by the node's name, in words.
 * @param requests those of NVSentinel that are not our own
 * @param leases those of medik8s
 */
export function externalRequestsFor(
  nodes: readonly NodeView[],
  requests: readonly { readonly kind: string; readonly object: KubernetesObject }[],
  leases: readonly KubernetesObject[],
  now: EpochMs,
): ReadonlyMap<string, string> {
  const nodeByName = new Map(nodes.map(node => [node.name, node]));
  const requestsByNode = new Map<string, string>();
  for (const { kind, object } of requests) {
    const node = nodeByName.get(requestedNode(object) ?? '');
    if (node !== undefined && isRequestFor(node, object))
      requestsByNode.set(node.name, `${kind} ${object.metadata.name}`);
  }
  for (const lease of leases) {
    const holder = leaseHolder(lease, now);
    const { name } = lease.metadata;
    if (holder === undefined || !name.startsWith(LEASE_PREFIX)) continue;
    requestsByNode.set(name.slice(LEASE_PREFIX.length), `Lease ${name} of ${holder}`);
  }
  return requestsByNode;
}

/** The name of the node that a request of NVSentinel is about. */
function requestedNode({ spec }: KubernetesObject): string | undefined {
  const name = objectIn(spec, 'healthEvent')['nodeName'] ?? spec?.['nodeName'];
  return typeof name === 'string' ? name : undefined;
}

/** Whether a request of NVSentinel is not answered, and no older than the Node: an older one is about an earlier Node of the name (I10). */
function isRequestFor(
  { creationTime }: Pick<NodeView, 'creationTime'>,
  { metadata, status }: KubernetesObject,
): boolean {
  const requestTime = parseTimestamp(metadata.creationTimestamp);
  if (requestTime !== undefined && creationTime !== undefined && requestTime < creationTime) return false;
  return !isConditionTrue(readConditions(status?.['conditions']), 'ExternalRemediationComplete');
}

/** The holder of a Lease; undefined: the Lease has expired, or was released, which empties its holder. */
function leaseHolder({ spec }: KubernetesObject, now: EpochMs): string | undefined {
  const { holderIdentity, renewTime, leaseDurationSeconds: duration } = spec ?? {};
  const holder = textOrEmpty(holderIdentity);
  const renewed = parseTimestamp(textOrEmpty(renewTime));
  if (holder === '' || renewed === undefined) return undefined;
  return isDue(now, addDuration(renewed, seconds(Number(duration) || 0))) ? undefined : holder;
}

/** Whether somebody has stopped the instance: its node is neither healthy nor unhealthy. */
export const isStopped = ({ taints }: Pick<NodeView, 'taints'>): boolean =>
  taints?.some(({ key }) => key === SHUTDOWN_TAINT) === true;
