/** What every `Instances` does: the simulated cloud, and the adapter on EC2. */
import { describe, expect, it } from 'vitest';
import { minutes, type DurationMs } from '../../shared/domain/time.ts';
import type { Instances, InstanceState } from '../../shared/ports/instances.ts';

export interface InstancesSubject {
  readonly instances: Instances;
  /** A running one; answers its providerID. */
  launch(options?: { readonly autoScalingGroup?: string }): string;
  setState(providerID: string, state: InstanceState): void;
  /** Every call is throttled from now on. */
  throttle(providerID: string): void;
  /** Lets time pass. */
  pass(duration: DurationMs): Promise<void>;
}

/** No instance has it. */
const UNKNOWN = 'aws:///us-east-1a/i-0fffffffffffffff0';

export function defineInstancesContract(name: string, start: () => InstancesSubject): void {
  describe(`instances: ${name}`, () => {
    it('tells state and Auto Scaling group', async () => {
      const { instances, launch } = start();
      expect(await instances.describe(launch())).toEqual({ state: 'running' });
      expect(await instances.describe(launch({ autoScalingGroup: 'eks-blue' }))).toEqual({
        state: 'running',
        autoScalingGroup: 'eks-blue',
      });
    });

    it('terminates once, and the instance is gone after a while', async () => {
      const { instances, launch, pass } = start();
      const id = launch();
      expect(await instances.terminate(id)).toEqual({ kind: 'ok' });
      expect(await instances.describe(id)).toEqual({ state: 'shutting-down' });
      expect(await instances.terminate(id)).toEqual({ kind: 'ok' });
      await pass(minutes(1));
      expect(await instances.describe(id)).toEqual({ state: 'terminated' });
      expect(await instances.terminate(id)).toEqual({ kind: 'ok' });
    });

    it('terminates what is stopped', async () => {
      const { instances, launch, setState, pass } = start();
      const id = launch();
      setState(id, 'stopped');
      expect(await instances.terminate(id)).toEqual({ kind: 'ok' });
      await pass(minutes(1));
      expect(await instances.describe(id)).toEqual({ state: 'terminated' });
    });

    it('has nothing to do for what nobody knows', async () => {
      const { instances } = start();
      expect(await instances.describe(UNKNOWN)).toBeUndefined();
      expect(await instances.terminate(UNKNOWN)).toEqual({ kind: 'notFound' });
      expect(await instances.reboot(UNKNOWN)).toEqual({ kind: 'notFound' });
    });

    it('reboots what runs; what is terminated ignores it; what is stopped is a reason', async () => {
      const { instances, launch, setState } = start();
      const id = launch();
      expect(await instances.reboot(id)).toEqual({ kind: 'ok' });
      expect(await instances.describe(id)).toEqual({ state: 'running' });
      setState(id, 'terminated');
      expect(await instances.reboot(id)).toEqual({ kind: 'ok' });
      expect(await instances.describe(id)).toEqual({ state: 'terminated' });
      for (const state of ['stopping', 'stopped'] as const) {
        const other = launch();
        setState(other, state);
        expect(await instances.reboot(other)).toEqual({
          kind: 'refused',
          reason: 'IncorrectInstanceState',
          message: expect.any(String),
        });
      }
    });

    it('terminates in an Auto Scaling group, and nowhere else', async () => {
      const { instances, launch } = start();
      const id = launch({ autoScalingGroup: 'eks-blue' });
      expect(await instances.terminateInAutoScalingGroup(id)).toEqual({ kind: 'ok' });
      expect(await instances.describe(id)).toMatchObject({ state: 'shutting-down' });
      const loner = launch();
      for (const other of [loner, UNKNOWN]) {
        expect(await instances.terminateInAutoScalingGroup(other)).toMatchObject({
          kind: 'refused',
          reason: 'NotInAutoScalingGroup',
        });
      }
      expect(await instances.describe(loner)).toEqual({ state: 'running' });
    });

    it('backs off when it is throttled: certainly not done, to be tried again', async () => {
      const { instances, launch, throttle } = start();
      const id = launch({ autoScalingGroup: 'eks-blue' });
      throttle(id);
      for (const method of ['describe', 'terminate', 'reboot', 'terminateInAutoScalingGroup'] as const) {
        await expect(instances[method](id)).rejects.toMatchObject({
          name: 'RetryableError',
          reason: 'RequestLimitExceeded',
          outcomeUnknown: false,
        });
      }
    });
  });
}
