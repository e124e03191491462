/** What a reboot of an instance shows in the cluster: its Node gets a new boot ID. What ails it is the scenario's to say. */
import { addDuration, seconds } from '../shared/domain/time.ts';
import type { Scheduler } from '../runtime/scheduler.ts';
import { refOf, RESOURCE_TYPES, textIn, unlessRefused, type ActorApi } from './actors/actor.ts';

/** From the call until the machine is up again. */
const REBOOT_TAKES = seconds(5);
const USER = 'actor:cloud';
/** A machine whose kubelet is dead comes up without saying so. */
const KUBELET = 'sim.curfew.dev/kubelet';

/** Restarts instances, by providerID. */
export function createReboots(core: ActorApi, scheduler: Scheduler): (providerID: string) => void {
  let reboots = 0;
  const finish = (providerID: string): void => {
    for (const node of core.list(RESOURCE_TYPES.nodes).items) {
      if (textIn(node.spec, 'providerID') !== providerID || node.metadata.annotations?.[KUBELET] === 'dead') continue;
      reboots += 1;
      const status = { nodeInfo: { bootID: `simulated-boot-${reboots}` } };
      const body = { metadata: { uid: node.metadata.uid }, status };
      const options = { user: USER, subresource: 'status' } as const;
      unlessRefused(() => core.patch(refOf(RESOURCE_TYPES.nodes, node), { type: 'merge', body }, options));
    }
  };
  return providerID => scheduler.at(addDuration(scheduler.now(), REBOOT_TAKES), () => finish(providerID));
}
