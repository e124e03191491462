/** Slurm in memory, as far as `slurm.contract.ts` holds it to the real one. */
import type { Slurm, SlurmJob, SlurmNode, SlurmView } from '../../../examples/slurm-drain/bridge/slurm.ts';
import type { SlurmSubject } from './slurm.contract.ts';

export interface FakeSlurm extends SlurmSubject {
  /** Runs before the next change that the bridge makes: somebody is faster. */
  beforeChange: (() => void) | undefined;
  /** What `drain` and `undrain` were asked for. */
  readonly changes: string[];
  setState(node: string, state: string): void;
}

const DEAD = { kind: 'unknown', because: 'slurmctld is dead' } as const;

export function createFakeSlurm(): FakeSlurm {
  const nodes = new Map<string, SlurmNode>();
  const jobs = new Map<number, SlurmJob>();
  const changes: string[] = [];
  let alive = true;
  let ids = 0;
  const reset = (): void => {
    jobs.clear();
    alive = true;
    for (const name of ['n1', 'n2', 'n3'])
      nodes.set(name, { name, state: 'idle', flags: [], reason: '', reasonSetBy: '' });
  };
  reset();
  const change = (name: string, update: Partial<SlurmNode>): ReturnType<Slurm['drain']> => {
    const node = nodes.get(name);
    if (!alive) return Promise.resolve({ kind: 'failed', because: 'Unable to contact slurm controller' });
    if (node === undefined) return Promise.resolve({ kind: 'failed', because: 'Invalid node name specified' });
    nodes.set(name, { ...node, ...update });
    return Promise.resolve({ kind: 'done' });
  };
  const view = (): SlurmView =>
    alive
      ? {
          kind: 'seen',
          nodes: new Map(
            [...nodes].map(([name, node]) => {
              const isBusy = [...jobs.values()].some(job => job.nodes.includes(name));
              return [name, isBusy ? { ...node, state: 'mixed' } : node];
            }),
          ),
          jobs: [...jobs.values()],
        }
      : DEAD;
  const fake: FakeSlurm = {
    beforeChange: undefined,
    changes,
    slurm: {
      look: async () => view(),
      async nodes() {
        fake.beforeChange?.();
        fake.beforeChange = undefined;
        const seen = view();
        return seen.kind === 'seen' ? { kind: 'read', value: seen.nodes } : seen;
      },
      drain(name, reason) {
        changes.push(`drain ${name} ${reason}`);
        return change(name, { flags: ['DRAIN'], reason, reasonSetBy: 'root' });
      },
      undrain(name) {
        changes.push(`undrain ${name}`);
        return change(name, { flags: [], reason: '', reasonSetBy: '' });
      },
    },
    async submit(node) {
      jobs.set((ids += 1), { id: ids, user: 'alice', state: 'RUNNING', nodes: [node] });
      return ids;
    },
    async cancel(job) {
      jobs.delete(job);
    },
    async drainAs(reason, node) {
      await change(node, { flags: ['DRAIN'], reason, reasonSetBy: 'ann' });
    },
    async killController() {
      alive = false;
    },
    async startController() {
      alive = true;
    },
    async until(condition) {
      const seen = view();
      if (!condition(seen)) throw new Error('nothing changes by itself here');
      return seen;
    },
    async reset() {
      reset();
    },
    setState(name, state) {
      void change(name, { state });
    },
  };
  return fake;
}
