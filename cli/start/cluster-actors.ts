/** What stands around Curfew in the local cluster: Karpenter, the kubelets of all nodes, the controller of PodDisruptionBudgets. */
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import { startDisruption } from '../../simulator/actors/disruption.ts';
import { startKarpenter } from '../../simulator/actors/karpenter.ts';
import { startKubelet } from '../../simulator/actors/kubelet.ts';
import { startPods } from '../../simulator/actors/pod-start.ts';
import { createCloud } from '../../simulator/cloud.ts';

/** Starts them; they run until the scheduler is closed. */
export function startClusterActors(core: ApiServerCore, scheduler: Scheduler): void {
  const world = { core, scheduler, cloud: createCloud(scheduler) };
  for (const start of [startKarpenter, startKubelet, startPods, startDisruption]) start(world);
}
