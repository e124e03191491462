/** What every `Instances` does: the simulated cloud, and the adapter on EC2. */
import { describe, expect, it } from 'vitest';
import type { Confirmation } from '../../shared/domain/repair-policy.ts';
import { minutes, type DurationMs } from '../../shared/domain/time.ts';
import type { Instances, InstanceState } from '../../shared/ports/instances.ts';

export interface InstancesSubject {
  readonly instances: Instances;
  /** A running one; answers its providerID. */
  launch(options?: { readonly autoScalingGroup?: string }): string;
  setState(providerID: string, state: InstanceState): void;
  setCheck(providerID: string, check: Confirmation, status: 'impaired'): void;
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

    it('tells what each check says, also of what does not run, and nothing of what nobody knows', async () => {
      const { instances, launch, setState, setCheck } = start();
      const id = launch();
      const checks = ['InstanceStatus', 'ApplicationStatus'] as const;
      const said = async (of: string) => Promise.all(checks.map(check => instances.checkOf(of, check)));
      expect(await said(id)).toEqual(['ok', 'not-applicable']);
      setCheck(id, 'ApplicationStatus', 'impaired');
      expect(await said(id)).toEqual(['ok', 'impaired']);
      setCheck(id, 'InstanceStatus', 'impaired');
      expect(await said(id)).toEqual(['impaired', 'impaired']);
      const stopped = launch();
      setState(stopped, 'stopped');
      expect(await said(stopped)).toEqual(['not-applicable', 'not-applicable']);
      expect(await said(UNKNOWN)).toEqual([undefined, undefined]);
    });

    it('lists what was launched for the cluster and has not ended, and nothing of a node group', async () => {
      const { instances, launch, setState, pass } = start();
      const before = new Set((await instances.list()).map(({ providerID }) => providerID));
      const running = Array.from({ length: 6 }, () => launch());
      const stopped = launch();
      const ending = launch();
      const ofGroup = launch({ autoScalingGroup: 'eks-blue' });
      setState(stopped, 'stopped');
      await instances.terminate(ending);
      const listed = (await instances.list()).filter(({ providerID }) => !before.has(providerID));
      expect(new Map(listed.map(({ providerID, state }) => [providerID, state]))).toEqual(
        new Map([...running.map(id => [id, 'running'] as const), [stopped, 'stopped']]),
      );
      expect(listed.map(({ providerID }) => providerID)).not.toContain(ofGroup);
      const [first] = listed;
      await pass(minutes(10));
      const later = launch();
      const again = new Map((await instances.list()).map(({ providerID, launchTime }) => [providerID, launchTime]));
      expect((again.get(later) ?? 0) - (first?.launchTime ?? 0)).toBe(minutes(10));
    });

    it('never lists a part: throttled, it throws', async () => {
      const { instances, launch, throttle } = start();
      throttle(launch());
      await expect(instances.list()).rejects.toMatchObject({ name: 'RetryableError', reason: 'RequestLimitExceeded' });
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
      await expect(instances.checkOf(id, 'InstanceStatus')).rejects.toMatchObject({ name: 'RetryableError' });
    });
  });
}
