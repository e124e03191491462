/** A NodePool or a NodeLifecyclePolicy: which nodes it is in force for, and what becomes of them. */
import { selects } from '../../shared/domain/label-selector.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { explainLifecycle, nodesOfPool, type LifecycleCluster, type LifecycleExplanation } from './lifecycle.ts';
import { repairText } from './render-lifecycle.ts';

export interface GroupExplanation {
  readonly kind: 'nodepool' | 'policy';
  readonly name: string;
  /** Of a policy: its mode. */
  readonly mode: 'Enforce' | 'Observe' | undefined;
  /** Why a policy cannot be read. */
  readonly fault: string | undefined;
  readonly nodePools: readonly string[];
  readonly nodes: readonly { readonly name: string; readonly lifecycle: LifecycleExplanation }[];
}

/** undefined: there is no such object. */
export function explainGroup(
  cluster: LifecycleCluster,
  kind: 'nodepool' | 'policy',
  name: string,
  now: EpochMs,
): GroupExplanation | undefined {
  const { policies, faults } = cluster.policies;
  const policy = policies.find(({ object }) => object.metadata.name === name);
  const fault = faults.find(({ object }) => object.metadata.name === name);
  if (kind === 'policy' ? (policy ?? fault) === undefined : !cluster.pools.has(name)) return undefined;
  const selector = policy?.selector ?? fault?.selector;
  const selected = [...cluster.pools.values()].filter(
    ({ metadata }) => selector !== undefined && selects(selector, metadata.labels ?? {}),
  );
  const nodePools = kind === 'nodepool' ? [name] : selected.map(({ metadata }) => metadata.name).toSorted();
  const nodes = nodePools
    .flatMap(pool => nodesOfPool(cluster, pool))
    .map(node => ({ name: node.name, lifecycle: explainLifecycle(cluster, node, now) }));
  const ofPolicy = kind === 'policy';
  return { kind, name, mode: ofPolicy ? policy?.mode : undefined, fault: ofPolicy ? fault?.message : undefined, nodePools, nodes }; // prettier-ignore
}

export function renderGroup({ kind, name, mode, fault, nodePools, nodes }: GroupExplanation, now: EpochMs): string {
  const title = kind === 'policy' ? `NodeLifecyclePolicy ${name}` : `NodePool ${name}`;
  const unhealthy = nodes.filter(({ lifecycle }) => lifecycle.repair.dueTime !== undefined);
  return [
    `${title}: ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}, ${unhealthy.length} unhealthy${mode === undefined ? '' : `, mode ${mode}`}`,
    ...(fault === undefined ? [] : [`  not in force: ${fault}`]),
    ...(kind === 'policy'
      ? [`  selects ${nodePools.length === 0 ? 'no NodePool' : `NodePool ${nodePools.join(', ')}`}`]
      : []),
    ...(kind === 'nodepool' ? nodes.slice(0, 1).flatMap(({ lifecycle }) => describeRules(lifecycle)) : []),
    ...unhealthy.map(each => `  node ${each.name}: repair ${repairText(each.lifecycle, now)}`),
  ].join('\n');
}

function describeRules({ repair, termination, policies }: LifecycleExplanation): readonly string[] {
  return [
    `  repair: ${repair.source === undefined ? `none: ${repair.message}` : `by ${repair.source}, mode ${repair.mode}`}`,
    `  termination: ${termination.message}${termination.source === undefined ? '' : `, by ${termination.source}`}`,
    `  policies: ${policies.length === 0 ? 'none' : policies.map(each => `${each.name} (mode ${each.mode})`).join(', ')}`,
  ];
}
