/**
 * A naive model of Karpenter 1.15's repair, written from its rules alone: which NodeClaims it disrupts, how, in which order and with which
 * deadline for the pods, one command after the other at one instant. Each difference that docs/node-repair.md lists can be put into it.
 */
import type { NodeClaimView } from '../../../../shared/domain/node-claim.ts';
import type { NodeCondition, NodeView } from '../../../../shared/domain/node.ts';
import type { Policy } from './policies.ts';

const POOL = 'karpenter.sh/nodepool';
const DEADLINE = 'karpenter.sh/nodeclaim-termination-timestamp';
const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

/** By the words of the table in docs/node-repair.md. */
export const DIFFERENCES = [
  'transition time',
  'conditions of one type',
  'several policies',
  'rank',
  'ties',
  'pool of a node',
  'no NodePool',
  'NodeClaim of a node',
  'being deleted',
  'counted by the breaker',
  'veto',
  'stopped instance',
  'maintenance',
] as const;
export type Difference = (typeof DIFFERENCES)[number];

export interface Budget {
  readonly nodes: string;
  readonly reasons?: readonly string[];
  readonly schedule?: string;
  /** Minutes. */
  readonly minutes?: number;
}

export interface Cluster {
  readonly now: number;
  readonly policies: readonly Policy[];
  readonly nodes: readonly NodeView[];
  readonly claims: readonly NodeClaimView[];
  /** By NodePool; absent: the default. */
  readonly budgets: Readonly<Record<string, readonly Budget[]>>;
  /** When each NodeClaim was rebooted, by its name. */
  readonly reboots: Readonly<Record<string, readonly number[]>>;
  /** What the pods of a node cost, by its name. */
  readonly costs: Readonly<Record<string, number>>;
}

export interface Command {
  readonly claim: string;
  readonly pool: string | undefined;
  readonly action: 'Reboot' | 'Replace';
  /** When the pods that are left go; undefined: never. */
  readonly deadline: number | undefined;
}

interface Match {
  readonly policy: Policy;
  readonly eligibleAt: number;
  /** Where it stands among all: the fallback of each type and status comes last. */
  readonly place: number;
}

interface Candidate {
  readonly node: NodeView;
  readonly claim: NodeClaimView;
  readonly pool: string | undefined;
  readonly action: 'Reboot' | 'Replace';
  readonly bound: number | undefined;
  readonly score: number;
  readonly unhealthy: number;
}

/** The commands at this instant, in their order. */
export function karpenter(cluster: Cluster, differs: ReadonlySet<Difference> = new Set()): readonly Command[] {
  const commands: Command[] = [];
  for (;;) {
    const next = nextCommand(cluster, differs, new Set(commands.map(({ claim }) => claim)));
    if (next === undefined) return commands;
    commands.push(next);
  }
}

type Has = (difference: Difference) => boolean;

function nextCommand(
  cluster: Cluster,
  differs: ReadonlySet<Difference>,
  disrupted: ReadonlySet<string>,
): Command | undefined {
  const has: Has = difference => differs.has(difference);
  const candidates = candidatesOf(cluster, has).toSorted(
    (a, b) =>
      b.score - a.score ||
      (has('ties')
        ? b.unhealthy - a.unhealthy
        : (cluster.costs[a.node.name] ?? 0) - (cluster.costs[b.node.name] ?? 0)) ||
      (a.node.name < b.node.name ? -1 : 1),
  );
  for (const { node, claim, pool, action, bound } of candidates) {
    if (disrupted.has(claim.name) || isTripped(cluster, pool, has)) continue;
    if (isInitialized(node) && pool !== undefined && isOverBudget(cluster, { pool, claim }, disrupted, has)) continue;
    const own = claim.terminationGracePeriod;
    const time = bound === undefined || (own !== undefined && own < bound) ? own : bound;
    const standing = Date.parse(claim.annotations[DEADLINE] ?? '');
    const wanted = time === undefined ? Infinity : cluster.now + time;
    // One that is being deleted is repaired where that brings its end forward.
    const isSooner = Number.isNaN(standing) ? wanted < Infinity : wanted < standing;
    if (claim.deletionTime !== undefined && action !== 'Reboot' && !isSooner) continue;
    // A reboot leaves the deadline of a termination alone.
    const deadline = action === 'Reboot' ? wanted : Math.min(wanted, Number.isNaN(standing) ? Infinity : standing);
    return { claim: claim.name, pool, action, deadline: deadline === Infinity ? undefined : deadline };
  }
  return undefined;
}

function candidatesOf(cluster: Cluster, has: Has): readonly Candidate[] {
  const { now, nodes, policies, reboots } = cluster;
  const found = nodes.flatMap(node => {
    const claim = claimOf(cluster, node, has);
    if (claim === undefined) return [];
    const pool = poolOf(cluster, node, has);
    if (pool === undefined && !has('no NodePool')) return [];
    if (claim.deletionTime !== undefined) {
      const isForced = Date.parse(claim.annotations[DEADLINE] ?? '') <= now;
      if (!has('being deleted') || isForced) return [];
    }
    if (isRebooting(claim) || isVetoed(node, claim, has)) return [];
    if (has('stopped instance') && isStopped(node)) return [];
    if (
      has('maintenance') &&
      node.conditions.some(({ type, status }) => type === 'MaintenanceInProgress' && status === 'True')
    )
      return [];
    const matches = matchesOf(node, policies, has);
    const eligible = matches.filter(({ eligibleAt }) => eligibleAt <= now);
    const [first] = eligible;
    return first === undefined ? [] : [{ node, claim, pool, eligible, first, unhealthy: matches.length }];
  });
  const priorities = (pool: string | undefined): readonly number[] =>
    ascending(
      has('rank')
        ? found.filter(each => each.pool === pool).map(({ eligible }) => priorityOf(decides(eligible).policy))
        : policies.map(priorityOf),
    );
  return found.map(({ eligible, ...candidate }) => {
    const { claim, pool } = candidate;
    const ranks = priorities(pool);
    const age = ({ eligibleAt }: Match): number => (now - eligibleAt) / MINUTE / 30;
    const scores = has('rank')
      ? eligible.map(match => ranks.indexOf(priorityOf(decides(eligible).policy)) + age(match))
      : eligible.map(match => ranks.indexOf(priorityOf(match.policy)) + age(match));
    const { action, bound } = has('several policies') ? termsOf([decides(eligible)]) : termsOf(eligible);
    const recent = (reboots[claim.name] ?? []).filter(time => time > now - DAY).length;
    return { ...candidate, bound, action: recent >= 2 ? 'Replace' : action, score: Math.max(...scores) };
  });
}

const ascending = (values: readonly number[]): readonly number[] => [...new Set(values)].toSorted((a, b) => a - b);
const priorityOf = ({ priority = 0 }: Policy): number => priority;

/** The policies of each condition whose reason matches, else the fallback, even while the former are within their toleration. */
function matchesOf(node: NodeView, policies: readonly Policy[], has: Has): readonly Match[] {
  return node.conditions.flatMap((condition, index) => {
    if (has('conditions of one type') && node.conditions.findIndex(({ type }) => type === condition.type) < index)
      return [];
    if (!isNamed(condition, policies)) return [];
    const { lastTransitionTime: stated } = condition;
    if (stated === undefined && has('transition time')) return [];
    const since = Math.max(stated ?? 0, node.creationTime ?? 0);
    const specific = policies.filter(
      ({ type, status, reason }) =>
        type === condition.type &&
        status === condition.status &&
        reason !== undefined &&
        new RegExp(reason).test(condition.reason),
    );
    const matching = specific.length > 0 ? specific : policies.filter(({ reason }) => reason === undefined);
    const named = policies.findIndex(({ type, status }) => type === condition.type && status === condition.status);
    return matching.map(policy => ({
      policy,
      eligibleAt: since + policy.toleration * MINUTE,
      place: policy.reason === undefined ? policies.length + named : policies.indexOf(policy),
    }));
  });
}

const isNamed = (condition: NodeCondition, policies: readonly Policy[]): boolean =>
  policies.some(({ type, status }) => type === condition.type && status === condition.status);

/** Merged: a replacement before a reboot; the shortest of the bounds. */
function termsOf(eligible: readonly Match[]): {
  readonly action: Policy['action'];
  readonly bound: number | undefined;
} {
  const bounds = eligible.flatMap(({ policy }) => policy.bound ?? []);
  return {
    action: eligible.some(({ policy }) => policy.action === 'Replace') ? 'Replace' : 'Reboot',
    bound: bounds.length === 0 ? undefined : Math.min(...bounds) * MINUTE,
  };
}

/** Curfew's one: the highest priority, then the earliest, then the first. */
function decides(eligible: readonly Match[]): Match {
  return eligible.reduce((best, match) => {
    const comesBefore =
      priorityOf(match.policy) - priorityOf(best.policy) ||
      best.eligibleAt - match.eligibleAt ||
      best.place - match.place;
    return comesBefore > 0 ? match : best;
  });
}

/** Of several the one that it read last. */
function claimOf({ claims }: Cluster, node: NodeView, has: Has): NodeClaimView | undefined {
  const own = claims.filter(({ providerID }) => providerID === node.providerID);
  const claim = own.at(-1);
  const isCertain = own.length === 1 && (claim?.nodeName === undefined || claim.nodeName === node.name);
  return has('NodeClaim of a node') && !isCertain ? undefined : claim;
}

function poolOf(cluster: Cluster, node: NodeView, has: Has): string | undefined {
  return (has('pool of a node') ? (claimOf(cluster, node, has) ?? node) : node).labels[POOL];
}

const isTrue = ({ conditions = [] }: NodeClaimView, wanted: string): boolean =>
  conditions.some(({ type, status }) => type === wanted && status === 'True');
const isRebooting = (claim: NodeClaimView): boolean => isTrue(claim, 'Rebooting');
const isInitialized = ({ labels }: NodeView): boolean => labels['karpenter.sh/initialized'] === 'true';
const isStopped = ({ taints = [] }: NodeView): boolean =>
  taints.some(({ key }) => key === 'node.cloudprovider.kubernetes.io/shutdown');

function isVetoed(node: NodeView, claim: NodeClaimView | undefined, has: Has): boolean {
  const objects = has('veto') && claim !== undefined ? [node, claim] : [node];
  const names = has('veto')
    ? ['karpenter.sh/do-not-repair', 'curfew.dev/do-not-repair']
    : ['karpenter.sh/do-not-repair'];
  return objects.some(({ annotations }) => names.some(name => annotations[name] === 'true'));
}

/** More than 20 % of the pool are unhealthy, whatever their toleration. */
function isTripped(cluster: Cluster, pool: string | undefined, has: Has): boolean {
  const isUnhealthy = ({ conditions }: NodeView): boolean =>
    conditions.some(
      (condition, index) =>
        isNamed(condition, cluster.policies) &&
        !(has('conditions of one type') && conditions.findIndex(({ type }) => type === condition.type) < index),
    );
  const counted = cluster.nodes.filter(node => {
    if (pool !== undefined && poolOf(cluster, node, has) !== pool) return false;
    if (!has('counted by the breaker')) return true;
    const claim = claimOf(cluster, node, has);
    const isLeftOver = !cluster.claims.some(({ providerID }) => providerID === node.providerID);
    if (isLeftOver && (pool ?? node.labels[POOL]) !== undefined && isUnhealthy(node)) return false;
    return claim?.deletionTime === undefined && !isStopped(node) && !isVetoed(node, claim, has);
  });
  return counted.filter(isUnhealthy).length > Math.ceil(counted.length / 5);
}

function isOverBudget(
  cluster: Cluster,
  { pool, claim }: { readonly pool: string; readonly claim: NodeClaimView },
  disrupted: ReadonlySet<string>,
  has: Has,
): boolean {
  const counted = cluster.nodes.flatMap(node => {
    const own = claimOf(cluster, node, has);
    if (own === undefined || poolOf(cluster, node, has) !== pool || isTrue(own, 'InstanceTerminating')) return [];
    return isInitialized(node) || isRebooting(own) ? [own] : [];
  });
  const inFlight = counted.filter(
    each =>
      // One that is being deleted and is to go sooner is no further one.
      each !== claim && (each.deletionTime !== undefined || isRebooting(each) || disrupted.has(each.name)),
  ).length;
  const budgets = cluster.budgets[pool] ?? [{ nodes: '10%' }];
  const allowed = budgets.map(({ nodes, reasons, ...times }) => {
    if (reasons !== undefined && !reasons.includes('Unhealthy')) return Infinity;
    if (!isActive(times, cluster.now)) return Infinity;
    return nodes.endsWith('%') ? Math.ceil((Number.parseInt(nodes, 10) * counted.length) / 100) : Number(nodes);
  });
  return inFlight >= Math.min(...allowed, Infinity);
}

/** Whether its schedule was hit within its duration: each minute is tried. */
function isActive({ schedule, minutes = 0 }: Pick<Budget, 'schedule' | 'minutes'>, now: number): boolean {
  if (schedule === undefined) return true;
  const last = Math.floor(now / MINUTE) * MINUTE;
  for (let time = last; time > now - minutes * MINUTE; time -= MINUTE) {
    const date = new Date(time);
    const values = [
      date.getUTCMinutes(),
      date.getUTCHours(),
      date.getUTCDate(),
      date.getUTCMonth() + 1,
      date.getUTCDay(),
    ];
    if (schedule.split(' ').every((field, index) => isHit(field, values[index] ?? 0))) return true;
  }
  return false;
}

function isHit(field: string, value: number): boolean {
  const [from = 0, to = from] = field.split('-').map(Number);
  return field === '*' || (value >= from && value <= to);
}
