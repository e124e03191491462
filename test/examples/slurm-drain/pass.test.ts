import { describe, expect, it } from 'vitest';
import { runPass } from '../../../examples/slurm-drain/bridge/pass.ts';
import { createManualClock } from '../../fakes/manual-clock.ts';
import { minutes } from '../../../shared/domain/time.ts';
import { at } from '../../builders/repair.ts';
import { REQUESTS } from '../../../examples/slurm-drain/bridge/request.ts';
import { createBridgeCluster, NAME } from './bridge-cluster.ts';
import { FOREIGN, OURS } from './builders.ts';
import { createFakeSlurm } from './fake-slurm.ts';
import { defineSlurmContract, nodeOf } from './slurm.contract.ts';

const fake = createFakeSlurm();
defineSlurmContract(() => fake);

function bridge() {
  const clock = createManualClock(at('2024-11-01T15:00:00Z'));
  const cluster = createBridgeCluster(() => clock.now());
  const slurm = createFakeSlurm();
  const deps = {
    kubernetes: cluster.asBridge,
    slurm: slurm.slurm,
    clock,
    owner: 'curfew',
    namespace: 'slurm',
    log: () => undefined,
  };
  const node = async () => nodeOf(await slurm.slurm.look(), 'n1');
  return { ...cluster, clock, deps, slurm, node, pass: () => runPass(deps) };
}

describe('a pass', () => {
  it('drains, waits for the jobs, completes, and does not resume what is still held', async () => {
    const { request, pass, conditionOf, statusOf, slurm, node, remove } = bridge();
    const job = await slurm.submit('n1');
    request();
    await pass();
    expect(await node()).toMatchObject({ flags: ['DRAIN'], reason: OURS });
    expect(conditionOf('DrainInProgress')).toBe('True JobsRunning');
    expect(statusOf()).toMatchObject({ slurmNodeName: 'n1', jobs: 1 });
    await slurm.cancel(job);
    await pass();
    expect(conditionOf('DrainComplete')).toBe('True AllJobsCompleted');
    remove();
    await pass();
    expect((await node())?.reason).toBe(OURS);
    expect(slurm.changes).toEqual([`drain n1 ${OURS}`]);
  });

  it('resumes after a cancellation, once the Node takes pods again', async () => {
    const { request, pass, slurm, node, remove, hold } = bridge();
    await slurm.submit('n1');
    request();
    await pass();
    remove();
    await pass();
    expect((await node())?.flags).toEqual(['DRAIN']);
    hold(false);
    await pass();
    expect(await node()).toMatchObject({ flags: [], reason: '' });
  });

  it('never writes over nor ends the drain of another', async () => {
    const { request, pass, slurm, node, conditionOf, remove, hold } = bridge();
    await slurm.drainAs(FOREIGN, 'n1');
    request();
    await pass();
    expect(conditionOf('DrainComplete')).toBe('True AllJobsCompleted');
    remove();
    hold(false);
    await pass();
    expect(await node()).toMatchObject({ flags: ['DRAIN'], reason: FOREIGN });
    expect(slurm.changes).toEqual([]);
  });

  it('looks again right before it acts', async () => {
    const { request, pass, slurm, node, conditionOf, remove, hold } = bridge();
    await slurm.submit('n1');
    request();
    slurm.beforeChange = () => void slurm.drainAs(FOREIGN, 'n1');
    await pass();
    expect(await node()).toMatchObject({ reason: FOREIGN });
    expect(slurm.changes).toEqual([]);
    expect(conditionOf('DrainInProgress')).toBe('True JobsRunning');
    await slurm.slurm.drain('n1', OURS);
    remove();
    hold(false);
    slurm.beforeChange = () => void slurm.drainAs(FOREIGN, 'n1');
    await pass();
    expect(await node()).toMatchObject({ flags: ['DRAIN'], reason: FOREIGN });
  });

  it('says that it cannot see, once, and goes on when it can', async () => {
    const { request, pass, slurm, conditionOf, core, clock } = bridge();
    await slurm.killController();
    request();
    await pass();
    expect(conditionOf('DrainInProgress')).toBe('Unknown SlurmUnknown');
    expect(conditionOf('DrainComplete')).toBe('False SlurmUnknown');
    const { resourceVersion } = core.list(REQUESTS);
    await clock.advance(minutes(30));
    await pass();
    expect(core.list(REQUESTS).resourceVersion).toBe(resourceVersion);
    await slurm.startController();
    await pass();
    expect(conditionOf('DrainComplete')).toBe('True AllJobsCompleted');
  });

  it('finds its own drain after a crash between drain and status', async () => {
    const { request, pass, slurm, conditionOf } = bridge();
    await slurm.slurm.drain('n1', OURS);
    request();
    await pass();
    expect(conditionOf('DrainComplete')).toBe('True AllJobsCompleted');
    expect(slurm.changes).toHaveLength(1);
  });

  it('says what Slurm refuses, and does the others', async () => {
    const { request, pass, conditionOf } = bridge();
    request('drain-n9-e1', { nodeName: 'n9' });
    request();
    await pass();
    expect(conditionOf('DrainInProgress', 'drain-n9-e1')).toBe('Unknown NodeUnknown');
    expect(conditionOf('DrainComplete')).toBe('True AllJobsCompleted');
  });

  it('hands a drain to the next request for the node', async () => {
    const { request, pass, slurm, node, remove } = bridge();
    await slurm.submit('n1');
    request();
    await pass();
    request('drain-n1-e2');
    await pass();
    expect((await node())?.reason).toBe(OURS);
    remove(NAME);
    await pass();
    expect((await node())?.reason).toContain('op=drain-n1-e2 ');
  });
});
