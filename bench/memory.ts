/** Memory of one repair pass over a large cluster, and of the forwarder of one: each in a fresh process, against an API server over HTTP. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, BenchContext, BenchOutcome } from './bench.ts';
import { bundle } from './measure/bundle.ts';
import { startAcceptingBus } from './measure/accepting-bus.ts';
import {
  followCluster,
  type Followed,
  FORWARDER_PROCESS,
  makePass,
  PASS_PROCESS,
  startLargeCluster,
  type ClusterSize,
  type Pass,
} from './measure/large-cluster.ts';
import { startMeasuredProcess } from './measure/measured-process.ts';
import { atMost, numberRow } from './report/row.ts';

const PEAK_RSS_BYTES_MAX = 256 * 1024 ** 2;
/**
 * By itself, Node lets garbage lie for as long as the machine has room, so that the peak would tell of the machine. With this limit for
 * the heap a pass ends well, or it dies for want of memory. Lists of whole objects do not fit into it, so they get more.
 */
const NODE_FLAGS = ['--max-old-space-size=192', '--max-semi-space-size=8'];
/** As in the forwarder's image and Deployment. */
const FORWARDER_FLAGS = ['--max-semi-space-size=4', '--max-old-space-size=192'];
const FORWARDER_ENV = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };
const FORWARDER_RSS_BYTES_MAX = 160e6;
const PODS_PER_NODE = 10;
const ROOMY_FLAGS = ['--max-old-space-size=2048', '--max-semi-space-size=8'];

export const memory: Bench = {
  summary: 'memory of a repair pass over a large cluster, and of its forwarder',
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
    progress.say('memory: forwarder');
    const withPods = { ...size, firstPool: size.nodes / 20, pods: size.nodes * PODS_PER_NODE };
    const forwarder = join(folder, 'forwarder.mjs');
    await bundle(FORWARDER_PROCESS, forwarder);
    const followed: Followed[] = [];
    for (let round = 0; round < rounds; round += 1) followed.push(await measureForwarder(forwarder, withPods));
    const cluster = `forwarder with ${size.nodes} nodes and ${withPods.pods} pods`;
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
        numberRow({
          name: `${cluster}: peak RSS`,
          unit: 'B',
          ours: followed.map(({ usage }) => usage.peakRssBytes),
          limit: atMost(FORWARDER_RSS_BYTES_MAX),
        }),
        numberRow({ name: 'of it before its start', unit: 'B', ours: followed.map(({ idle }) => idle.rssBytes) }),
        numberRow({ name: `${cluster}: until all is published`, unit: 'ms', ours: followed.map(({ ms }) => ms) }),
      ],
      samples: { passes, whole, followed },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts the forwarder beside a large cluster, until it has published all that it has seen. */
async function measureForwarder(program: string, size: ClusterSize): Promise<Followed> {
  await using cluster = await startLargeCluster(size);
  await using bus = await startAcceptingBus();
  await using forwarder = startMeasuredProcess(program, { nodeFlags: FORWARDER_FLAGS, env: FORWARDER_ENV });
  const followed = await followCluster(forwarder, cluster, bus.url);
  if (bus.accepted() === 0) throw new Error('the forwarder has published nothing');
  return followed;
}
