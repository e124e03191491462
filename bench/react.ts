/**
 * From a node's condition to the accepted deletion of its NodeClaim, without a toleration: Curfew as it is deployed, on the local
 * stack, and a bare watch-and-delete loop, node by node in turn on the same API server.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { synthesize } from '../cli/start/synthesize.ts';
import type { Bench, BenchContext, BenchOutcome } from './bench.ts';
import { startMeasuredProcess, type MeasuredProcess } from './measure/measured-process.ts';
import { measureInterleaved } from './measure/rounds.ts';
import { percentile } from './measure/statistics.ts';
import type { Reactor } from './react/objects.ts';
import { atMost, numberRow, ratioRow, type Row } from './report/row.ts';

const processFile = (name: string): string => join(import.meta.dirname, 'react', `${name}-process.ts`);
const P50_RATIO_MAX = 4;
const P99_MS_MAX = 1000;
/** The first reactions of new processes are slower, until what is used often is compiled. */
const WARM_UP_ROUNDS = 20;
/** Between two samples, in which Curfew ends what it has to do with the node before. */
const PAUSE_MS = 150;

export const react: Bench = {
  summary: 'from a condition to the accepted deletion, against a bare watch-and-delete loop',
  runsOnControlPlane: true,
  run: runReact,
};

const startedSchema = z.object({ url: z.string(), kubeconfig: z.string() });
const sampleSchema = z.object({
  reactionMs: z.number(),
  /** Until the repair function's first request; known on the embedded API server alone. */
  firstLookMs: z.number().optional(),
  /** The repair function's requests until the deletion was accepted. */
  requests: z.number(),
});
type Sample = z.infer<typeof sampleSchema>;

async function runReact({ quick, controlPlane, progress }: BenchContext): Promise<BenchOutcome> {
  const rounds = quick ? 20 : 200;
  const folder = mkdtempSync(join(tmpdir(), 'curfew-bench-'));
  try {
    progress.say('react: starting the cluster');
    await using cluster = startMeasuredProcess(processFile('cluster'));
    const { url, kubeconfig } = await cluster.ask('start', startedSchema, { controlPlane });
    const kubeconfigFile = join(folder, 'kubeconfig');
    writeFileSync(kubeconfigFile, kubeconfig);
    progress.say('react: starting Curfew');
    const assemblyDir = join(folder, 'cdk.out');
    await synthesize(assemblyDir);
    await using curfew = startMeasuredProcess(processFile('curfew'));
    await using parts = new AsyncDisposableStack();
    parts.defer(async () => void (await curfew.ask('stop', z.unknown())));
    await curfew.ask('start', z.unknown(), { assemblyDir, url, kubeconfigFile });
    await using bare = startMeasuredProcess(processFile('bare-loop'), { args: [url] });
    while (!(await bare.ask('ready', z.boolean()))) await sleep(PAUSE_MS);

    const problemsOf = (): Promise<string[]> => curfew.ask('problems', z.array(z.string()));
    const cold = await sampleOf(cluster, 'curfew', 0).catch(async (error: unknown) => {
      throw new Error(`Curfew did not react: ${(await problemsOf()).join('\n')}`, { cause: error });
    });
    const samples = await measureInterleaved(
      { curfew: samplerOf(cluster, 'curfew'), bare: samplerOf(cluster, 'bare') },
      {
        rounds,
        warmUpRounds: WARM_UP_ROUNDS,
        onRound: (done, of) => progress.say('react: breaking nodes', { done, of }),
      },
    );
    const [ours = [], reference = []] = [samples.get('curfew'), samples.get('bare')];
    const problems = await problemsOf();
    return {
      settings: { rounds, controlPlane, pauseMs: PAUSE_MS },
      rows: toRows(ours, reference, cold),
      samples: { curfew: ours, bare: reference, cold, problems },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Measures with a node of its own each time. */
function samplerOf(cluster: MeasuredProcess, reactor: Reactor): () => Promise<Sample> {
  let index = 0;
  return () => {
    index += 1;
    return sampleOf(cluster, reactor, index);
  };
}

async function sampleOf(cluster: MeasuredProcess, reactor: Reactor, index: number): Promise<Sample> {
  const node = { reactor, index };
  await cluster.ask('prepare', z.unknown(), node);
  await sleep(PAUSE_MS);
  const sample = await cluster.ask('react', sampleSchema, node);
  await sleep(PAUSE_MS);
  await cluster.ask('clear', z.unknown(), node);
  return sample;
}

function toRows(ours: readonly Sample[], reference: readonly Sample[], cold: Sample): Row[] {
  const reactions = (samples: readonly Sample[]): readonly number[] => samples.map(({ reactionMs }) => reactionMs);
  const looks = ours.flatMap(({ firstLookMs }) => (firstLookMs === undefined ? [] : [firstLookMs]));
  return [
    ratioRow({
      name: 'p50',
      unit: 'ms',
      ours: reactions(ours),
      reference: reactions(reference),
      limit: atMost(P50_RATIO_MAX),
    }),
    numberRow({ name: 'p99', unit: 'ms', ours: percentile(reactions(ours), 99), limit: atMost(P99_MS_MAX) }),
    numberRow({ name: 'p99 of the bare loop', unit: 'ms', ours: percentile(reactions(reference), 99) }),
    numberRow({ name: 'the first, cold', unit: 'ms', ours: cold.reactionMs }),
    ...(looks.length === 0
      ? []
      : [
          numberRow({ name: "until the function's first look", unit: 'ms', ours: looks }),
          numberRow({ name: 'requests from there to the deletion', unit: '1', ours: ours.map(s => s.requests) }),
        ]),
  ];
}
