/** A repair pass over a large cluster: each of the two in a process of its own. */
import { join } from 'node:path';
import * as z from 'zod';
import { startMeasuredProcess, type MeasuredProcess } from './measured-process.ts';
import { usageSchema } from './usage-schema.ts';

/** To be bundled. */
export const PASS_PROCESS = join(import.meta.dirname, 'pass-process.ts');
/** To be bundled. */
export const FORWARDER_PROCESS = join(import.meta.dirname, 'forwarder-process.ts');
const CLUSTER_PROCESS = join(import.meta.dirname, 'large-cluster-process.ts');

const clusterSchema = z.object({ url: z.string(), node: z.string() });
const passSchema = z.object({
  passMs: z.number(),
  /** From the message to the accepted deletion of the NodeClaim. */
  deletedMs: z.number(),
  decisions: z.array(z.string()),
  idle: usageSchema,
  usage: usageSchema,
});
export type Pass = z.infer<typeof passSchema>;

export interface ClusterSize {
  readonly nodes: number;
  readonly nodeBytes: number;
  /** Nodes of the pool that is looked at. */
  readonly firstPool: number;
  /** Pods, spread over the nodes; absent: none. */
  readonly pods?: number;
}

export interface LargeCluster extends AsyncDisposable {
  readonly url: string;
  /** The one that is to be repaired. */
  readonly node: string;
  /** Takes it away with its NodeClaim, and makes the next one ill. Answers the cluster with that one to be repaired. */
  next(): Promise<LargeCluster>;
}

export async function startLargeCluster(size: ClusterSize): Promise<LargeCluster> {
  await using parts = new AsyncDisposableStack();
  const cluster = parts.use(startMeasuredProcess(CLUSTER_PROCESS, { nodeFlags: ['--max-old-space-size=4096'] }));
  const started = await cluster.ask('start', clusterSchema, size);
  const running = parts.move();
  const of = ({ url, node }: z.infer<typeof clusterSchema>): LargeCluster => ({
    url,
    node,
    next: async () => of(await cluster.ask('next', clusterSchema)),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  });
  return of(started);
}

const followedSchema = z.object({ ms: z.number(), idle: usageSchema, usage: usageSchema });
export type Followed = z.infer<typeof followedSchema>;

/** Has the forwarder list and watch the cluster until all is published. */
export const followCluster = (forwarder: MeasuredProcess, { url }: LargeCluster, busUrl: string): Promise<Followed> =>
  forwarder.ask('follow', followedSchema, { url, busUrl });

/** @param whole lists of whole objects. Throws when the pass does not repair the node. */
export async function makePass(repair: MeasuredProcess, { url, node }: LargeCluster, whole = false): Promise<Pass> {
  const pass = await repair.ask('pass', passSchema, { url, node, whole });
  if (!pass.decisions.includes('repair')) {
    throw new Error(`the pass decides ${pass.decisions.join(', ') || 'nothing'}, and repairs nothing`);
  }
  return pass;
}
