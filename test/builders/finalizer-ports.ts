/** Ports of the finalizer function for the parts of it that never look at an instance: all that it says and asks for goes nowhere. */
import type { createReconciler } from '../../functions/finalizer/route.ts';
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';

type Ports = Parameters<typeof createReconciler>[0];

const never = (): Promise<never> => Promise.reject(new Error('no instance is asked about'));

export const finalizerPorts = (
  kubernetes: KubernetesApi,
  now: () => EpochMs,
  more: Partial<Pick<Ports, 'wakeUps' | 'audit'>> = {},
): Ports => ({
  kubernetes,
  records: createMemoryRecordStore(),
  wakeUps: { send: async () => undefined },
  instances: {
    describe: never,
    terminate: never,
    reboot: never,
    terminateInAutoScalingGroup: never,
    checkOf: never,
    list: async () => [],
  },
  hooks: { invoke: async () => ({ kind: 'succeeded' }) },
  events: { record: async () => undefined },
  audit: { write: () => undefined },
  metrics: { count: () => undefined, milliseconds: () => undefined },
  clock: { now, sleep: never },
  ...more,
});
