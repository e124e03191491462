/**
 * I3: a repair begins only while fewer are under way in its zone and in the cluster, of whatever pool, than the `repairLimits` of the
 * policies that select its pool allow. An answer of its own, told from the objects and from what repair calls.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { CheckContext, MakeCheck, PortCall, Run } from './invariant.ts';
import { createClimbers } from './ladder.ts';
import { wasDone } from './ladder-acts.ts';
import type { Mirror } from './mirror.ts';
import { dig, instanceOfClaim, labelOf, nameOf, poolNameOf } from './reading.ts';
import { applyingTo, isPolicyReadable } from './policy-oracle.ts';
import { claimOf } from './node-pool.ts';
import { mostOf } from './repair-census.ts';
import { isTermination, lastList, targetOf } from './run-journal.ts';

const STUCK_AFTER = 60 * 60_000;
const ZONE_LABEL = 'topology.kubernetes.io/zone';

/** The most repairs that may be under way where the node is; infinite without a limit. */
export interface MostRepairs {
  readonly zone: number;
  readonly cluster: number;
}

const UNLIMITED: MostRepairs = { zone: Infinity, cluster: Infinity };

/** The strictest of all policies in mode `Enforce` that select the pool. @param nodes of the cluster */
export function mostRepairs(
  node: KubernetesObject,
  pool: KubernetesObject | undefined,
  policies: readonly KubernetesObject[],
  nodes: readonly KubernetesObject[],
): MostRepairs {
  const zone = labelOf(node, ZONE_LABEL);
  const inZone = nodes.filter(other => labelOf(other, ZONE_LABEL) === zone).length;
  let most = UNLIMITED;
  for (const policy of applyingTo(pool, policies)) {
    if ((dig(policy, 'spec', 'mode') ?? 'Enforce') !== 'Enforce') continue;
    const perZone = dig(policy, 'spec', 'repairLimits', 'maxConcurrentRepairsPerZone');
    const perCluster = dig(policy, 'spec', 'repairLimits', 'maxConcurrentRepairsPerCluster');
    most = {
      zone: Math.min(most.zone, zone === undefined ? Infinity : (mostOf(perZone, inZone) ?? Infinity)),
      cluster: Math.min(most.cluster, mostOf(perCluster, nodes.length) ?? Infinity),
    };
  }
  return most;
}

/** How many of these nodes are in the node's zone, and in all. */
export function countAround(node: KubernetesObject, others: readonly KubernetesObject[]): MostRepairs {
  const zone = labelOf(node, ZONE_LABEL);
  const there = others.filter(other => zone !== undefined && labelOf(other, ZONE_LABEL) === zone);
  return { zone: there.length, cluster: others.length };
}

interface Begun {
  readonly time: number;
  readonly most: MostRepairs;
  /** What ends the instance in its Auto Scaling group. */
  readonly call?: PortCall;
}

export const checkRepairLimits: MakeCheck = context => {
  const { mirror, now, memoryOf, violate } = context;
  const climbers = createClimbers(context);
  /** What repair began, by the node's UID, under which limits. */
  const begun = new Map<string, Begun>();
  mirror.follow((resource, uid, object) => {
    if (resource === 'nodes' && object === undefined) begun.delete(uid);
  });
  const isUnderWay = (uid: string, node: KubernetesObject): boolean => {
    if (climbers.has(uid)) return climbers.surelyOf(climbers.get(uid)?.pool).includes(uid);
    const { call, time = -Infinity } = begun.get(uid) ?? {};
    // What is under way for longer than a termination has time for is stuck, and holds nobody else.
    // That a termination is a repair, the table alone knows.
    if (now() - time >= STUCK_AFTER || memoryOf(time) !== 'whole') return false;
    // An instance that its Auto Scaling group does not replace stays, and takes no slot.
    if (call !== undefined) return wasDone(call);
    const claim = claimOf(node, mirror);
    return claim === undefined || claim.metadata.deletionTimestamp !== undefined;
  };
  return {
    onCall(call, run) {
      if (run.by === 'repair') {
        const node = isTermination(call) ? nodeOfClaim(targetOf(call).name, mirror) : climbers.actOf(call)?.node;
        if (node !== undefined) look(node, run, isOfGroup(call) ? call : undefined);
      }
      climbers.onCall(call, run);
    },
    onBusEvent: event => climbers.onBusEvent(event),
  };

  function look(node: KubernetesObject, run: Run, call: PortCall | undefined): void {
    const { uid } = node.metadata;
    const most = mostSeen(node, run, context);
    if (climbers.has(uid) || (begun.has(uid) && isUnderWay(uid, node))) return;
    if (most.zone < Infinity || most.cluster < Infinity) {
      const others = [...mirror.all('nodes')].filter(
        ([other, object]) => other !== uid && begun.has(other) && isUnderWay(other, object),
      );
      // Who began after this run may have done so under a limit of its own, which counted this one.
      const later = others.flatMap(([other]) => {
        const { time, most: theirs } = begun.get(other) ?? { time: 0, most: UNLIMITED };
        return time >= run.startTime ? [theirs] : [];
      });
      const counts = countAround(
        node,
        others.map(([, object]) => object),
      );
      for (const scope of ['zone', 'cluster'] as const) {
        const limit = Math.max(most[scope], ...later.map(theirs => theirs[scope]));
        if (most[scope] === Infinity || counts[scope] < limit) continue;
        violate(
          'I3',
          `repair of ${nameOf(node)} begins while ${counts[scope]} are under way in its ${scope}, ${limit} may be`,
        );
      }
    }
    begun.set(uid, { time: now(), most, ...(call !== undefined && { call }) });
  }
};

const isOfGroup = ({ port, method }: PortCall): boolean =>
  port === 'instances' && method === 'terminateInAutoScalingGroup';

/** The limits by the last look of the run; a policy that cannot be read is another check's business. */
function mostSeen(node: KubernetesObject, run: Run, { mirror }: CheckContext): MostRepairs {
  const policies = lastList(run, 'nodelifecyclepolicies') ?? [];
  const nodes = lastList(run, 'nodes') ?? [];
  if (!policies.every(isPolicyReadable)) return UNLIMITED;
  const poolName = poolNameOf(claimOf(node, mirror) ?? node);
  const pool = mirror.named('nodepools', poolName);
  // Without a NodePool of that name none is selected by its labels.
  if (poolName !== undefined && pool === undefined) return UNLIMITED;
  return mostRepairs(node, pool, policies, nodes);
}

function nodeOfClaim(name: string | undefined, mirror: Mirror): KubernetesObject | undefined {
  const claim = mirror.named('nodeclaims', name);
  const instance = claim && instanceOfClaim(claim);
  return instance === undefined ? undefined : mirror.ownership().nodesOf(instance)[0];
}
