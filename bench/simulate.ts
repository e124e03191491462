/** How fast the simulator lives a cluster's life, and how much memory a large cluster takes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import type { Bench, BenchContext, BenchOutcome } from './bench.ts';
import { askOnce } from './measure/measured-process.ts';
import { atLeast, atMost, numberRow } from './report/row.ts';
import { dayOf, type DaySize } from './simulate/day.ts';
import { measureSwarm } from './simulate/swarm.ts';

const SIMULATE_PROCESS = join(import.meta.dirname, 'simulate', 'simulate-process.ts');
const DAY_NODE_HOURS_PER_SECOND_MIN = 3000;
const NODE_HOURS_PER_SECOND_MIN = 2000;
const DAY_MS_MAX = 60_000;
const PEAK_RSS_BYTES_MAX = 1_000_000_000;
/**
 * By itself, Node lets garbage lie for as long as the machine has room, so that the peak would tell of the machine. With this limit
 * for the heap a run ends well, or it dies for want of memory. The limit makes Node collect more often, a quarter of the time, so that speed is
 * measured without it, as users run it.
 */
const MEMORY_FLAGS = ['--max-old-space-size=768'];

export const simulate: Bench = {
  summary: 'simulated node-hours a second, and memory of a large cluster',
  runsOnControlPlane: false,
  run: runSimulate,
};

interface Settings {
  /** A thousand nodes for a day: what a scenario's author waits for. */
  readonly day: DaySize & { readonly rounds: number };
  /** Ten thousand nodes. */
  readonly large: DaySize;
  /** Seeds of the swarm, from 1. */
  readonly seeds: number;
}

const FULL: Settings = { day: { nodes: 1000, hours: 24, rounds: 3 }, large: { nodes: 10_000, hours: 6 }, seeds: 400 };
const QUICK: Settings = { day: { nodes: 100, hours: 24, rounds: 1 }, large: { nodes: 500, hours: 6 }, seeds: 20 };

const runSchema = z.object({
  parseMs: z.number(),
  runMs: z.number(),
  /** Writes, events and audit lines of the run. */
  traceLines: z.number(),
  peakRssBytes: z.number(),
});
type SimulateRun = z.infer<typeof runSchema>;

async function runSimulate({ quick, progress }: BenchContext): Promise<BenchOutcome> {
  const { day, large, seeds } = quick ? QUICK : FULL;
  const folder = mkdtempSync(join(tmpdir(), 'curfew-bench-'));
  try {
    const days: SimulateRun[] = [];
    for (let round = 0; round < day.rounds; round += 1) {
      progress.say(`simulate: ${day.nodes} nodes for ${day.hours} h`, { done: round, of: day.rounds });
      days.push(await run(day, folder));
    }
    progress.say(`simulate: ${large.nodes} nodes for ${large.hours} h`);
    const largeRun = await run(large, folder);
    const bounded = await run(large, folder, MEMORY_FLAGS);
    const swarm = await measureSwarm(seeds, done =>
      progress.say('simulate: the swarm, seed by seed', { done, of: seeds }),
    );
    const speedOf = ({ nodes, hours }: DaySize, { runMs }: SimulateRun): number => (1000 * nodes * hours) / runMs;
    const [dayName, largeName] = [day, large].map(({ nodes, hours }) => `${nodes} nodes, ${hours} h`);
    return {
      settings: { day, large, seeds },
      rows: [
        numberRow({
          name: `${dayName}: node-hours a second`,
          unit: '1/s',
          ours: days.map(each => speedOf(day, each)),
          limit: atLeast(DAY_NODE_HOURS_PER_SECOND_MIN),
        }),
        numberRow({
          name: `${dayName}: all in all`,
          unit: 'ms',
          ours: days.map(({ parseMs, runMs }) => parseMs + runMs),
          limit: atMost(DAY_MS_MAX),
        }),
        numberRow({
          name: `${largeName}: node-hours a second`,
          unit: '1/s',
          ours: speedOf(large, largeRun),
          limit: atLeast(NODE_HOURS_PER_SECOND_MIN),
        }),
        numberRow({
          name: `${largeName}: peak RSS in a heap of 768 MB`,
          unit: 'B',
          ours: bounded.peakRssBytes,
          limit: atMost(PEAK_RSS_BYTES_MAX),
        }),
        numberRow({
          name: `swarm, ${seeds} seeds on ${swarm.cores} cores: node-hours a second`,
          unit: '1/s',
          ours: (1000 * swarm.nodeHours) / swarm.runMs,
          limit: atLeast(NODE_HOURS_PER_SECOND_MIN),
        }),
      ],
      samples: { day: days, large: largeRun, bounded, swarm },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** JSON is YAML: the file is read as any scenario is. */
async function run(size: DaySize, folder: string, nodeFlags: readonly string[] = []): Promise<SimulateRun> {
  const file = join(folder, 'scenario.yaml');
  writeFileSync(file, JSON.stringify(dayOf(size).scenario));
  return askOnce(SIMULATE_PROCESS, 'run', runSchema, { argument: file, nodeFlags });
}
