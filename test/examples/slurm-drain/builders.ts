import type { DrainRequest } from '../../../examples/slurm-drain/bridge/request.ts';
import type { SlurmJob, SlurmNode, SlurmView } from '../../../examples/slurm-drain/bridge/slurm.ts';

export const OWNER = 'curfew';
export const OURS = 'curfew op=drain-n1-e1 node=n1: GPU fell off the bus';
export const FOREIGN = 'bad disk, ask Ann';

export const aNode = (change: Partial<SlurmNode> = {}): SlurmNode => ({
  name: 'n1',
  state: 'idle',
  flags: [],
  reason: '',
  reasonSetBy: '',
  ...change,
});
export const aJob = (change: Partial<SlurmJob> = {}): SlurmJob => ({
  id: 7,
  user: 'alice',
  state: 'RUNNING',
  nodes: ['n1'],
  ...change,
});
export const aRequest = (change: Partial<DrainRequest> = {}): DrainRequest => ({
  name: 'drain-n1-e1',
  nodeName: 'n1',
  slurmNodeName: undefined,
  reason: 'GPU fell off the bus',
  settled: false,
  ...change,
});
export const seen = (nodes: readonly SlurmNode[], jobs: readonly SlurmJob[] = []): SlurmView => ({
  kind: 'seen',
  nodes: new Map(nodes.map(node => [node.name, node])),
  jobs,
});
