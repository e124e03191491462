/**
 * I3: no act of repair takes a node for whose reason the NodePool's own disruption budgets have no room: those that name `Unhealthy`, or all,
 * as the repair block says, counted as Karpenter counts. An answer of its own, told from the raw objects.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { MakeCheck } from './invariant.ts';
import { wasHitWithin } from '../cron.ts';
import { actOf } from './ladder-acts.ts';
import { claimOf } from './node-pool.ts';
import { isPolicyReadable, repairBlockFor } from './policy-oracle.ts';
import { dig, labelOf, listOf, millisecondsOf, nameOf, poolNameOf, textOf } from './reading.ts';
import { isRepairReadable } from './repair-block.ts';

const STUCK_AFTER = 3_600_000;
/** Clocks differ, and a schedule turns at a minute; ms. */
const SLACK = 5_000;
/** So long after a fault a run may go on with what an earlier one was granted; ms. */
const CARRIED_ON = 3 * 60_000;

const says = (object: KubernetesObject | undefined, type: string): boolean =>
  listOf(dig(object, 'status', 'conditions')).some(
    each => dig(each, 'type') === type && dig(each, 'status') === 'True',
  );

const hasTaint = (node: KubernetesObject, key: string): boolean =>
  listOf(dig(node, 'spec', 'taints')).some(taint => dig(taint, 'key') === key);

export const checkDisruptionBudgets: MakeCheck = ({ mirror, now, quietSince, violate }) => {
  const began = now();
  /** Since when each node is being disrupted, by UID. */
  const since = new Map<string, number>();
  const settings = new Map<string, string>();
  let changed = -Infinity;
  mirror.follow((resource, uid, object) => {
    if (resource === 'nodes' && object === undefined) since.delete(uid);
    if (resource !== 'nodepools' && resource !== 'nodelifecyclepolicies') return;
    const text = JSON.stringify([object?.spec, object?.metadata.labels]);
    if (settings.get(uid) !== text && now() > began) changed = now();
    settings.set(uid, text);
  });
  const isInitialized = (node: KubernetesObject): boolean => {
    const claim = claimOf(node, mirror);
    if (claim === undefined || says(claim, 'InstanceTerminating')) return false;
    const isRebooting = says(claim, 'Rebooting') || hasTaint(node, 'karpenter.sh/rebooting');
    return says(claim, 'Initialized') || labelOf(node, 'karpenter.sh/initialized') === 'true' || isRebooting;
  };
  const isMarked = (node: KubernetesObject): boolean => {
    const claim = claimOf(node, mirror);
    return (
      [node, claim].some(object => object?.metadata.deletionTimestamp !== undefined) ||
      hasTaint(node, 'karpenter.sh/disrupted') ||
      says(claim, 'DisruptionReason') ||
      hasTaint(node, 'karpenter.sh/rebooting') ||
      says(claim, 'Rebooting')
    );
  };

  return {
    onCall(call, run) {
      const act = run.by === 'repair' ? actOf(call, mirror) : undefined;
      if (act === undefined || act.kind === 'CustomResource') return;
      const { uid } = act.node.metadata;
      const quiet = quietSince() ?? Infinity;
      const isDisturbed = quiet > began && now() - quiet < CARRIED_ON;
      const isAgain = since.has(uid);
      if (!isAgain) since.set(uid, now());
      if (isAgain || isDisturbed || changed >= run.startTime - SLACK || !isInitialized(act.node)) return;
      const poolName = poolNameOf(claimOf(act.node, mirror) ?? act.node);
      const pool = mirror.named('nodepools', poolName);
      const policies = [...mirror.all('nodelifecyclepolicies').values()];
      const block = repairBlockFor(pool, policies);
      if (pool === undefined || !policies.every(isPolicyReadable) || !isRepairReadable(block)) return;
      const neighbours = [...mirror.all('nodes').values()].filter(
        node => poolNameOf(claimOf(node, mirror) ?? node) === poolName && isInitialized(node),
      );
      const others = neighbours.filter(({ metadata }) => metadata.uid !== uid);
      const disrupted = others.filter(
        node => isMarked(node) && now() - (since.get(node.metadata.uid) ?? now()) < STUCK_AFTER - SLACK,
      ).length;
      const which = textOf(dig(block, 'disruptionBudgets')) ?? 'Explicit';
      const allowed = mostDisrupted(pool, which, neighbours.length, now());
      if (disrupted < allowed) return;
      violate(
        'I3',
        `repair begins ${act.kind} of ${nameOf(act.node)}: ${disrupted} of NodePool ${String(poolName)} are disrupted, its budgets allow ${allowed}`,
      );
    },
  };
};

function mostDisrupted(pool: KubernetesObject, which: string, total: number, now: number): number {
  if (which === 'Ignore') return Infinity;
  const list = dig(pool, 'spec', 'disruption', 'budgets');
  const budgets = list === undefined || list === null ? [{ nodes: '10%' }] : listOf(list);
  const limits = budgets.map(budget => {
    const reasons = dig(budget, 'reasons');
    if (Array.isArray(reasons) ? !reasons.includes('Unhealthy') : which !== 'All') return Infinity;
    const stated = dig(budget, 'nodes');
    const nodes = typeof stated === 'number' ? String(stated) : (textOf(stated) ?? '');
    const [, number = '', percent] = /^(\d+)(%?)$/.exec(nodes) ?? [];
    if (number === '' || (percent === '%' && Number(number) > 100)) return 0;
    const count = percent === '%' ? Math.ceil((Number(number) * total) / 100) : Number(number);
    const schedule = textOf(dig(budget, 'schedule'));
    const duration = millisecondsOf(dig(budget, 'duration'));
    if (dig(budget, 'schedule') === undefined && dig(budget, 'duration') === undefined) return count;
    if (schedule === undefined || duration === undefined) return 0;
    // At the minute in which it turns either is right.
    const turns = [-SLACK, 0, SLACK].map(shift => wasHitWithin(schedule, duration, now + shift));
    if (turns.includes(undefined)) return 0;
    return turns.includes(false) ? Infinity : count;
  });
  return Math.min(Infinity, ...limits);
}
