/**
 * The rule of the bridge. Pure: no I/O, no clock.
 *
 * A request drains its node, waits for the jobs that hold it, and is complete when Slurm says that the node is idle and takes no more. What
 * others have drained stays theirs: it is waited for, its reason is not written over, and it is never resumed. What cannot be seen is
 * unknown, and unknown is waited for.
 */
import type { DrainRequest, Progress } from './request.ts';
import { formatReason, isDraining, parseReason, type SlurmJob, type SlurmNode, type SlurmView } from './slurm.ts';

export type RequestDecision =
  /** Complete or called off. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'drain'; readonly node: SlurmNode; readonly reason: string }
  | { readonly kind: 'report'; readonly progress: Progress };

export interface RequestSituation {
  readonly request: DrainRequest;
  /** Names of all requests that are not settled. */
  readonly open: ReadonlySet<string>;
  readonly slurm: SlurmView;
  /** How our reasons begin. */
  readonly owner: string;
}

/** Changes Slurm once at most for a request: a drain of ours is known by the operation in its reason. */
export function decideRequest({ request, open, slurm, owner }: RequestSituation): RequestDecision {
  if (request.settled) return { kind: 'nothing' };
  if (slurm.kind === 'unknown') return report(unknown('SlurmUnknown', `Slurm cannot be asked: ${slurm.because}`));
  const node = findNode(request, slurm.nodes);
  if (node === undefined) {
    const names = namesOf(request).join(' or ');
    return report(unknown('NodeUnknown', `Slurm has no node ${names}: set slurmNodeName, or look at slurm.conf`));
  }
  const mine = parseReason(owner, node.reason);
  const foreign = mine === undefined && node.reason !== '' ? foreignReason(node) : undefined;
  if (!isDraining(node) && foreign === undefined) return drain(request, node, owner);
  // Ours, of a drain that is over: the reason names this one from now on.
  if (mine !== undefined && !open.has(mine.operation)) return drain(request, node, owner);

  const jobs = slurm.jobs.filter(({ nodes }) => nodes.includes(node.name));
  const shown = { slurmNodeName: node.name, jobs: jobs.length };
  if (!isDraining(node) && node.state !== 'down') {
    const message = `${node.name} has a reason without a drain, which is left alone: ${foreign ?? ''}`;
    return report({ ...shown, inProgress: 'False', complete: false, reason: 'ForeignReason', message });
  }
  const whose = foreign === undefined ? '' : `; the drain is not ours: ${foreign}`;
  if (jobs.length > 0) {
    const message = `${count(jobs.length)} ${node.name}: ${jobs.slice(0, 5).map(describe).join(', ')}${jobs.length > 5 ? ', …' : ''}${whose}`;
    return report({ ...shown, inProgress: 'True', complete: false, reason: 'JobsRunning', message });
  }
  if (node.flags.includes('COMPLETING') || (node.state !== 'idle' && node.state !== 'down')) {
    const message = `no job is left on ${node.name}, and Slurm is not done with it: ${[node.state, ...node.flags].join(' ')}${whose}`;
    return report({ ...shown, inProgress: 'True', complete: false, reason: 'NodeNotIdle', message });
  }
  const [reason, how] = node.state === 'down' ? ['NodeDown', 'is down'] : ['AllJobsCompleted', 'is drained'];
  const message = `${node.name} ${how}, and no job is left on it${whose}`;
  return report({ ...shown, inProgress: 'False', complete: true, reason, message });
}

/** A Kubernetes Node as far as it says who may use it; undefined: there is none. */
export interface ClusterNode {
  /** Cordoned, quarantined, or being drained or repaired. */
  readonly held: boolean;
}

export interface ResumeSituation {
  /** Drained by us, and its operation is none of `requests`. */
  readonly node: SlurmNode;
  readonly requests: readonly DrainRequest[];
  /** The Node that our reason names. */
  readonly clusterNode: ClusterNode | undefined;
}

/**
 * Whether a node that we drained takes jobs again: nothing asks for its drain any more, and its Kubernetes Node takes pods again. That is so
 * after a cancellation and after a repair in place; after a drain that succeeded or failed the Node is still held, and after a
 * replacement there is none of that name.
 */
export function decideResume({ node, requests, clusterNode }: ResumeSituation): 'keep' | 'resume' {
  if (requests.some(request => namesOf(request).includes(node.name))) return 'keep';
  return clusterNode === undefined || clusterNode.held ? 'keep' : 'resume';
}

/** The nodes whose drain is ours and that no request names: what `decideResume` is asked about. */
export function orphansOf(slurm: SlurmView, requests: readonly DrainRequest[], owner: string) {
  if (slurm.kind === 'unknown') return [];
  const named = new Set(requests.map(({ name }) => name));
  return [...slurm.nodes.values()].filter(isDraining).flatMap(node => {
    const mine = parseReason(owner, node.reason);
    return mine === undefined || named.has(mine.operation) ? [] : [{ node, nodeName: mine.nodeName }];
  });
}

/** What the node can be called in Slurm, the likeliest first. */
function namesOf({ nodeName, slurmNodeName }: DrainRequest): readonly string[] {
  if (slurmNodeName !== undefined) return [slurmNodeName];
  const [short = nodeName] = nodeName.split('.');
  return [...new Set([nodeName, short])];
}

function findNode(request: DrainRequest, nodes: ReadonlyMap<string, SlurmNode>): SlurmNode | undefined {
  return namesOf(request)
    .map(name => nodes.get(name))
    .find(node => node !== undefined);
}

function drain({ name, nodeName, reason }: DrainRequest, node: SlurmNode, owner: string): RequestDecision {
  return { kind: 'drain', node, reason: formatReason(owner, { operation: name, nodeName }, reason) };
}

const report = (progress: Progress): RequestDecision => ({ kind: 'report', progress });

/** The progress of a drain that cannot be seen. */
export function unknown(reason: string, message: string): Progress {
  return { slurmNodeName: undefined, jobs: undefined, inProgress: 'Unknown', complete: false, reason, message };
}

const foreignReason = ({ reason, reasonSetBy }: SlurmNode): string =>
  `"${reason}"${reasonSetBy === '' ? '' : ` (${reasonSetBy})`}`;
const count = (jobs: number): string => (jobs === 1 ? '1 job is on' : `${jobs} jobs are on`);
const describe = ({ id, user, state }: SlurmJob): string => `${id} (${user}, ${state})`;
