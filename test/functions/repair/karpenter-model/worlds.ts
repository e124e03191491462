/** Random clusters, and what Curfew does there: one pass of each pool at the same instant, with the records of having seen each condition begin. */
import fc from 'fast-check';
import type { Budget, Cluster, Command } from './model.ts';
import { type Policy, REBOOT, repairConditionsFor } from './policies.ts';
import {
  aCondition,
  aDecision,
  aPoolNode,
  claimOf,
  someRepairInForce,
  someSettings,
  T,
} from '../../../builders/repair.ts';
import { podsUntil } from '../../../../functions/repair/attempt-words.ts';
import { decide } from '../../../../functions/repair/decide.ts';
import type { NodeRecord } from '../../../../functions/repair/node/record.ts';
import { newNode } from '../../../../functions/repair/node/rule/attempt.ts';
import { dueVerdictOf } from '../../../../functions/repair/node/rule/finding.ts';
import { judgeHealth } from '../../../../functions/repair/node/rule/health.ts';
import { keyOf } from '../../../../functions/repair/node/rule/ladder.ts';
import { onsetsOf } from '../../../../functions/repair/node/rule/onset.ts';
import type { NodeClaimView } from '../../../../shared/domain/node-claim.ts';
import type { NodeCondition, NodeView } from '../../../../shared/domain/node.ts';
import type { RepairSettings } from '../../../../shared/domain/repair-policy.ts';
import { addDuration, minutes, toDurationMs, toTimestamp } from '../../../../shared/domain/time.ts';

const POOL = 'karpenter.sh/nodepool';
const DEADLINE = 'karpenter.sh/nodeclaim-termination-timestamp';
const ago = (count: number) => addDuration(T, minutes(-count));
/** For an hour. */
export const READY = aCondition('Ready', 'True', ago(60));

export interface CurfewOptions {
  /** Of the `repair` block. */
  readonly block?: Parameters<typeof someSettings>[0];
  readonly provided?: RepairSettings['provided'];
  /** Without them a clock starts at the first look. */
  readonly hasSeen?: boolean;
  readonly decide?: typeof decide;
}

/** What Curfew does in that cluster, pool by pool. */
export function curfew(cluster: Cluster, options: CurfewOptions = {}): readonly Command[] {
  const { policies, nodes, claims, budgets } = cluster;
  const { block = {}, provided = repairConditionsFor(policies), hasSeen = true, decide: rule = decide } = options;
  const read = someSettings({ zoneOutage: 'Off', freeze: 'Off', disruptionBudgets: 'All', ...block });
  const settings = { ...read, provided };
  const repair = someRepairInForce({}, { settings });
  const records = Object.fromEntries(nodes.map(node => [node.uid, recordOf(cluster, node, settings, hasSeen)]));
  // As a pass lists them: the NodeClaim says whose pool it is.
  const poolOf = ({ providerID, labels }: NodeView): string | undefined => {
    const [claim, ...others] = claims.filter(each => each.providerID === providerID);
    return (claim === undefined || others.length > 0 ? labels : claim.labels)[POOL];
  };
  return [...new Set(nodes.map(poolOf))].flatMap(pool => {
    const own = nodes.filter(node => poolOf(node) === pool);
    const nodePool = pool === undefined ? undefined : nodePoolOf(pool, budgets[pool]);
    const decision = aDecision(own, { now: T, pool, claims, repair, records, cluster: nodes, nodePool, decide: rule });
    return decision.granted.flatMap(({ attempt, finding }): Command[] => {
      const { claim, action } = attempt;
      if (claim === undefined) return [];
      const own = dueVerdictOf(finding)?.entryPolicy.drainBound;
      const limit = claims.find(({ uid }) => uid === claim.uid)?.terminationGracePeriod;
      const bound = own === undefined || own === 'Inherit' || (limit !== undefined && limit < own) ? limit : own;
      const ofReboot = bound === undefined ? undefined : T + bound;
      return [
        // A reboot whose pods have time begins with its drain.
        action === 'Reboot' || action === 'Drain'
          ? { claim: claim.name, pool, action: 'Reboot', deadline: ofReboot }
          : {
              claim: claim.name,
              pool,
              action: 'Replace',
              deadline: podsUntil(attempt),
            },
      ];
    });
  });
}

function recordOf(cluster: Cluster, node: NodeView, settings: RepairSettings, hasSeen: boolean): NodeRecord {
  // Of two conditions of one type the first counts, and a record has one clock for both.
  const first = node.conditions.filter(
    ({ type }, index) => node.conditions.findIndex(each => each.type === type) === index,
  );
  const onsets = first.map(condition => {
    const { lastTransitionTime: time } = condition;
    if (time === undefined || !hasSeen) return {};
    const { creationTime } = node;
    const seen = { conditions: [condition], creationTime };
    return onsetsOf(judgeHealth(seen, { now: time, repair: { settings }, record: undefined, episodes: [] }).unhealthy);
  });
  const [claim] = cluster.claims.filter(({ providerID }) => providerID === node.providerID);
  const key = keyOf(REBOOT as Parameters<typeof keyOf>[0]);
  const acts = (cluster.reboots[claim?.name ?? ''] ?? []).map(time => ({
    key,
    action: 'Reboot' as const,
    time: addDuration(T, toDurationMs(time - T)),
  }));
  return { ...newNode(node.name, node.labels[POOL]), onsets: Object.assign({}, ...onsets), acts };
}

const nodePoolOf = (name: string, budgets: readonly Budget[] | undefined) => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: '2024-11-01T00:00:00Z' },
  spec: {
    disruption:
      budgets === undefined
        ? {}
        : {
            budgets: budgets.map(({ minutes: length, reasons, ...rest }) => ({
              ...rest,
              ...(reasons !== undefined && { reasons: [...reasons] }),
              ...(length !== undefined && { duration: `${length}m` }),
            })),
          },
  },
});

const budget: fc.Arbitrary<Budget> = fc.constantFrom<Budget>(
  { nodes: '0' },
  { nodes: '1' },
  { nodes: '2', reasons: ['Unhealthy'] },
  { nodes: '0', reasons: ['Drifted', 'Empty'] },
  { nodes: '10%' },
  { nodes: '34%', reasons: ['Unhealthy', 'Drifted'] },
  { nodes: '100%' },
  { nodes: '1', schedule: '0 9 * * 1-5', minutes: 480 },
  { nodes: '0', schedule: '30 14 * * *', minutes: 30 },
  { nodes: '0', schedule: '0 15 1 * *', minutes: 60 },
  { nodes: '0', schedule: '0 3 * * 6', minutes: 60 },
);
const poolBudgets = fc.option(fc.array(budget, { maxLength: 3 }), { nil: undefined });

const conditionsOf = (policies: readonly Policy[]): fc.Arbitrary<readonly NodeCondition[]> =>
  fc.uniqueArray(
    fc
      .record({
        type: fc.constantFrom(...policies.map(({ type }) => type), 'DiskPressure'),
        status: fc.constantFrom('True', 'False', 'False', 'Unknown'),
        since: fc.integer({ min: 0, max: 90 }),
        reason: fc.constantFrom('', 'KubeletLost', 'XID48', 'XID791', 'AnXID54', 'XID48XID79', 'Other'),
      })
      .map(({ type, status, since, reason }) => {
        const isUnhealthy = policies.some(policy => policy.type === type && policy.status === status);
        // One that has just come back is another matter: below.
        return { ...aCondition(type, status, ago(isUnhealthy ? since : Math.max(since, 5))), reason };
      }),
    { selector: ({ type }) => type, maxLength: 3 },
  );

/** What a cluster rarely has. */
const ODD = ['no time', 'twice', 'label of another pool', 'name of another node'] as const;

/** The first one mostly. */
const rarely = <const Value>(usual: Value, ...others: readonly Value[]): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });

const memberOf = (policies: readonly Policy[]) =>
  fc.record({
    pool: fc.constantFrom('default', 'default', 'default', 'other', undefined),
    conditions: fc.oneof(
      { weight: 7, arbitrary: fc.constant([READY]) },
      { weight: 2, arbitrary: conditionsOf(policies) },
    ),
    claims: rarely(1, 0, 2),
    isDeleting: rarely(false, true),
    deadline: fc.constantFrom(undefined, undefined, undefined, -5, 5, 'not a time' as const),
    own: fc.constantFrom(undefined, undefined, 0, 7, 60),
    isInitialized: rarely(true, false),
    mark: rarely(undefined, 'rebooting', 'veto', 'claim veto', 'stopped', 'maintenance', ...ODD),
    age: fc.constantFrom(undefined, 20, 300),
    reboots: fc.constantFrom<readonly number[]>([], [], [3], [3, 8], [3, 30], [30, 40]),
    cost: fc.integer({ min: 1, max: 3 }),
  });
type Member = ReturnType<typeof memberOf> extends fc.Arbitrary<infer Value> ? Value : never;

/** A random cluster of a provider with such policies. */
export const clustersOf = (sets: fc.Arbitrary<readonly Policy[]>): fc.Arbitrary<Cluster> =>
  sets.chain(policies =>
    fc
      .tuple(fc.array(memberOf(policies), { minLength: 1, maxLength: 40, size: 'max' }), poolBudgets, poolBudgets)
      .map(([members, ofDefault, ofOther]) => {
        const all = members.map(memberObjects);
        return {
          now: T,
          policies,
          nodes: all.map(({ node }) => node),
          claims: all.flatMap(({ claims }) => claims),
          budgets: {
            ...(ofDefault !== undefined && { default: ofDefault }),
            ...(ofOther !== undefined && { other: ofOther }),
          },
          reboots: Object.assign({}, ...all.map(({ reboots }) => reboots)),
          costs: Object.fromEntries(all.map(({ node, cost }) => [node.name, cost])),
        };
      }),
  );

const VETO = { 'karpenter.sh/do-not-repair': 'true' };

function memberObjects(member: Member, index: number) {
  const { pool, conditions, deadline, isDeleting, own, isInitialized, mark, age, cost } = member;
  const labels: Record<string, string> = {
    ...(pool !== undefined && { [POOL]: mark === 'label of another pool' ? 'other' : pool }),
    ...(isInitialized && { 'karpenter.sh/initialized': 'true' }),
  };
  const maintained = mark === 'maintenance' ? [aCondition('MaintenanceInProgress', 'True', ago(9))] : [];
  const node = aPoolNode(`n${String(index).padStart(2, '0')}`, READY, {
    labels,
    conditions: [
      ...(mark === 'twice' ? [{ ...READY, type: conditions[0]?.type ?? 'Ready' }] : []),
      ...conditions.map(each => (mark === 'no time' ? { ...each, lastTransitionTime: undefined } : each)),
      ...maintained,
    ],
    annotations: mark === 'veto' ? VETO : {},
    ...(age !== undefined && { creationTime: ago(age) }),
    ...(mark === 'stopped' && { taints: [{ key: 'node.cloudprovider.kubernetes.io/shutdown', value: '' }] }),
  });
  const text = typeof deadline === 'number' ? toTimestamp(addDuration(T, minutes(deadline))) : deadline;
  const claims = Array.from({ length: member.claims }, (_, copy): NodeClaimView => {
    const name = `claim-${index}-${copy}`;
    return claimOf(node, {
      name,
      uid: name,
      labels: pool === undefined ? {} : { [POOL]: pool },
      ...(mark === 'name of another node' && { nodeName: 'elsewhere' }),
      annotations: { ...(text !== undefined && { [DEADLINE]: text }), ...(mark === 'claim veto' && VETO) },
      deletionTime: isDeleting ? T : undefined,
      ...(own !== undefined && { terminationGracePeriod: toDurationMs(own * 60_000) }),
      ...(mark === 'rebooting' && { conditions: [aCondition('Rebooting', 'True', ago(1))] }),
    });
  });
  const times = member.reboots.map(hours => T - hours * 3_600_000);
  return { node, claims, cost, reboots: Object.fromEntries(claims.map(({ name }) => [name, times])) };
}
