/** Whom a change of settings concerns: the unhealthy nodes of a pool or of the cluster, and the pools in which something is held. */
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { matchStatements, type RepairStatement, AWS_REPAIR_STATEMENTS } from '../../shared/domain/repair-policy.ts';
import { toDurationMs } from '../../shared/domain/time.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { loadCluster } from './observe.ts';
import { indexOwners, ownerOf } from './owner.ts';
import { poolOf } from './pass/look.ts';
import type { Passes } from './pass/run.ts';
import { OWNER } from './record.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'wakeUps' | 'clock'> & { readonly passes: Passes };

/** @param only the pool whose settings changed; undefined: all may have */
export async function settingsChanged(deps: Deps, only: string | undefined): Promise<void> {
  const [{ nodes, claims }, policies, pools] = await inParallel([
    loadCluster(deps),
    deps.kubernetes.list(RESOURCES.NodeLifecyclePolicy),
    deps.kubernetes.list(RESOURCES.NodePool),
  ]);
  const statements = [...AWS_REPAIR_STATEMENTS, ...[...(policies ?? []), ...(pools ?? [])].flatMap(ownStatements)];
  const owners = indexOwners(nodes, claims);
  const unhealthy = nodes
    .map(node => ({ node, pool: poolOf(node, ownerOf(node, owners)) }))
    .filter(({ node, pool }) => (only === undefined || pool === only) && matchStatements(node, statements).length > 0);
  // The passes first: they see all that is due by the new settings, at once.
  const concerned = only === undefined ? new Set(unhealthy.map(({ pool }) => pool)) : new Set([only]);
  for (const pool of concerned) await deps.passes.poolChanged(pool);
  const wakeTime = deps.clock.now();
  await deps.wakeUps.send(
    unhealthy.map(({ node: { name, uid } }) => ({
      wakeUp: { owner: OWNER, subject: { apiVersion: 'v1', kind: 'Node', name, uid }, wakeTime },
      delay: toDurationMs(0),
    })),
  );
}

function ownStatements({ spec }: KubernetesObject): readonly RepairStatement[] {
  const block = parseRepairBlock(spec?.['repair'], 'spec.repair');
  return block.ok ? block.value.conditions : [];
}
