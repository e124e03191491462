/** `examples/slurm-drain` and Curfew, whole, against a real Slurm: real jobs run on nodes that are drained under them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FOREIGN, OURS } from '../examples/slurm-drain/builders.ts';
import { NAME } from '../examples/slurm-drain/bridge-cluster.ts';
import { defineSlurmContract, nodeOf } from '../examples/slurm-drain/slurm.contract.ts';
import { startDeployment, startFunction, type DeployedBridge } from './deployed-bridge.ts';
import { reasonToSkip } from './install.ts';
import { startSlurm, type RealSlurm } from './real-slurm.ts';
import { startWholeFlow, type WholeFlow } from './whole-flow.ts';

const skipped = reasonToSkip();
const STATE = 'dgxc.nvidia.com/nvsentinel-state';
const patience = { timeout: 30_000, interval: 50 };

describe.skipIf(skipped !== undefined)(`Slurm${skipped === undefined ? '' : ` (skipped: ${skipped})`}`, () => {
  let slurm: RealSlurm;
  beforeAll(async () => {
    slurm = await startSlurm();
  });
  afterAll(() => slurm.stop());

  defineSlurmContract(() => slurm);

  describe('with the bridge as it is deployed', () => {
    afterEach(() => slurm.reset());
    const isWaiting = async (bridge: DeployedBridge): Promise<number> => {
      const job = await slurm.submit('n1');
      bridge.request();
      await expect.poll(() => bridge.conditionOf('DrainInProgress'), patience).toBe('True JobsRunning');
      expect(nodeOf(await slurm.slurm.look(), 'n1')).toMatchObject({ flags: ['DRAIN'], reason: OURS });
      return job;
    };

    it('as a process with the rights of its ServiceAccount, until it is asked to end', async () => {
      const bridge = await startDeployment(slurm.bridgeEnv);
      const job = await isWaiting(bridge);
      await slurm.cancel(job);
      // Any change of the custom resource makes it look, too.
      bridge.request('drain-n2-e2', { nodeName: 'n2' });
      await expect.poll(() => bridge.conditionOf('DrainComplete'), patience).toBe('True AllJobsCompleted');
      expect(await bridge.stop()).toBe(0);
      expect(bridge.refused).toEqual([]);
    });

    it('as a Lambda function that events of the custom resource and the tick start', async () => {
      const bridge = await startFunction(slurm.bridgeEnv);
      const job = await isWaiting(bridge);
      await slurm.cancel(job);
      await slurm.until(view => view.kind === 'seen' && view.jobs.length === 0);
      await bridge.tick();
      expect(bridge.conditionOf('DrainComplete')).toBe('True AllJobsCompleted');
      bridge.remove();
      bridge.hold(false);
      await expect.poll(async () => nodeOf(await slurm.slurm.look(), 'n1')?.flags, patience).toEqual([]);
      await bridge.stop();
      expect(bridge.refused).toEqual([]);
    });
  });

  describe('with Curfew and the bridge', () => {
    let flow: WholeFlow;
    beforeEach(() => {
      flow = startWholeFlow(slurm.slurm);
    });
    afterEach(async () => {
      await flow.stop();
      await slurm.reset();
    });
    const node = async () => nodeOf(await slurm.slurm.look(), 'n1');
    const labelOf = (): string | undefined =>
      flow.core.get({ type: { group: '', version: 'v1', resource: 'nodes' }, name: 'n1' }).metadata.labels?.[STATE];
    const condition = (type: string): string | undefined => (flow.exists(NAME) ? flow.conditionOf(type) : undefined);

    it('a drain waits for the job, outlives slurmctld, ends when the job does, and is taken back after the repair', async () => {
      const job = await slurm.submit('n1');
      flow.report('e1');
      await expect.poll(() => condition('DrainInProgress'), patience).toBe('True JobsRunning');
      expect(await node()).toMatchObject({ flags: ['DRAIN'], reason: OURS });
      expect(labelOf()).toBe('draining');

      await slurm.saved();
      await slurm.killController();
      await expect.poll(() => condition('DrainInProgress'), patience).toBe('Unknown SlurmUnknown');
      expect(condition('DrainComplete')).toBe('False SlurmUnknown');
      await slurm.startController();
      await expect.poll(() => condition('DrainInProgress'), patience).toBe('True JobsRunning');

      slurm.finish(job);
      await expect.poll(labelOf, patience).toBe('drain-succeeded');
      await expect.poll(() => flow.exists(NAME), patience).toBe(false);
      expect(flow.audit).toContainEqual(expect.objectContaining({ decision: 'end', reason: 'DrainSucceeded' }));
      expect(await node()).toMatchObject({ flags: ['DRAIN'], reason: OURS });

      flow.hold(false);
      await expect.poll(async () => (await node())?.flags, patience).toEqual([]);
    });

    it('a drain that is cancelled is resumed, and its job goes on', async () => {
      const job = await slurm.submit('n1');
      flow.report('e1');
      await expect.poll(() => condition('DrainInProgress'), patience).toBe('True JobsRunning');
      flow.hold(false);
      await expect.poll(() => flow.exists(NAME), patience).toBe(false);
      const free = await slurm.until(view => nodeOf(view, 'n1')?.flags.includes('DRAIN') === false);
      expect(free).toMatchObject({ jobs: [{ id: job, state: 'RUNNING' }] });
    });

    it('the drain of another is waited for, and stays', async () => {
      const job = await slurm.submit('n1');
      await slurm.drainAs(FOREIGN, 'n1');
      flow.report('e1');
      await expect.poll(() => condition('DrainInProgress'), patience).toBe('True JobsRunning');
      await slurm.cancel(job);
      await expect.poll(labelOf, patience).toBe('drain-succeeded');
      flow.hold(false);
      expect(await node()).toMatchObject({ flags: ['DRAIN'], reason: FOREIGN });
    });

    it('an expired token is unknown, not "no jobs"', async () => {
      await slurm.renewToken(1);
      await expect.poll(async () => (await slurm.slurm.look()).kind, patience).toBe('unknown');
      flow.report('e1');
      await expect.poll(() => condition('DrainInProgress'), patience).toBe('Unknown SlurmUnknown');
      await slurm.renewToken(3600);
      await expect.poll(labelOf, patience).toBe('drain-succeeded');
    });
  });
});

it('says why it is skipped', () => {
  if (skipped !== undefined) process.stdout.write(`The Slurm suite was skipped: ${skipped}\n`);
  expect(skipped === undefined || process.env['CI'] !== 'true').toBe(true);
});
