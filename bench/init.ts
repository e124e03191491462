/**
 * What a cold start costs before the first line of a function runs: module load and size of what every function loads at its start, as
 * infra synthesizes it, against a bundle of the DynamoDB client alone. Size is what Node reads and compiles before the first message;
 * what a message needs later is in the row of all files.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import type { Bench, BenchContext, BenchOutcome } from './bench.ts';
import { synthesizeBundles, type Bundle } from './init/bundles.ts';
import { measureInterleaved } from './measure/rounds.ts';
import { atMost, numberRow, ratioRow } from './report/row.ts';

const LOAD_SCRIPT = join(import.meta.dirname, 'init', 'load.mjs');
/** Every function runs each minute, so starts are rare (ADR 0036). */
const LOAD_RATIO_MAX = 4;
const START_BYTES_MAX = 1_000_000;

const loadSchema = z.object({ wallMs: z.number(), cpuMs: z.number() });
type Load = z.infer<typeof loadSchema>;

export const init: Bench = {
  summary: "module load and size of each function's bundle, against the DynamoDB client alone",
  runsOnControlPlane: false,
  run: runInit,
};

async function runInit({ quick, progress }: BenchContext): Promise<BenchOutcome> {
  const rounds = quick ? 5 : 41;
  progress.say('init: synthesizing the bundles');
  using bundles = await synthesizeBundles();
  const { functions, reference } = bundles;
  const samples = await measureInterleaved(
    Object.fromEntries([reference, ...functions].map(bundle => [bundle.name, () => load(bundle)])),
    {
      rounds,
      warmUpRounds: 2,
      onRound: (done, of) => progress.say('init: loading the bundles', { done, of }),
    },
  );
  const wallOf = ({ name }: Bundle): readonly number[] => (samples.get(name) ?? []).map(({ wallMs }) => wallMs);
  return {
    settings: { rounds, referenceBytes: reference.bytes },
    rows: functions.flatMap(bundle => [
      ratioRow({
        name: `load ${bundle.name}`,
        unit: 'ms',
        ours: wallOf(bundle),
        reference: wallOf(reference),
        limit: atMost(LOAD_RATIO_MAX),
      }),
      numberRow({
        name: `size ${bundle.name}`,
        unit: 'B',
        ours: bundle.startBytes,
        limit: atMost(START_BYTES_MAX),
      }),
      numberRow({ name: `all files ${bundle.name}`, unit: 'B', ours: bundle.bytes }),
    ]),
    samples: Object.fromEntries(samples),
  };
}

async function load({ path, env }: Bundle): Promise<Load> {
  const { stdout } = await promisify(execFile)(process.execPath, [LOAD_SCRIPT, path], {
    env: { ...process.env, ...env },
  });
  return loadSchema.parse(JSON.parse(stdout));
}
