/** Reboot: EC2 restarts the machine. That it did shows in the Node's boot ID; that it helped, in its conditions. */
import type { Action } from './action.ts';
import { callInstance } from './call-instance.ts';

export const reboot: Action = {
  name: 'Reboot',
  run: context => callInstance(context, (instances, providerID) => instances.reboot(providerID)),
};
