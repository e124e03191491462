/** A pass over a large cluster on as much of a processor as Lambda gives the repair function, against half the time of its run. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { FUNCTION_DEFINITIONS } from '../../packages/curfew-cdk/src/function-definitions.ts';
import { heapFlag } from '../../packages/local-aws/src/execution-environment.ts';
import { FUNCTION_TIMEOUT_SECONDS } from '../../shared/contract/inbox.ts';
import { bundle } from '../measure/bundle.ts';
import { makePass, PASS_PROCESS, startLargeCluster, type ClusterSize, type Pass } from '../measure/large-cluster.ts';
import { startMeasuredProcess } from '../measure/measured-process.ts';
import { measureInterleaved } from '../measure/rounds.ts';
import { MIB_PER_PROCESSOR, throttle } from '../measure/throttle.ts';
import { atMost, numberRow, ratioRow, type Row } from '../report/row.ts';

export interface ThrottledPlan {
  /** Each in a cluster of its own. */
  readonly clusters: readonly ClusterSize[];
  readonly rounds: number;
}

const { memoryMiB } = FUNCTION_DEFINITIONS.repair;
/** Of a processor. */
export const SHARE = Math.min(1, memoryMiB / MIB_PER_PROCESSOR);
const RUN_MS = FUNCTION_TIMEOUT_SECONDS * 1000;
/** The rest is for the messages beside it, and for a slower network. A pool that is the whole cluster may take all of it. */
const passMaxMs = ({ nodes, firstPool }: ClusterSize): number => (firstPool < nodes ? RUN_MS / 2 : RUN_MS);
/** The first quota is there at once. */
const SHARE_TOLERANCE = 1.1;
/** Of the loop that shows how much the throttle takes: some hundred milliseconds. */
const SPIN_TURNS = 50_000_000;

export interface ThrottledPass {
  readonly pass: Pass;
  /** Of the same loop in the same process, in turns. */
  readonly freeSpinMs: number;
  readonly throttledSpinMs: number;
  /** Processor time of the throttled loop by its time: what the throttle left of a processor. */
  readonly share: number;
}

/** For the rows: `5000 of 10000 nodes`. */
export const nameOf = ({ nodes, firstPool }: ClusterSize): string => `${firstPool} of ${nodes} nodes`;

export async function measureThrottled(
  { clusters, rounds }: ThrottledPlan,
  onRound: (done: number, of: number) => void,
): Promise<ReadonlyMap<string, readonly ThrottledPass[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'curfew-bench-'));
  try {
    const program = join(folder, 'pass.mjs');
    await bundle(PASS_PROCESS, program);
    const variants = clusters.map(size => [nameOf(size), () => measureOnce(program, size)] as const);
    return await measureInterleaved(Object.fromEntries(variants), { rounds, onRound });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureOnce(program: string, size: ClusterSize): Promise<ThrottledPass> {
  await using cluster = await startLargeCluster(size);
  // Loaded at full speed, as Lambda does it.
  await using repair = startMeasuredProcess(program, { nodeFlags: [heapFlag(memoryMiB)] });
  const spin = () => repair.ask('spin', spinSchema, { turns: SPIN_TURNS });
  await spin();
  const free = await spin();
  using _ = throttle(repair.pid ?? NaN, SHARE);
  const throttled = await spin();
  return {
    freeSpinMs: free.ms,
    throttledSpinMs: throttled.ms,
    share: throttled.cpuMs / throttled.ms,
    pass: await makePass(repair, cluster),
  };
}

const spinSchema = z.object({ ms: z.number(), cpuMs: z.number() });

export function throttledRows(
  clusters: readonly ClusterSize[],
  measured: ReadonlyMap<string, readonly ThrottledPass[]>,
): Row[] {
  const all = [...measured.values()].flat();
  return [
    ratioRow({
      name: `the same loop on ${SHARE.toFixed(2)} of a processor, which should take ${(1 / SHARE).toFixed(2)} ×`,
      unit: 'ms',
      ours: all.map(({ throttledSpinMs }) => throttledSpinMs),
      reference: all.map(({ freeSpinMs }) => freeSpinMs),
    }),
    numberRow({
      name: `of a processor it got, of ${SHARE.toFixed(2)}`,
      unit: '1',
      ours: all.map(({ share }) => share),
      limit: atMost(SHARE * SHARE_TOLERANCE),
    }),
    ...clusters.flatMap(size => {
      const passes = measured.get(nameOf(size)) ?? [];
      return [
        numberRow({
          name: `a pass over a pool of ${nameOf(size)}, on ${memoryMiB} MiB of Lambda`,
          unit: 'ms',
          ours: passes.map(({ pass }) => pass.passMs),
          limit: atMost(passMaxMs(size)),
        }),
        numberRow({
          name: `of it processor time`,
          unit: 'ms',
          ours: passes.map(({ pass: { usage, idle } }) => usage.cpuMs - idle.cpuMs),
        }),
        numberRow({ name: 'its peak RSS', unit: 'B', ours: passes.map(({ pass }) => pass.usage.peakRssBytes) }),
      ];
    }),
  ];
}
