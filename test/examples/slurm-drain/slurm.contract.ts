/** What the bridge relies on, of Slurm itself and of its fake: most of all that nothing protects the drain of another. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Slurm, SlurmNode, SlurmView } from '../../../examples/slurm-drain/bridge/slurm.ts';

/** A Slurm with the nodes n1, n2 and n3, without jobs and drains at first. */
export interface SlurmSubject {
  readonly slurm: Slurm;
  /** A job that runs until it is cancelled; resolves once it runs. */
  submit(node: string): Promise<number>;
  /** As `scancel`: it may take a while. */
  cancel(job: number): Promise<void>;
  /** Somebody else drains the node. */
  drainAs(reason: string, node: string): Promise<void>;
  /** `kill -9` of slurmctld. */
  killController(): Promise<void>;
  startController(): Promise<void>;
  /** Waits until `condition` holds of a fresh look; rejects after some seconds. */
  until(condition: (view: SlurmView) => boolean): Promise<SlurmView>;
  /** No jobs, no drains. */
  reset(): Promise<void>;
}

export const nodeOf = (view: SlurmView, name: string): SlurmNode | undefined =>
  view.kind === 'seen' ? view.nodes.get(name) : undefined;
const isFree = (view: SlurmView, name: string): boolean => {
  const node = nodeOf(view, name);
  return node?.state === 'idle' && !node.flags.includes('COMPLETING');
};

export function defineSlurmContract(subjectOf: () => SlurmSubject): void {
  describe('contract', () => {
    afterEach(() => subjectOf().reset());

    it('drains with a reason, and undrains', async () => {
      const { slurm, until } = subjectOf();
      expect(await slurm.drain('n1', 'curfew op=a node=k: x')).toEqual({ kind: 'done' });
      const drained = await slurm.look();
      expect(nodeOf(drained, 'n1')).toMatchObject({ state: 'idle', flags: ['DRAIN'], reason: 'curfew op=a node=k: x' });
      expect(nodeOf(drained, 'n2')).toMatchObject({ flags: [], reason: '' });
      expect(await slurm.undrain('n1')).toEqual({ kind: 'done' });
      const free = await until(view => nodeOf(view, 'n1')?.flags.length === 0);
      expect(nodeOf(free, 'n1')).toMatchObject({ state: 'idle', reason: '' });
    });

    it('says which jobs hold a node, until it is done with them', async () => {
      const { slurm, submit, cancel, until } = subjectOf();
      const id = await submit('n1');
      await slurm.drain('n1', 'r');
      const busy = await slurm.look();
      expect(busy).toMatchObject({ kind: 'seen', jobs: [{ id, state: 'RUNNING', nodes: ['n1'] }] });
      expect(nodeOf(busy, 'n1')?.state).not.toBe('idle');
      await cancel(id);
      const done = await until(view => isFree(view, 'n1'));
      expect(done).toMatchObject({ kind: 'seen', jobs: [] });
      expect(nodeOf(done, 'n1')?.flags).toContain('DRAIN');
    });

    it('lets anybody write over the drain of another', async () => {
      const { slurm, drainAs } = subjectOf();
      await drainAs('bad disk, ask Ann', 'n2');
      expect(await slurm.drain('n2', 'r')).toEqual({ kind: 'done' });
      expect(nodeOf(await slurm.look(), 'n2')?.reason).toBe('r');
    });

    it('refuses a node that it does not know', async () => {
      const { slurm } = subjectOf();
      expect(await slurm.drain('n9', 'r')).toMatchObject({
        kind: 'failed',
        because: expect.stringMatching(/node name/i),
      });
    });

    // It saves drains some seconds late: after a `kill -9` it may bring back older ones, or none.
    it('is unknown while slurmctld is dead', async () => {
      const { slurm, killController, startController, until } = subjectOf();
      await killController();
      expect((await slurm.look()).kind).toBe('unknown');
      expect((await slurm.nodes()).kind).toBe('unknown');
      expect((await slurm.drain('n2', 'r')).kind).toBe('failed');
      await startController();
      await until(view => nodeOf(view, 'n1')?.state === 'idle');
    });
  });
}
