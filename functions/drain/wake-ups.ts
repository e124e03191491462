/** Which nodes' drains must be looked at again because something around them changed. A burst of changes costs one round. */
import { listNodes } from '../../shared/cluster/lists.ts';
import { isWatchedFor } from '../../shared/cluster/pod-watchers.ts';
import { NVSENTINEL } from '../../shared/contract/names.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { DRAIN_STATES } from '../../shared/domain/quarantine.ts';
import { seconds, toDurationMs } from '../../shared/domain/time.ts';
import { createRounds, type Rounds } from '../../shared/lifecycle/rounds.ts';
import { settingsRounds } from '../../shared/policies/settings-rounds.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'>;

const OWNER = 'drain';
export const DRAINS_ROUND = 'drains';

const DRAINING = { labelSelector: `${NVSENTINEL.stateLabel}=${DRAIN_STATES.draining}` };

/** Rounds after changes of settings: for the drains under way and those that wait for a configuration. */
export function createSettingsRounds(deps: Deps): Rounds {
  return settingsRounds(deps, OWNER, async () =>
    (await listNodes(deps)).filter(node => isWatchedFor(node, OWNER)).map(toSubject),
  );
}

/** Rounds for the drains under way: a PodDisruptionBudget may have opened. */
export function createDrainRounds(deps: Deps): Rounds {
  return createRounds(deps, {
    owner: OWNER,
    name: DRAINS_ROUND,
    spacing: seconds(1),
    concerned: async () => (await listNodes(deps, DRAINING)).map(toSubject),
  });
}

/** The one that a custom resource of this name was made for: names begin with the node's (`drainResourceName`). */
export async function wakeDrainOf(deps: Deps, resourceName: string): Promise<void> {
  const wakeTime = deps.clock.now();
  const nodes = await listNodes(deps, DRAINING);
  const its = nodes.filter(({ metadata: { name } }) => resourceName.startsWith(`drain-${name}-`));
  await deps.wakeUps.send(
    its.map(node => ({ wakeUp: { owner: OWNER, subject: toSubject(node), wakeTime }, delay: toDurationMs(0) })),
  );
}

const toSubject = ({ kind, apiVersion, metadata: { name, uid } }: KubernetesObject): Subject => ({
  kind,
  apiVersion,
  name,
  uid,
});
