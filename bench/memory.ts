/** How much memory one repair pass over a large cluster takes, in a fresh process, against an API server over HTTP. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, BenchContext, BenchOutcome } from './bench.ts';
import { bundle } from './measure/bundle.ts';
import { makePass, PASS_PROCESS, startLargeCluster, type Pass } from './measure/large-cluster.ts';
import { startMeasuredProcess } from './measure/measured-process.ts';
import { atMost, numberRow } from './report/row.ts';

const PEAK_RSS_BYTES_MAX = 256 * 1024 ** 2;
/**
 * By itself, Node lets garbage lie for as long as the machine has room, so that the peak would tell of the machine. With this limit for
 * the heap a pass ends well, or it dies for want of memory. Lists of whole objects do not fit into it, so they get more.
 */
const NODE_FLAGS = ['--max-old-space-size=192', '--max-semi-space-size=8'];
const ROOMY_FLAGS = ['--max-old-space-size=2048', '--max-semi-space-size=8'];

export const memory: Bench = {
  summary: 'memory of a repair pass over a large cluster',
  runsOnControlPlane: false,
  run: runMemory,
};

async function runMemory({ quick, progress }: BenchContext): Promise<BenchOutcome> {
  const size = { nodes: quick ? 500 : 10_000, nodeBytes: 20_000 };
  const rounds = quick ? 1 : 3;
  const folder = mkdtempSync(join(tmpdir(), 'curfew-bench-'));
  try {
    const program = join(folder, 'pass.mjs');
    await bundle(PASS_PROCESS, program);
    const measure = async (round: number, whole: boolean): Promise<Pass> => {
      progress.say(`memory: ${size.nodes} nodes`, { done: round, of: rounds + 1 });
      await using cluster = await startLargeCluster({ ...size, firstPool: size.nodes / 20 });
      await using repair = startMeasuredProcess(program, { nodeFlags: whole ? ROOMY_FLAGS : NODE_FLAGS });
      return await makePass(repair, cluster, whole);
    };
    const passes: Pass[] = [];
    for (let round = 0; round < rounds; round += 1) passes.push(await measure(round, false));
    const whole = await measure(rounds, true);
    const what = `pass over ${size.nodes} nodes of ${size.nodeBytes / 1000} kB`;
    return {
      settings: { ...size, rounds, nodeFlags: NODE_FLAGS },
      rows: [
        numberRow({
          name: `${what}: peak RSS`,
          unit: 'B',
          ours: passes.map(({ usage }) => usage.peakRssBytes),
          limit: atMost(PEAK_RSS_BYTES_MAX),
        }),
        numberRow({ name: 'of it before the pass', unit: 'B', ours: passes.map(({ idle }) => idle.rssBytes) }),
        numberRow({ name: `${what}: time`, unit: 'ms', ours: passes.map(({ passMs }) => passMs) }),
        numberRow({ name: `${what}, lists of whole objects: peak RSS`, unit: 'B', ours: whole.usage.peakRssBytes }),
      ],
      samples: { passes, whole },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
