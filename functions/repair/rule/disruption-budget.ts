/**
 * The disruption budgets of a NodePool, counted as Karpenter 1.15 counts them for reason `Unhealthy`. Percentages are of
 * the pool's initialized nodes, rounded up. The smallest budget in force counts; one that cannot be read allows none.
 * Nodes that never were initialized are outside. Pure.
 */
import { disruptionMarkOf, rebootMarkOf } from '../node/rule/other-work.ts';
import type { Activity } from './pool-facts.ts';
import { BLOCKED_CHECK, type Blocker } from '../node/rule/verdict.ts';
import type { NodeFinding } from '../node/rule/finding.ts';
import { nanosecondsToDuration, parseGoDuration } from '../../../shared/domain/go-duration.ts';
import { fieldsOf, objectIn } from '../../../shared/domain/json.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { isConditionTrue, type NodeView } from '../../../shared/domain/node.ts';
import { type DisruptionBudgets, type NodeCount, resolveNodeCount } from '../../../shared/domain/repair-policy.ts';
import { addDuration, earliest, type EpochMs } from '../../../shared/domain/time.ts';

/** The disruption budget of the NodePool that counts now. */
export interface DisruptionBudget {
  /** UIDs of the nodes that are being disrupted, by Curfew or by others. */
  readonly disrupted: ReadonlySet<string>;
  /** The blocker of one more disruption; undefined: it is allowed. @param disrupted with those of this pass */
  blockerOf(uid: string, disrupted: ReadonlySet<string>): Blocker | undefined;
}

interface BudgetFacts {
  readonly activity: Activity;
  readonly pool: KubernetesObject | undefined;
  readonly budgetChoice: DisruptionBudgets;
  readonly nodes: readonly NodeView[];
  readonly claimOf: (node: NodeView) => NodeClaimView | undefined;
  readonly findings: readonly NodeFinding[];
  /** UIDs of the nodes whose repair is under way. */
  readonly inFlight: ReadonlySet<string>;
  readonly now: EpochMs;
}

/** The budgets of a NodePool that states none: Karpenter's default. */
const DEFAULT_BUDGETS: readonly unknown[] = [{ nodes: '10%' }];

const REASON = 'Unhealthy';

/** The disruption budget of the NodePool that counts now; undefined: none applies. */
export function disruptionBudgetOf({
  pool,
  budgetChoice,
  nodes,
  claimOf,
  findings,
  inFlight,
  activity,
  now,
}: BudgetFacts): DisruptionBudget | undefined {
  if (pool === undefined || budgetChoice === 'Ignore') return undefined;
  const counted = nodes.filter(node => isCounted(node, claimOf(node)));
  const budgets = budgetsOf(pool).flatMap((budget, index) => {
    const { reasons } = fieldsOf(budget);
    const applies = Array.isArray(reasons) ? reasons.includes(REASON) : budgetChoice === 'All';
    return applies ? [{ index, ...limitOf(budget, counted.length, { activity, now }) }] : [];
  });
  const [first, ...others] = budgets;
  if (first === undefined) return undefined;
  const { index, allowed, clause } = others.reduce(
    (least, each) => (each.allowed < least.allowed ? each : least),
    first,
  );
  const until = budgets.reduce<EpochMs | undefined>((time, { changes }) => earliest(time, changes), undefined);
  const inside = new Set(counted.map(({ uid }) => uid));
  const ours = new Map(findings.map(finding => [finding.node.uid, finding]));
  const isOurs = ({ uid }: NodeView): boolean => {
    const attempt = inFlight.has(uid) ? ours.get(uid)?.record?.attempt : undefined;
    return attempt !== undefined && attempt.action !== 'CustomResource';
  };
  // A stuck termination of ours does not count, and neither does a custom resource, which leaves the node in place.
  const disrupted = counted
    .filter(node => ours.get(node.uid)?.verdict?.kind !== 'stuck')
    .filter(node => isOurs(node) || isDisrupted(node, claimOf(node)))
    .map(({ uid }) => uid);
  const { name } = pool.metadata;
  return {
    disrupted: new Set(disrupted),
    blockerOf(uid, all) {
      const count = [...all].filter(each => each !== uid && inside.has(each)).length;
      if (!inside.has(uid) || count < allowed) return undefined;
      const [noun, verb] = count === 1 ? ['node', 'is'] : ['nodes', 'are'];
      return {
        kind: 'budget',
        reason: 'DisruptionBudget',
        message: `${count} ${noun} of NodePool ${name} ${verb} being disrupted, spec.disruption.budgets[${index}] allows ${allowed} of ${counted.length}${clause}`,
        setting: {
          source: `NodePool ${name}`,
          field: `spec.disruption.budgets[${index}]`,
          numbers: { disrupted: count, allowed, of: counted.length },
        },
        until: earliest(until, addDuration(now, BLOCKED_CHECK)),
      };
    },
  };
}

function budgetsOf({ spec }: KubernetesObject): readonly unknown[] {
  const { budgets } = objectIn(spec, 'disruption');
  if (budgets === undefined || budgets === null) return DEFAULT_BUDGETS;
  return Array.isArray(budgets) ? budgets : [budgets];
}

interface Limit {
  /** The number of nodes that may be disrupted; Infinity while the budget is not in force. */
  readonly allowed: number;
  /** The time at which the budget comes into force, or ceases to be; undefined: it has no schedule that can be read. */
  readonly changes: EpochMs | undefined;
  readonly clause: string;
}

const UNREADABLE: Limit = { allowed: 0, changes: undefined, clause: ', for it cannot be read' };

function limitOf(budget: unknown, total: number, { activity, now }: Pick<BudgetFacts, 'activity' | 'now'>): Limit {
  const { nodes, schedule, duration }: Readonly<Record<string, unknown>> = fieldsOf(budget);
  const count = readCount(nodes);
  if (count === undefined) return UNREADABLE;
  const allowed = resolveNodeCount(count, total);
  if (schedule === undefined && duration === undefined) return { allowed, changes: undefined, clause: '' };
  const length = typeof duration === 'string' ? parseGoDuration(duration) : undefined;
  if (typeof schedule !== 'string' || length?.ok !== true) return UNREADABLE;
  const active = activity(schedule, nanosecondsToDuration(length.nanoseconds), now);
  if (active === undefined) return UNREADABLE;
  return {
    allowed: active.isActive ? allowed : Infinity,
    changes: active.changes,
    clause: ` (schedule ${JSON.stringify(schedule)}, for ${String(duration)})`,
  };
}

function readCount(nodes: unknown): NodeCount | undefined {
  const text = typeof nodes === 'number' ? String(nodes) : nodes;
  if (typeof text !== 'string' || !/^((100|\d{1,2})%|\d{1,9})$/.test(text)) return undefined;
  return text.endsWith('%') ? { percent: Number(text.slice(0, -1)) } : { count: Number(text) };
}

/** Whether the node counts: it was initialized once, and its instance is not being terminated. */
function isCounted(node: NodeView, claim: NodeClaimView | undefined): boolean {
  if (claim === undefined || isConditionTrue(claim.conditions, 'InstanceTerminating')) return false;
  return (
    isConditionTrue(claim.conditions, 'Initialized') ||
    node.labels['karpenter.sh/initialized'] === 'true' ||
    rebootMarkOf(node, claim) !== undefined
  );
}

/** Whether anybody deletes or reboots the node, or has marked it for that. */
const isDisrupted = (node: NodeView, claim: NodeClaimView | undefined): boolean =>
  claim?.deletionTime !== undefined ||
  node.deletionTime !== undefined ||
  disruptionMarkOf(node, claim) !== undefined ||
  rebootMarkOf(node, claim) !== undefined;
