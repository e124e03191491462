/** Which terminations must be looked at again because something around them changed. */
import { KARPENTER } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toDurationMs } from '../../shared/domain/time.ts';
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'wakeUps' | 'clock'>;

/** Those under way: a PodDisruptionBudget may have opened, a Node may be gone. */
export async function wakeTerminations(deps: Deps): Promise<void> {
  const objects = await loadAll(deps, undefined);
  await wake(
    deps,
    objects.filter(({ metadata }) => metadata.deletionTimestamp !== undefined),
  );
}

/** Every NodeClaim and Node of a pool, or of the cluster: settings have changed. */
export async function wakePool(deps: Deps, pool: string | undefined): Promise<void> {
  await wake(deps, await loadAll(deps, pool));
}

async function loadAll({ kubernetes }: Deps, pool: string | undefined): Promise<readonly KubernetesObject[]> {
  const query = pool === undefined ? {} : { labelSelector: `${KARPENTER.nodePoolLabel}=${pool}` };
  const [claims, nodes] = await inParallel([
    kubernetes.list(RESOURCES.NodeClaim, query),
    kubernetes.list(RESOURCES.Node, query),
  ]);
  return [...(claims ?? []), ...(nodes ?? [])];
}

async function wake({ wakeUps, clock }: Deps, objects: readonly KubernetesObject[]): Promise<void> {
  const wakeTime = clock.now();
  await wakeUps.send(
    objects.map(({ kind, apiVersion, metadata: { name, uid } }) => ({
      wakeUp: { owner: 'finalizer', subject: { kind, apiVersion, name, uid }, wakeTime },
      delay: toDurationMs(0),
    })),
  );
}
