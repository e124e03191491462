/**
 * Nodes on the ladder of `repair.actions`, told from the calls that repair makes: asked to reboot, to be drained, to be helped by a
 * custom resource, or terminated. From the first action until the node is well it is one repair.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { BusEventSeen, CheckContext, PortCall, Run } from './invariant.ts';
import { actOf, rebootIntended, wasDone, withAct, type Act, type ActSeen } from './ladder-acts.ts';
import { dig, fieldsOf, instanceOfNode, listOf, millisecondsOf, textOf } from './reading.ts';
import { isUnhealthy } from './unhealthy-conditions.ts';
import { poolOf } from './node-pool.ts';

/** An action without a timeout of its own has this long. */
const DEFAULT_TIMEOUT = 10 * 60_000;
/** Trying again, and finding out what happened. */
const SLACK = 2 * 60_000;
/** A node that was well for so long, with nothing disturbed, was seen to be well. */
const SURELY_SEEN = 60_000;

export interface Climb {
  readonly pool: string | undefined;
  readonly until: number;
  readonly acts: readonly Act[];
  /** It was well for a moment, or unhealthy with nothing but a condition of the user: whether it is still one repair is uncertain. */
  readonly isUnclear: boolean;
  readonly wellSince: number | undefined;
}

export interface Climbers {
  onCall(call: PortCall, run: Run): void;
  onBusEvent(event: BusEventSeen): void;
  /** The node that the call acts on, if it does. */
  actOf(call: PortCall): ActSeen | undefined;
  get(nodeUid: string): Climb | undefined;
  all(): ReadonlyMap<string, Climb>;
  /** How the drain of that id ended. */
  drainEnd(id: string): string | undefined;
  has(nodeUid: string): boolean;
  /** When the next action may be expected. */
  nextTime(nodeUid: string): number | undefined;
  /** Those of a pool. */
  of(poolName: string | undefined): readonly string[];
  /** Those of a pool whose last action is under way for certain. */
  surelyOf(poolName: string | undefined): readonly string[];
}

export function createClimbers({
  mirror,
  now,
  quietSince,
  memoryOf,
}: Pick<CheckContext, 'mirror' | 'now' | 'quietSince' | 'memoryOf'>): Climbers {
  const climbing = new Map<string, Climb>();
  const drainEnds = new Map<string, string>();
  const blocks = (): readonly unknown[] =>
    [...mirror.all('nodepools').values(), ...mirror.all('nodelifecyclepolicies').values()].map(object =>
      dig(object, 'spec', 'repair'),
    );
  const isUnhealthyByUser = (node: KubernetesObject): boolean => {
    const conditions = listOf(dig(node, 'status', 'conditions')).map(fieldsOf);
    return blocks()
      .flatMap(block => listOf(dig(block, 'conditions')).map(fieldsOf))
      .some(({ type, status }) => conditions.some(each => each['type'] === type && each['status'] === status));
  };
  const timeouts = (): readonly number[] =>
    blocks()
      .flatMap(block => [block, ...listOf(dig(block, 'policies')), ...listOf(dig(block, 'conditions'))])
      .flatMap(stating => listOf(dig(stating, 'actions')))
      .map(action => millisecondsOf(dig(action, 'timeout')) ?? DEFAULT_TIMEOUT);

  mirror.follow((resource, uid, object) => {
    const climb = resource === 'nodes' ? climbing.get(uid) : undefined;
    if (climb === undefined) return;
    if (object === undefined) return void climbing.delete(uid);
    const isUnhealthyNow = isUnhealthy(object);
    const mayBeUnhealthy = isUnhealthyNow || isUnhealthyByUser(object);
    const { wellSince } = climb;
    if (!mayBeUnhealthy) return void climbing.set(uid, { ...climb, wellSince: wellSince ?? now() });
    const quiet = quietSince() ?? Infinity;
    if (wellSince !== undefined && quiet <= wellSince && now() - wellSince >= SURELY_SEEN) climbing.delete(uid);
    else if (!isUnhealthyNow || wellSince !== undefined)
      climbing.set(uid, { ...climb, isUnclear: true, wellSince: undefined });
  });

  const isUnderWay = ({ acts, isUnclear, wellSince }: Climb): boolean => {
    const last = acts.at(-1);
    if (last === undefined || isUnclear || wellSince !== undefined) return false;
    // A termination is known by its NodeClaim, and a remediator may have given up.
    if (last.kind === 'Terminate' || last.kind === 'CustomResource' || last.kind === 'Replace') return false;
    const isTaken = last.calls.some(wasDone) && memoryOf(last.since) === 'whole';
    return isTaken && !drainEnds.has(last.id) && now() < last.since + Math.min(...timeouts(), DEFAULT_TIMEOUT);
  };

  const onBusEvent: Climbers['onBusEvent'] = ({ detailType, detail }) => {
    const id = textOf(dig(detail, 'id'));
    if (id === undefined) return;
    if (detailType === 'DrainCompleted') drainEnds.set(id, textOf(dig(detail, 'status')) ?? '');
    const status = dig(detail, 'healthEventStatus', 'nodeQuarantined');
    if (detailType === 'HealthEvent' && status === 'Cancelled' && !drainEnds.has(id)) drainEnds.set(id, status);
  };

  /** Nobody can find out whether the reboot of a run that ended took place: from its intent on the repair has begun. */
  const intend = (node: KubernetesObject, run: Run): void => {
    const { uid } = node.metadata;
    if (climbing.has(uid)) return;
    const act: ActSeen = { kind: 'Reboot', id: instanceOfNode(node) ?? '', node };
    climbing.set(uid, {
      pool: poolOf(node, mirror),
      until: now() + Math.max(...timeouts(), DEFAULT_TIMEOUT) + SLACK,
      acts: withAct([], act, undefined, run),
      isUnclear: false,
      wellSince: undefined,
    });
  };

  return {
    actOf: call => actOf(call, mirror),
    onCall(call, run) {
      for (const entry of call.port === 'bus' ? listOf(call.args[0]) : []) {
        onBusEvent({ detailType: String(dig(entry, 'detailType')), detail: dig(entry, 'detail') });
      }
      const intended = run.by === 'repair' ? rebootIntended(call, mirror) : undefined;
      if (intended !== undefined) intend(intended, run);
      const act = run.by === 'repair' ? actOf(call, mirror) : undefined;
      // Terminations alone are no ladder.
      if (act === undefined || (act.kind === 'Terminate' && !climbing.has(act.node.metadata.uid))) return;
      const { uid } = act.node.metadata;
      const before = climbing.get(uid) ?? { acts: [], isUnclear: false, wellSince: undefined };
      climbing.set(uid, {
        ...before,
        pool: poolOf(act.node, mirror),
        until: now() + Math.max(...timeouts(), DEFAULT_TIMEOUT) + SLACK,
        acts: withAct(before.acts, act, call, run),
      });
    },
    onBusEvent,
    get: uid => climbing.get(uid),
    all: () => climbing,
    drainEnd: id => drainEnds.get(id),
    has: uid => climbing.has(uid),
    nextTime: uid => climbing.get(uid)?.until,
    of: poolName => [...climbing].flatMap(([uid, { pool }]) => (pool === poolName ? [uid] : [])),
    surelyOf: poolName =>
      [...climbing].flatMap(([uid, climb]) => (climb.pool === poolName && isUnderWay(climb) ? [uid] : [])),
  };
}
