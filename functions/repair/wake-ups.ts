/**
 * What a change of settings affects: the pools in which something may be due by now, and the unhealthy nodes, whose own timers may
 * be wrong. A burst of changes costs one round (`shared/lifecycle/rounds.ts`).
 */
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { matchStatements, type RepairStatement, AWS_REPAIR_STATEMENTS } from '../../shared/domain/repair-policy.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import type { Scopes } from '../../shared/lifecycle/next-round.ts';
import type { Rounds } from '../../shared/lifecycle/rounds.ts';
import { settingsRounds } from '../../shared/policies/settings-rounds.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { loadCluster } from './observe.ts';
import { poolOf } from './pass/look.ts';
import type { Passes } from './pass/run.ts';
import { OWNER } from './record.ts';
import { objectsOf } from '../../shared/ports/read-answer.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'> & { readonly passes: Passes };

/** Rounds after changes of settings; their scopes are NodePools. */
export function createSettingsRounds(deps: Deps): Rounds {
  return settingsRounds(deps, OWNER, scopes => concernedNodes(deps, scopes));
}

/** The passes first: they see all that is due by the new settings, at once. */
async function concernedNodes(deps: Deps, scopes: Scopes): Promise<readonly Subject[]> {
  const [{ nodes, claims }, policies, pools] = await inParallel([
    loadCluster(deps),
    deps.kubernetes.list(RESOURCES.NodeLifecyclePolicy),
    deps.kubernetes.list(RESOURCES.NodePool),
  ]);
  const statements = [
    ...AWS_REPAIR_STATEMENTS,
    ...[policies, pools].flatMap(answer => objectsOf(answer, { notServed: 'notKnown' })).flatMap(ownStatements),
  ];
  const owners = indexOwners(nodes, claims);
  const unhealthy = nodes
    .filter(node => matchStatements(node, statements).length > 0)
    .map(node => ({ node, pool: poolOf(node, ownerOf(node, owners)) }))
    .filter(({ pool }) => scopes === 'all' || (pool !== undefined && scopes.includes(pool)));
  const changed = scopes === 'all' ? new Set(unhealthy.map(({ pool }) => pool)) : new Set(scopes);
  for (const pool of changed) await deps.passes.poolChanged(pool);
  return unhealthy.map(({ node: { name, uid } }) => ({ apiVersion: 'v1', kind: 'Node', name, uid }));
}

function ownStatements({ spec }: KubernetesObject): readonly RepairStatement[] {
  const block = parseRepairBlock(spec?.['repair'], 'spec.repair');
  return block.ok ? block.value.conditions : [];
}
