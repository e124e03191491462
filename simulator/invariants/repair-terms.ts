/**
 * What the entry that decides says of a repair: its actions and its drain bound, told from the raw block, from what the node is unhealthy with
 * and since when. Of several that may decide (what is due is not always certain) any may be the one.
 * - I3 an act is one of the list of an entry that decides
 * - I6 an act whose entry asks EC2 first comes after EC2 has called the instance impaired
 * - I2, I5 of a reboot: `reboot-terms.ts`
 * - I1 a NodeClaim is deleted with the deadline that its bound gives it, and none that somebody else had set is put off
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { createConditionHistory } from './condition-history.ts';
import { wasConfirmed } from './confirmed.ts';
import { CLOCK_LAG, type MakeCheck } from './invariant.ts';
import { actOf } from './ladder-acts.ts';
import { profileIn, rungsOf } from './ladder-past.ts';
import { claimOf } from './node-pool.ts';
import { isPolicyReadable, repairBlockFor } from './policy-oracle.ts';
import {
  annotationOf,
  dig,
  instantOf,
  listOf,
  millisecondsOf,
  nameOf,
  poolNameOf,
  TERMINATION_TIMESTAMP,
  isReservedIn,
  isUnusedReplacement,
  REPLACES_ANNOTATION,
} from './reading.ts';
import { createRebootTerms } from './reboot-terms.ts';
import { isRepairReadable } from './repair-block.ts';
import { unhealthyConditionsOf, repairConditionsOf, type RepairCondition } from './repair-conditions.ts';

/** Timestamps are whole seconds, and a run takes a while; ms. */
const SLACK = 5_000;
const MAINTENANCE = 'MaintenanceInProgress';
/** So long after a fault a run may go on with what an earlier one had intended; ms. */
const CARRIED_ON = 3 * 60_000;

export const checkRepairTerms: MakeCheck = context => {
  const { mirror, now, quietSince, clockTolerance, violate } = context;
  const history = createConditionHistory(context);
  const tolerance = clockTolerance + CLOCK_LAG + SLACK;
  const began = now();
  const settings = new Map<string, string>();
  /** When what a node is unhealthy with, or its pool, changed last. That repair closes and marks it before it acts changes neither. */
  const stated = new Map<string, { readonly text: string; readonly time: number }>();
  let changed = -Infinity;
  /** Deadlines that repair has set, by the UID of the NodeClaim. */
  const set = new Map<string, string>();
  mirror.follow((resource, uid, object) => {
    if (resource === 'nodeclaims' && object === undefined) set.delete(uid);
    if (resource === 'nodes') {
      const text = object && JSON.stringify([poolNameOf(object), ailmentsOf(object)]);
      if (text === undefined) stated.delete(uid);
      else if (stated.get(uid)?.text !== text)
        stated.set(uid, { text, time: stated.has(uid) || now() > began ? now() : -Infinity });
    }
    if (!['nodepools', 'nodelifecyclepolicies', 'configmaps'].includes(resource)) return;
    const text = JSON.stringify([object?.spec, object?.metadata.labels, dig(object, 'data')]);
    if (settings.get(uid) !== text && now() > began) changed = now();
    settings.set(uid, text);
  });

  /** Whether it is known what the run has seen. */
  const isCertain = (node: KubernetesObject): boolean => {
    const quiet = quietSince() ?? Infinity;
    const last = Math.max(changed, stated.get(node.metadata.uid)?.time ?? -Infinity);
    return (quiet <= began || now() - quiet > CARRIED_ON) && (last <= began || now() - last > SLACK);
  };

  const repairConditionsIn = (node: KubernetesObject): readonly RepairCondition[] | undefined => {
    const policies = [...mirror.all('nodelifecyclepolicies').values()];
    const poolName = poolNameOf(claimOf(node, mirror) ?? node);
    const pool = mirror.named('nodepools', poolName);
    const block = repairBlockFor(pool, policies);
    if (!policies.every(isPolicyReadable) || !isRepairReadable(block) || dig(block, 'flapping') !== undefined)
      return undefined;
    return repairConditionsOf(block, profileIn(mirror));
  };

  /** Entries that may decide; undefined: it cannot be told. */
  const decidingOf = (node: KubernetesObject): readonly RepairCondition[] | undefined => {
    const repairConditions = repairConditionsIn(node);
    if (repairConditions === undefined) return undefined;
    const unhealthy = unhealthyConditionsOf(node, repairConditions).flatMap(repairCondition => {
      const start = history.startOf(node, repairCondition.type, repairCondition.reason !== undefined);
      if (start === undefined) return [];
      const { toleration } = repairCondition;
      const mayBeDue = start.earliest + toleration <= now() + tolerance;
      return [{ repairCondition, mayBeDue, isDue: start.latest + toleration <= now() - tolerance }];
    });
    const highest = Math.max(
      0,
      ...unhealthy.filter(({ isDue }) => isDue).map(({ repairCondition }) => repairCondition.priority),
    );
    return unhealthy
      .filter(each => each.mayBeDue && each.repairCondition.priority >= highest)
      .map(({ repairCondition }) => repairCondition);
  };

  /** Whether pods may run on its replacement: from then on the node goes, whatever its list says. */
  const isReplaced = ({ metadata: { uid } }: KubernetesObject): boolean =>
    [...mirror.all('nodes').values()].some(
      each => annotationOf(each, REPLACES_ANNOTATION) === uid && !isReservedIn(dig(each, 'spec', 'taints')),
    );

  const reboots = createRebootTerms(context, { repairConditionsIn, tolerance, changed: () => changed });

  return {
    onPast(call, run) {
      const act = run.by === 'repair' ? actOf(call, mirror) : undefined;
      if (act !== undefined) reboots.onPastAct(act);
    },
    onCall(call, run) {
      reboots.onCall(call);
      const act = run.by === 'repair' ? actOf(call, mirror) : undefined;
      const deciding = act !== undefined && isCertain(act.node) ? decidingOf(act.node) : undefined;
      if (act !== undefined) reboots.onAct(act, deciding);
      if (act === undefined || deciding === undefined || deciding.length === 0) return;
      const lists = deciding.map(each => rungsOf(each).map(({ kind }) => kind));
      if (!wasConfirmed(act.node, deciding, run))
        violate(
          'I6',
          `repair begins ${act.kind} of ${nameOf(act.node)}, and EC2 has not confirmed that it is unhealthy`,
        );
      if (lists.some(kinds => kinds.includes(act.kind)) || (act.kind === 'Terminate' && isReplaced(act.node))) return;
      violate('I3', `repair begins ${act.kind} of ${nameOf(act.node)}: what decides says ${JSON.stringify(lists)}`);
    },
    onMinute: reboots.onMinute,
    onWrite({ verb, resource, before, after }, by) {
      if (by !== 'repair' || resource.resource !== 'nodeclaims' || before === undefined) return;
      const { uid } = before.metadata;
      const old = annotationOf(before, TERMINATION_TIMESTAMP);
      const value = after && annotationOf(after, TERMINATION_TIMESTAMP);
      if (verb !== 'delete') {
        const stood = instantOf(old);
        const time = instantOf(value);
        const isOurs = old !== undefined && set.get(uid) === old;
        if (!isOurs && stood !== undefined && time !== undefined && time > stood)
          violate('I1', `repair puts off the deadline of ${nameOf(before)} from ${String(old)} to ${String(value)}`);
        if (value !== undefined && value !== old) set.set(uid, value);
      }
      const node = [...mirror.all('nodes').values()].find(each => claimOf(each, mirror)?.metadata.uid === uid);
      if (verb !== 'delete' || node === undefined || !isCertain(node) || isUnusedReplacement(node)) return;
      const deciding = decidingOf(node) ?? [];
      if (deciding.length === 0) return;
      const own = millisecondsOf(dig(before, 'spec', 'terminationGracePeriod'));
      const isRight = deciding.some(
        ({ bound, actions }) =>
          isDeadlineRight(bound, own, old, set.get(uid) === old) || isWithinDrain(actions, own, old),
      );
      if (isRight) return;
      const bounds = deciding.map(({ bound }) => bound).join(', ');
      violate('I1', `repair deletes ${nameOf(before)} with deadline ${String(old)}: its bound is ${bounds} (ms)`);
    },
  };

  /** The pods have the time of a drain before their termination that was not done, or has failed. */
  function isWithinDrain(actions: unknown, own = Infinity, deadline: string | undefined): boolean {
    const drain = rungsOf({ actions, bound: 0 }).find(({ kind }) => kind === 'Drain');
    const time = instantOf(deadline) ?? Infinity;
    return drain !== undefined && time > now() && time <= now() + Math.min(drain.timeout, own) + tolerance;
  }

  /** What somebody else had set may be nearer. */
  function isDeadlineRight(
    bound: RepairCondition['bound'],
    own: number | undefined,
    deadline: string | undefined,
    isOurs: boolean,
  ): boolean {
    const grace = bound === 'Inherit' ? own : Math.min(bound, own ?? Infinity);
    if (grace === undefined) return !isOurs || deadline === undefined;
    const time = instantOf(deadline);
    if (time === undefined || time > now() + grace + tolerance) return false;
    // Who has no time at all loses none while a deletion is refused.
    return !isOurs || grace === 0 || time >= now() + grace - CARRIED_ON;
  }
};

/** What is marked on a node is no incident. */
const ailmentsOf = (node: KubernetesObject) =>
  listOf(dig(node, 'status', 'conditions')).filter(condition => dig(condition, 'type') !== MAINTENANCE);
