/** A NodePool or a NodeLifecyclePolicy: which nodes it is in force for, and what becomes of them. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { selects, specificity } from '../../shared/domain/label-selector.ts';
import { readConditions } from '../../shared/domain/node.ts';
import { onOneLine } from '../../shared/domain/printable.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { explainLifecycle, nodesOfPool, nodesWithoutPool, type LifecycleCluster, type LifecycleExplanation } from './lifecycle.ts'; // prettier-ignore
import { rulesOfPool, type PoolRules } from './pool-rules.ts';
import { rulesText, statedProtection, type ProtectionRules } from './protection-rules.ts';
import { repairText } from './render-lifecycle.ts';
import { type UnreadPolicy, unreadText } from './settings-in-force.ts';
import { policiesText } from './stated-policies.ts';
import { withRepairEvents, type EventsByNode } from './repair-events.ts';

export interface GroupExplanation {
  readonly kind: 'nodepool' | 'policy';
  readonly name: string;
  /** The mode of a policy; undefined for a NodePool, and for a policy that cannot be read as it is. */
  readonly mode: 'Enforce' | 'Observe' | undefined;
  /** The reason why a policy cannot be read as it is, and in which version it is in force. */
  readonly fault: string | undefined;
  /** Conditions of a policy's status, in words. */
  readonly status: readonly string[];
  /** The `protection` block of a policy; undefined: it has none that can be read. */
  readonly protection: ProtectionRules | undefined;
  readonly nodePools: readonly string[];
  /**
   * Number of nodes without a NodePool, such as those of managed node groups, that the policy covers. Only an empty
   * selector covers them.
   */
  readonly nodesWithoutNodePool: number;
  /** The rules in force for the nodes of a NodePool; undefined for a policy. */
  readonly rules: PoolRules | undefined;
  readonly nodes: readonly { readonly name: string; readonly lifecycle: LifecycleExplanation }[];
}

/** undefined: there is no such object. */
export function explainGroup(
  cluster: LifecycleCluster,
  events: EventsByNode,
  { kind, name }: { readonly kind: 'nodepool' | 'policy'; readonly name: string },
  now: EpochMs,
): GroupExplanation | undefined {
  const { policies, faults } = cluster.stated;
  const policy = policies.find(({ object }) => object.metadata.name === name);
  const fault = faults.find(({ object }) => object.metadata.name === name);
  if (kind === 'policy' ? (policy ?? fault) === undefined : !cluster.pools.has(name)) return undefined;
  const unread = unreadOf(cluster, name);
  const inForce = cluster.policies.policies.find(({ object }) => object.metadata.name === name);
  const selector = (inForce ?? policy ?? fault)?.selector;
  const selected = [...cluster.pools.values()].filter(
    ({ metadata }) => selector !== undefined && selects(selector, metadata.labels ?? {}),
  );
  const nodePools = kind === 'nodepool' ? [name] : selected.map(({ metadata }) => metadata.name).toSorted();
  const isGeneral = kind === 'policy' && selector !== undefined && specificity(selector) === 0;
  const without = isGeneral ? nodesWithoutPool(cluster) : [];
  const nodes = [...nodePools.flatMap(pool => nodesOfPool(cluster, pool)), ...without].map(node => ({
    name: node.name,
    lifecycle: withRepairEvents(explainLifecycle(cluster, node, now), node, events.get(node.uid), now),
  }));
  const ofBoth = { kind, name, nodePools, nodesWithoutNodePool: without.length, nodes };
  if (kind === 'nodepool') {
    return {
      ...ofBoth,
      mode: undefined,
      fault: undefined,
      status: [],
      protection: undefined,
      rules: rulesOfPool(cluster, name),
    };
  }
  const status = statusOf((policy ?? fault)?.object);
  const protection = policy && statedProtection(policy.object);
  const texts = unread.length === 0 ? fault?.message : unread.map(unreadText).join('; ');
  return {
    ...ofBoth,
    mode: unread.length === 0 ? policy?.mode : undefined,
    fault: texts,
    status,
    protection,
    rules: undefined,
  };
}

/** Reasons why the policy cannot be read as it is, with the version that is in force: one for each version. */
function unreadOf({ inForce }: LifecycleCluster, name: string): readonly UnreadPolicy[] {
  const all = Object.values(inForce).flatMap(({ unread }) => unread.filter(each => each.name === name));
  return [...new Map(all.map(each => [unreadText(each), each])).values()];
}

/** As the repair function has written it, which knows the generation that was accepted last. */
function statusOf(object: KubernetesObject | undefined): readonly string[] {
  const conditions = readConditions(object?.status?.['conditions']);
  if (conditions.length === 0) return ['no status yet: the repair function has not looked at it'];
  return conditions
    .filter(({ type, status }) => type !== 'Accepted' || status === 'False' || conditions.length === 1)
    .map(({ type, status, reason, message }) =>
      status === 'True' && type === 'Active'
        ? message
        : `${status === 'True' ? '' : 'not '}${type} (${reason}): ${message}`,
    );
}

/** All policies, the most specific first, and those that cannot be read; or all NodePools by name. */
export function explainGroups(
  cluster: LifecycleCluster,
  events: EventsByNode,
  kind: 'policies' | 'nodepools',
  now: EpochMs,
): readonly GroupExplanation[] {
  const { policies, faults } = cluster.stated;
  const names =
    kind === 'nodepools'
      ? [...cluster.pools.keys()].toSorted()
      : [...policies, ...faults].map(({ object }) => object.metadata.name);
  const one = kind === 'nodepools' ? 'nodepool' : 'policy';
  return names.flatMap(name => explainGroup(cluster, events, { kind: one, name }, now) ?? []);
}

/** A line each, in columns. */
export function renderGroups(groups: readonly GroupExplanation[], kind: 'policies' | 'nodepools'): string {
  if (groups.length === 0) return kind === 'policies' ? 'there is no NodeLifecyclePolicy' : 'there is no NodePool';
  const rows = groups.map(group => [
    group.name,
    group.kind === 'nodepool' ? '' : group.fault === undefined ? (group.mode ?? '') : 'cannot be read',
    counted(group.nodes.length),
    unhealthyText(group.nodes),
    group.kind === 'nodepool' ? `policies: ${policiesOf(group)}` : `selects ${selection(group)}`,
  ]);
  const widths = [0, 1, 2, 3].map(column => Math.max(...rows.map(row => row[column]?.length ?? 0)));
  return rows
    .map(row =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .filter(cell => cell !== '')
        .join('  '),
    )
    .map(onOneLine)
    .join('\n');
}

const policiesOf = ({ rules }: GroupExplanation): string =>
  rules === undefined || rules.policies.length === 0 ? 'none' : rules.policies.map(({ name }) => name).join(', ');

type GroupNode = GroupExplanation['nodes'][number];

const isUnhealthy = ({ lifecycle: { repair } }: GroupNode): boolean =>
  repair.dueTime !== undefined || repair.since !== undefined;

/** While no block can be read, nobody can say what makes a node unhealthy. */
function unhealthyText(nodes: readonly GroupNode[]): string {
  const unhealthy = nodes.filter(isUnhealthy);
  const unknown = nodes.filter(each => !isUnhealthy(each) && each.lifecycle.repair.kind === 'refuse');
  if (unknown.length === 0) return `${unhealthy.length} unhealthy`;
  const known = unknown.length === nodes.length ? '' : `${unhealthy.length} unhealthy, `;
  return `${known}not known of ${unknown.length} whether ${unknown.length === 1 ? 'it is' : 'they are'} unhealthy`;
}

/** Unhealthy nodes have a line each; the others are counted. */
export function renderGroup(group: GroupExplanation, now: EpochMs): string {
  const { kind, name, mode, fault, status, protection, rules, nodes } = group;
  const title = kind === 'policy' ? `NodeLifecyclePolicy ${name}` : `NodePool ${name}`;
  return [
    `${title}: ${counted(nodes.length)}, ${unhealthyText(nodes)}${mode === undefined ? '' : `, mode ${mode}`}`,
    ...(fault === undefined ? [] : [`  ${fault}`]),
    ...(kind === 'policy' ? [`  selects ${selection(group)}`] : []),
    ...status.map(line => `  ${line}`),
    ...(protection === undefined ? [] : [`  protection: ${rulesText(protection)}`]),
    ...(rules === undefined ? [] : describeRules(rules)),
    ...nodes.filter(isUnhealthy).map(each => `  node ${each.name}: repair ${repairText(each.lifecycle, now)}`),
  ]
    .map(onOneLine)
    .join('\n');
}

const counted = (nodes: number): string => `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`;

function selection({ nodePools, nodesWithoutNodePool }: GroupExplanation): string {
  const pools = nodePools.length === 0 ? 'no NodePool' : `NodePool ${nodePools.join(', ')}`;
  return nodesWithoutNodePool === 0 ? pools : `${pools}, and ${counted(nodesWithoutNodePool)} without a NodePool`;
}

function describeRules({ repair, termination, drain, protection, policies }: PoolRules): readonly string[] {
  return [
    `  repair: ${repair}`,
    `  termination: ${termination}`,
    `  drains: ${drain}`,
    `  protection: ${protection}`,
    `  policies: ${policies.length === 0 ? 'none' : policiesText(policies)}`,
  ];
}
