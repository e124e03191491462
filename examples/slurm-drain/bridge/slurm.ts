/** Slurm as the bridge sees it. Reading never throws: what cannot be read is unknown, and unknown is never "no jobs". */

export interface SlurmNode {
  readonly name: string;
  /** Base state in lower case: `idle`, `mixed`, `allocated`, `down`, `unknown`, … */
  readonly state: string;
  /** `DRAIN`, `COMPLETING`, `NOT_RESPONDING`, … */
  readonly flags: readonly string[];
  /** Why it is drained or down; empty where nobody said. */
  readonly reason: string;
  readonly reasonSetBy: string;
}

/** A job that holds nodes: it runs, is suspended, or is still being ended. */
export interface SlurmJob {
  readonly id: number;
  readonly user: string;
  /** `RUNNING`, `COMPLETING`, `SUSPENDED`, … */
  readonly state: string;
  readonly nodes: readonly string[];
}

export type SlurmView =
  | { readonly kind: 'seen'; readonly nodes: ReadonlyMap<string, SlurmNode>; readonly jobs: readonly SlurmJob[] }
  | { readonly kind: 'unknown'; readonly because: string };

/** The answer to one question. */
export type Read<T> =
  { readonly kind: 'read'; readonly value: T } | { readonly kind: 'unknown'; readonly because: string };

export type Change = { readonly kind: 'done' } | { readonly kind: 'failed'; readonly because: string };

export interface Slurm {
  /** Nodes first, then jobs: a node that was drained and idle when it was read gets no job afterwards. */
  look(): Promise<SlurmView>;
  /** The nodes alone: a long list of jobs is not read for it. */
  nodes(): Promise<Read<ReadonlyMap<string, SlurmNode>>>;
  /** Takes no new jobs; `reason` replaces the one that is there. */
  drain(node: string, reason: string): Promise<Change>;
  /** Takes jobs again, unless it is down. */
  undrain(node: string): Promise<Change>;
}

/** Whose drain it is. All that the bridge remembers stands in the node's reason, so that it needs no store of its own. */
export interface Ownership {
  /** Name of the request. */
  readonly operation: string;
  /** Name of the Kubernetes Node. */
  readonly nodeName: string;
}

const MAX_TEXT_LENGTH = 200;

/** The reason of our drains: `curfew op=drain-n1-e1 node=n1: GPU fell off the bus`. Slurm takes any text, control characters included. */
export function formatReason(owner: string, { operation, nodeName }: Ownership, text: string): string {
  const said = text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  const shown = said.slice(0, MAX_TEXT_LENGTH).toWellFormed();
  return `${owner} op=${operation} node=${nodeName}: ${shown === '' ? 'drain requested' : shown}`;
}

/** Undefined: the reason is somebody else's, or there is none. */
export function parseReason(owner: string, reason: string): Ownership | undefined {
  const [, operation, nodeName] = /^op=(\S+) node=(\S+?): /.exec(stripOwner(owner, reason) ?? '') ?? [];
  return operation === undefined || nodeName === undefined ? undefined : { operation, nodeName };
}

const stripOwner = (owner: string, reason: string): string | undefined =>
  reason.startsWith(`${owner} `) ? reason.slice(owner.length + 1) : undefined;

export const isDraining = ({ flags }: SlurmNode): boolean => flags.includes('DRAIN');
