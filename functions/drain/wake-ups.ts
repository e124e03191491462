/** Which nodes' drains must be looked at again because something around them changed. */
import { isWatchedFor } from '../../shared/cluster/pod-watchers.ts';
import { NVSENTINEL } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { DRAIN_STATES } from '../../shared/domain/quarantine.ts';
import { toDurationMs } from '../../shared/domain/time.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'wakeUps' | 'clock'>;

/** Those under way: a PodDisruptionBudget may have opened. */
export async function wakeDraining(deps: Deps): Promise<void> {
  const query = { labelSelector: `${NVSENTINEL.stateLabel}=${DRAIN_STATES.draining}` };
  await wake(deps, (await deps.kubernetes.list(RESOURCES.Node, query)) ?? []);
}

/** The one that a custom resource of this name was made for: names begin with the node's (`drainResourceName`). */
export async function wakeDrainOf(deps: Deps, resourceName: string): Promise<void> {
  const query = { labelSelector: `${NVSENTINEL.stateLabel}=${DRAIN_STATES.draining}` };
  const nodes = (await deps.kubernetes.list(RESOURCES.Node, query)) ?? [];
  await wake(
    deps,
    nodes.filter(({ metadata: { name } }) => resourceName.startsWith(`drain-${name}-`)),
  );
}

/** Those under way and those that wait for a configuration. */
export async function wakeAll(deps: Deps): Promise<void> {
  const nodes = (await deps.kubernetes.list(RESOURCES.Node)) ?? [];
  await wake(
    deps,
    nodes.filter(node => isWatchedFor(node, 'drain')),
  );
}

async function wake({ wakeUps, clock }: Deps, nodes: readonly KubernetesObject[]): Promise<void> {
  const wakeTime = clock.now();
  await wakeUps.send(
    nodes.map(({ kind, apiVersion, metadata: { name, uid } }) => ({
      wakeUp: { owner: 'drain', subject: { kind, apiVersion, name, uid }, wakeTime },
      delay: toDurationMs(0),
    })),
  );
}
