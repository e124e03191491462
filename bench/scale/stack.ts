/** Curfew as it is deployed beside a cluster with one pool, all in processes of their own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { synthesize } from '../../cli/start/synthesize.ts';
import { startMeasuredProcess, type MeasuredProcess } from '../measure/measured-process.ts';

const CLUSTER = join(import.meta.dirname, 'cluster-process.ts');
const CURFEW = join(import.meta.dirname, 'curfew-process.ts');
/** The function is at rest when it asked nothing for so long. */
const REST_MS = 3000;
const REST_POLL_MS = 250;

const startedSchema = z.object({ url: z.string(), kubeconfig: z.string() });
export const breakSchema = z.object({
  /** For each deletion that was accepted, milliseconds after the nodes were due. */
  lateness: z.array(z.number()),
  /** The repair function's requests from then to the last deletion. */
  requests: z.number(),
  /** From the last node that was broken until they were due. */
  leftMs: z.number(),
});
export type Broken = z.infer<typeof breakSchema>;

export interface ScaleStack extends AsyncDisposable {
  /** Makes nodes, breaks them and waits until their NodeClaims are being deleted. */
  breakNodes(group: Group, giveUpMs: number): Promise<Broken>;
  make(group: Group): Promise<void>;
  clear(group: Group): Promise<void>;
  /** Until the repair function has nothing to do. */
  rest(giveUpMs: number): Promise<void>;
  problems(): Promise<readonly string[]>;
}

export interface Group {
  readonly first: number;
  readonly count: number;
  /** They are due so long after the first is broken. */
  readonly leadMs: number;
}

export async function startStack(nodes: number, tolerationSeconds: number): Promise<ScaleStack> {
  await using parts = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'curfew-bench-'));
  parts.defer(() => rmSync(folder, { recursive: true, force: true }));
  const cluster = parts.use(startMeasuredProcess(CLUSTER, { nodeFlags: ['--max-old-space-size=4096'] }));
  const { url, kubeconfig } = await cluster.ask('start', startedSchema, { nodes, tolerationSeconds });
  const kubeconfigFile = join(folder, 'kubeconfig');
  writeFileSync(kubeconfigFile, kubeconfig);
  const assemblyDir = join(folder, 'cdk.out');
  await synthesize(assemblyDir);
  const curfew = parts.use(startMeasuredProcess(CURFEW));
  parts.defer(async () => void (await curfew.ask('stop', z.unknown())));
  await curfew.ask('start', z.unknown(), { assemblyDir, url, kubeconfigFile });
  const running = parts.move();
  return {
    breakNodes: (group, giveUpMs) => cluster.ask('break', breakSchema, { ...group, giveUpMs }),
    make: async group => void (await cluster.ask('prepare', z.unknown(), group)),
    clear: async group => void (await cluster.ask('clear', z.unknown(), group)),
    rest: giveUpMs => untilAtRest(cluster, giveUpMs),
    problems: () => curfew.ask('problems', z.array(z.string())),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function untilAtRest(cluster: MeasuredProcess, giveUpMs: number): Promise<void> {
  const giveUp = performance.now() + giveUpMs;
  let seen = -1;
  let since = performance.now();
  while (performance.now() - since < REST_MS) {
    if (performance.now() > giveUp) throw new Error(`the repair function is still at work after ${giveUpMs / 1000} s`);
    const requests = await cluster.ask('requests', z.number());
    if (requests === 0 || requests !== seen) since = performance.now();
    seen = requests;
    await sleep(REST_POLL_MS);
  }
}
