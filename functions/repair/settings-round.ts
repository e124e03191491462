/**
 * What a change of settings affects: the pools with nodes that are ill by any rule, and those that are named. A burst of changes costs one
 * round (`shared/lifecycle/rounds.ts`), which reads the whole cluster: nodes that were ill while nothing was to be repaired are known to nobody.
 */
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import type { RepairStatement } from '../../shared/domain/repair-policy.ts';
import type { Scopes } from '../../shared/lifecycle/next-round.ts';
import type { Rounds } from '../../shared/lifecycle/rounds.ts';
import { settingsRounds } from '../../shared/policies/settings-rounds.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { objectsOf } from '../../shared/ports/read-answer.ts';
import { ANY } from './asks.ts';
import { poolOf } from './node-verdict.ts';
import { isSuspicious, loadCluster } from './observe.ts';
import type { Passes } from './passes.ts';
import { OWNER } from './record.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'> & { readonly passes: Passes };

/** Rounds after changes of settings; their scopes are NodePools. */
export function createSettingsRounds(deps: Deps): Rounds {
  return settingsRounds(deps, OWNER, async scopes => {
    for (const pool of await concernedPools(deps, scopes)) await deps.passes.ask(pool, ANY);
    return [];
  });
}

async function concernedPools(deps: Deps, scopes: Scopes): Promise<ReadonlySet<string | undefined>> {
  const [{ nodes, claims }, statements] = await inParallel([loadCluster(deps), ownStatementsOf(deps)]);
  const owners = indexOwners(nodes, claims);
  const ill = nodes.filter(node => isSuspicious(node, statements)).map(node => poolOf(node, ownerOf(node, owners)));
  return new Set(scopes === 'all' ? ill : scopes);
}

/** The conditions of users, in policies and NodePools. */
export async function ownStatementsOf({
  kubernetes,
}: Pick<FunctionDeps, 'kubernetes'>): Promise<readonly RepairStatement[]> {
  const [policies, pools] = await inParallel([
    kubernetes.list(RESOURCES.NodeLifecyclePolicy),
    kubernetes.list(RESOURCES.NodePool),
  ]);
  return [...objectsOf(policies, { notServed: 'notKnown' }), ...objectsOf(pools, { notServed: 'none' })].flatMap(
    ownStatements,
  );
}

function ownStatements({ spec }: KubernetesObject): readonly RepairStatement[] {
  const block = parseRepairBlock(spec?.['repair'], 'spec.repair');
  return block.ok ? block.value.conditions : [];
}
