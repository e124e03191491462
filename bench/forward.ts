/**
 * What it costs to watch a large cluster: the forwarder as it is deployed, and `@kubernetes/client-node`'s informers, one after the
 * other on the same API server under the same writes.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { Bench, BenchContext, BenchOutcome } from './bench.ts';
import type { Published } from './forward/published.ts';
import { measureResync } from './forward/resync.ts';
import { buildPrograms, type Watcher } from './forward/watchers.ts';
import type { ClusterSize } from './forward/workload.ts';
import { startMeasuredProcess, type MeasuredProcess } from './measure/measured-process.ts';
import { measureInterleaved } from './measure/rounds.ts';
import { percentile } from './measure/statistics.ts';
import { usageSchema } from './measure/usage-schema.ts';
import { whileWaiting } from './measure/while-waiting.ts';
import { atMost, numberRow, ratioRow, type Row } from './report/row.ts';

const CLUSTER_PROCESS = join(import.meta.dirname, 'forward', 'cluster-process.ts');
const WORK_FOLDER = join(import.meta.dirname, '..', '.cache', 'bench');
const RSS_RATIO_MAX = 1 / 5;
const CPU_RATIO_MAX = 1 / 2;

export const forward: Bench = {
  summary: 'CPU, memory and events of watching a large cluster, against informers that keep whole objects',
  runsOnControlPlane: true,
  run: runForward,
};

interface Settings extends ClusterSize {
  readonly rounds: number;
  /** Five minutes of writes in a `compression`th of the time: the same writes, closer together. */
  readonly compression: number;
}

function settingsFor({ quick, controlPlane }: BenchContext): Settings {
  if (quick) return { nodes: 200, pods: 2_000, rounds: 1, compression: 60 };
  // etcd on a small machine writes some hundred objects a second.
  if (controlPlane) return { nodes: 1_000, pods: 10_000, rounds: 3, compression: 10 };
  return { nodes: 10_000, pods: 100_000, rounds: 3, compression: 10 };
}

/** What one program used in one round. */
interface Sample {
  readonly watchEvents: number;
  readonly cpuPerEventUs: number;
  /** Median while the writes went on. */
  readonly rssBytes: number;
  readonly peakRssBytes: number;
  readonly listCpuMs: number;
  readonly published: Published & {
    /** Changes without an event, neither of their own nor a later one of the object. */
    readonly missing: number;
  };
}

const startedSchema = z.object({
  kubeconfig: z.union([z.object({ text: z.string() }), z.object({ path: z.string() })]),
  busUrl: z.string(),
  nodeBytes: z.number(),
  podBytes: z.number(),
});
const playedSchema = z.object({ writes: z.number(), durationMs: z.number() });
const publishedSchema: z.ZodType<Published> = z.object({
  total: z.number(),
  changes: z.number(),
  forHeartbeats: z.number(),
  surplus: z.number(),
});

async function runForward(context: BenchContext): Promise<BenchOutcome> {
  const { progress, controlPlane } = context;
  const { rounds, compression, ...size } = settingsFor(context);
  mkdirSync(WORK_FOLDER, { recursive: true });
  const folder = mkdtempSync(join(WORK_FOLDER, 'forward-'));
  try {
    await using cluster = startMeasuredProcess(CLUSTER_PROCESS, { nodeFlags: ['--max-old-space-size=8192'] });
    const starting = cluster.ask('start', startedSchema, { ...size, controlPlane });
    const done = await whileWaiting(starting, async () => {
      const made = await cluster.ask('progress', z.number());
      progress.say('forward: filling the cluster', { done: made, of: size.nodes + size.pods });
    });
    const { kubeconfig: config, busUrl, nodeBytes, podBytes } = done;
    const kubeconfig = 'path' in config ? config.path : join(folder, 'kubeconfig');
    if ('text' in config) writeFileSync(kubeconfig, config.text);

    const programs = await buildPrograms(folder);
    let run = 0;
    const writes: number[] = [];
    const measure = (name: keyof typeof programs) => async (): Promise<Sample> => {
      run += 1;
      const watcher = await programs[name]({ kubeconfig, busUrl });
      await using _ = watcher.process;
      const { sample, played } = await measureWatcher(watcher, cluster, { ...size, run, compression }, (what, part) =>
        progress.say(`forward: ${name}: ${what}`, part),
      );
      writes.push(played.writes);
      return sample;
    };
    const samples = await measureInterleaved({ curfew: measure('curfew'), informer: measure('informer') }, { rounds });
    const [ours = [], reference = []] = [samples.get('curfew'), samples.get('informer')];
    return {
      settings: { ...size, rounds, compression, nodeBytes, podBytes, writesPerRound: writes[0] },
      rows: [...toRows(ours, reference), ...(await resyncRows(context))],
      samples: { curfew: ours, informer: reference },
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Say = (what: string, part?: { done: number; of: number }) => void;

async function measureWatcher(
  watcher: Watcher,
  cluster: MeasuredProcess,
  play: ClusterSize & { run: number; compression: number },
  say: Say,
): Promise<{ sample: Sample; played: z.infer<typeof playedSchema> }> {
  const { process } = watcher;
  const seen = (): Promise<number> => watcher.seen();
  const objects = play.nodes + play.pods;
  const listed = await untilQuiet(seen, objects, count => say('listing', { done: count, of: objects }));
  const before = await process.ask('usage', usageSchema);
  const coalescedBefore = await watcher.coalesced();

  const rss: number[] = [];
  const played = await whileWaiting(cluster.ask('play', playedSchema, play), async () => {
    rss.push((await process.ask('usage', usageSchema)).rssBytes);
    say('watching', { done: await cluster.ask('progress', z.number()), of: objects });
  });
  const total = await untilQuiet(seen, listed + played.writes, () => say('reading to the end'));
  const after = await process.ask('usage', usageSchema);

  const watchEvents = total - listed;
  const { compression: _, ...of } = play;
  const published = await cluster.ask('published', publishedSchema, of);
  const coalesced = (await watcher.coalesced()) - coalescedBefore;
  return {
    played,
    sample: {
      watchEvents,
      cpuPerEventUs: (1000 * (after.cpuMs - before.cpuMs)) / watchEvents,
      rssBytes: percentile(rss, 50),
      peakRssBytes: after.peakRssBytes,
      listCpuMs: before.cpuMs,
      published: { ...published, missing: published.changes - published.total - coalesced },
    },
  };
}

function toRows(ours: readonly Sample[], reference: readonly Sample[]): Row[] {
  const both = (pick: (sample: Sample) => number) => ({ ours: ours.map(pick), reference: reference.map(pick) });
  const published = ours.map(sample => sample.published);
  const counted = (name: string, pick: (published: Sample['published']) => number): Row =>
    numberRow({ name, unit: '1', ours: published.map(pick), limit: atMost(0) });
  return [
    ratioRow({ name: 'CPU per watch event', unit: 'µs', ...both(s => s.cpuPerEventUs), limit: atMost(CPU_RATIO_MAX) }),
    ratioRow({ name: 'RSS', unit: 'B', ...both(s => s.rssBytes), limit: atMost(RSS_RATIO_MAX) }),
    ratioRow({ name: 'peak RSS', unit: 'B', ...both(s => s.peakRssBytes) }),
    ratioRow({ name: 'CPU of start and list', unit: 'ms', ...both(s => s.listCpuMs) }),
    counted('events for heartbeats', p => p.forHeartbeats),
    numberRow({
      name: 'events per change',
      unit: '1',
      ours: published.map(({ total, changes }) => total / changes),
      limit: atMost(1),
    }),
    counted('events beyond one per change', p => p.surplus),
    counted('changes without an event', p => p.missing),
  ];
}

/** Objects of the cluster whose resync is counted, and the events an hour that it may cost: a quarter of them, in four hours. */
const RESYNC_OBJECTS = 10_000;
const RESYNC_PER_HOUR_MAX = RESYNC_OBJECTS / 4;

async function resyncRows({ quick }: BenchContext): Promise<Row[]> {
  const objects = quick ? RESYNC_OBJECTS / 10 : RESYNC_OBJECTS;
  const { perHour } = await measureResync(objects);
  const ours = perHour.map(count => (count * RESYNC_OBJECTS) / objects);
  const name = 'events an hour from resync, 10,000 objects';
  return [numberRow({ name, unit: '1', ours, limit: atMost(RESYNC_PER_HOUR_MAX) })];
}

const POLL_MS = 500;
/** So long without another event, and there are no more. */
const QUIET_POLLS = 6;
const QUIET_WITHIN_MS = 10 * 60_000;

/** Resolves to the count once it has reached `atLeast` and stands still. Rejects when that takes too long. */
async function untilQuiet(
  count: () => Promise<number>,
  atLeast: number,
  onPoll: (count: number) => void,
): Promise<number> {
  let last = -1;
  let unchanged = 0;
  for (let waited = 0; waited < QUIET_WITHIN_MS; waited += POLL_MS) {
    const now = await count();
    onPoll(now);
    unchanged = now === last ? unchanged + 1 : 0;
    last = now;
    if (now >= atLeast && unchanged >= QUIET_POLLS) return now;
    await sleep(POLL_MS);
  }
  throw new Error(`only ${last} of ${atLeast} objects and events were seen within ${QUIET_WITHIN_MS / 60_000} minutes`);
}
