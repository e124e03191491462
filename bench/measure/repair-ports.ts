/** The ports of a repair function that runs by itself in a bench: records in memory, and nobody else who hears of anything. */
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import type { BusEntry } from '../../shared/contract/envelope.ts';
import type { Instances } from '../../shared/ports/instances.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';

/** Terminations go by way of the NodeClaim alone. */
const unasked = (): never => {
  throw new Error('no instance is asked for');
};
const NO_INSTANCES: Instances = {
  describe: unasked,
  checkOf: unasked,
  list: unasked,
  terminate: unasked,
  reboot: unasked,
  terminateInAutoScalingGroup: unasked,
};

export function repairPorts(kubernetes: KubernetesApi) {
  return {
    kubernetes,
    records: createMemoryRecordStore(),
    wakeUps: { send: async () => undefined },
    bus: { publish: async (entries: readonly BusEntry[]) => entries.map(() => ({ kind: 'published' }) as const) },
    instances: NO_INSTANCES,
    events: { record: async () => undefined },
    audit: { write: () => undefined },
    metrics: { count: () => undefined, milliseconds: () => undefined },
    clock: systemClock,
  };
}
