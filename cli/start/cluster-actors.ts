/**
 * Actors around Curfew in the local cluster: a scheduler, Karpenter, the kubelets of all nodes, the garbage collector of pods, the controller of
 * PodDisruptionBudgets, the end of Events.
 */
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import { startDisruption } from '../../simulator/actors/disruption.ts';
import { startEventTtl } from '../../simulator/actors/event-ttl.ts';
import { startKarpenter } from '../../simulator/actors/karpenter.ts';
import { startKubelet } from '../../simulator/actors/kubelet.ts';
import { startNodeDeletion } from '../../simulator/actors/node-deletion.ts';
import { startOrphanedPods } from '../../simulator/actors/orphaned-pods.ts';
import { startScheduling } from '../../simulator/actors/scheduling.ts';
import { startPods } from '../../simulator/actors/pod-start.ts';
import { startCloud } from '../../simulator/actors/cloud.ts';
import { createCloud } from '../../simulator/cloud.ts';
import type { ActorWorld } from '../../simulator/actors/actor.ts';

/** Karpenter launches whatever waits for an instance. */
const EVERY_CLAIM: NonNullable<ActorWorld['launches']> = { resultFor: () => 'succeed', onSet: () => undefined };

/** Starts them; they run until the scheduler is closed. */
export function startClusterActors(
  core: ApiServerCore,
  scheduler: Scheduler,
  cloud: ActorWorld['cloud'] = createCloud(scheduler),
): void {
  const world: ActorWorld = { core, scheduler, cloud, launches: EVERY_CLAIM };
  const starts = [
    startCloud,
    startKarpenter,
    startNodeDeletion,
    startScheduling,
    startKubelet,
    startPods,
    startOrphanedPods,
    startDisruption,
    startEventTtl,
  ];
  for (const start of starts) start(world);
}
