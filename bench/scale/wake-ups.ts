/** From a wake-up's arrival at the repair function to the deletion of the NodeClaim that is due: a pool of some size in clusters of growing size. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../measure/bundle.ts';
import { makePass, PASS_PROCESS, startLargeCluster, type ClusterSize } from '../measure/large-cluster.ts';
import { startMeasuredProcess } from '../measure/measured-process.ts';
import { measureInterleaved, type RoundOptions } from '../measure/rounds.ts';
import { numberRow, type Row } from '../report/row.ts';
import { nameOf } from './throttled-pass.ts';

export interface WakeUpPlan extends RoundOptions {
  readonly clusters: readonly ClusterSize[];
}

/** Milliseconds of each round, by the cluster. A process answers all rounds, and has no record of the pool: nothing waits for an earlier pass. */
export async function measureWakeUps({
  clusters,
  ...rounds
}: WakeUpPlan): Promise<ReadonlyMap<string, readonly number[]>> {
  await using parts = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'curfew-bench-'));
  parts.defer(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, 'pass.mjs');
  await bundle(PASS_PROCESS, program);
  const variants: [string, () => Promise<number>][] = [];
  for (const size of clusters) {
    let cluster = parts.use(await startLargeCluster(size));
    const repair = parts.use(startMeasuredProcess(program));
    variants.push([
      nameOf(size),
      async () => {
        const { deletedMs } = await makePass(repair, cluster);
        cluster = await cluster.next();
        return deletedMs;
      },
    ]);
  }
  return await measureInterleaved(Object.fromEntries(variants), rounds);
}

export const wakeUpRows = (measured: ReadonlyMap<string, readonly number[]>): Row[] =>
  [...measured].map(([name, ours]) =>
    numberRow({ name: `wake-up to deleted, a pool of ${name}, p50`, unit: 'ms', ours }),
  );
