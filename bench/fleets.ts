/**
 * Fleets of the swarm, one after the other, each with the faults that its seed draws and once more without any, until ten million node-hours of all
 * concerns went through every invariant. What has run is kept in `.cache/bench`, so that a run goes on where the last one ended.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { availableParallelism } from 'node:os';
import * as z from 'zod';
import { drawFaults } from '../simulator/swarm/faults.ts';
import { FLEETS_FROM } from '../simulator/swarm/generate/fleets.ts';
import { formatFailing, whole } from '../simulator/swarm/report.ts';
import type { SeedTask } from '../simulator/swarm/run-task.ts';
import type { SeedReport } from '../simulator/swarm/seed.ts';
import { runTasks } from '../simulator/swarm/tasks.ts';
import { addCounts } from '../simulator/swarm/totals.ts';
import type { Bench, BenchContext, BenchOutcome } from './bench.ts';
import { readEnvironment, SAMPLES_FOLDER } from './report/results.ts';
import { atLeast, atMost, numberRow } from './report/row.ts';

const NODE_HOURS = 10_000_000;
const JOURNAL = join(SAMPLES_FOLDER, 'fleets.jsonl');

const counts = z.record(z.string(), z.number());
const entrySchema = z.object({
  seed: z.number(),
  /** Faults that were injected: `none`, `light` or `heavy`. */
  mix: z.string(),
  commit: z.string(),
  nodeHours: z.number(),
  /** Of all threads since the entry before, in seconds. */
  cpuSeconds: z.number(),
  faults: counts,
  decisions: counts,
  failure: z.exactOptional(z.string()),
});
type Entry = z.infer<typeof entrySchema>;

export const fleets: Bench = {
  summary: 'ten million node-hours of all concerns in fleets of 300 to 2,000 nodes, with every invariant',
  runsOnControlPlane: false,
  run: runFleets,
};

async function runFleets({ quick, minutes, progress }: BenchContext): Promise<BenchOutcome> {
  const entries = quick ? [] : readJournal();
  const total = (): number => nodeHoursOf(entries);
  const commit = readEnvironment().commit ?? '';
  const endTime = performance.now() + (minutes ?? Infinity) * 60_000;
  const isOver = (): boolean => performance.now() >= endTime || total() >= (quick ? 1 : NODE_HOURS);
  let cpu = process.cpuUsage();
  const keep = (report: SeedReport): 'continue' | 'stop' => {
    const used = process.cpuUsage(cpu);
    cpu = process.cpuUsage();
    const { seed, mix, nodeHours, faults, decisions, failure } = report;
    const cpuSeconds = (used.user + used.system) / 1e6;
    const failed = failure === undefined ? {} : { failure: formatFailing(report).trim() };
    entries.push({ seed, mix, commit, nodeHours, cpuSeconds, faults, decisions, ...failed });
    if (!quick) append(entries.at(-1));
    progress.say(`fleets: ${whole(total())} node-hours`);
    return isOver() ? 'stop' : 'continue';
  };
  if (!isOver()) await runTasks(tasksAfter(entries), quick ? 1 : availableParallelism(), keep);
  return outcomeOf(entries);
}

/** As many as could ever be needed: a fleet has at least 28,800 node-hours. */
function tasksAfter(entries: readonly Entry[]): readonly SeedTask[] {
  const keyOf = (seed: number, mix: string): string => `${seed} ${mix}`;
  const done = new Set(entries.map(({ seed, mix }) => keyOf(seed, mix)));
  const seeds = Array.from({ length: entries.length + 400 }, (_, index) => FLEETS_FROM + index);
  return seeds.flatMap(seed => {
    const mixes = new Set([drawFaults(seed).mix, 'none' as const]);
    return [...mixes].filter(mix => !done.has(keyOf(seed, mix))).map(mix => ({ seed, mix }));
  });
}

/** A fleet that breaks an invariant ends there: neither its hours nor its time count. */
const held = (entries: readonly Entry[]): readonly Entry[] => entries.filter(({ failure }) => failure === undefined);

const nodeHoursOf = (entries: readonly Entry[]): number =>
  held(entries).reduce((sum, { nodeHours }) => sum + nodeHours, 0);

function outcomeOf(entries: readonly Entry[]): BenchOutcome {
  const nodeHours = nodeHoursOf(entries);
  const cpuSeconds = held(entries).reduce((sum, entry) => sum + entry.cpuSeconds, 0);
  const seeds = entries.map(({ seed }) => seed).toSorted((a, b) => a - b);
  const failures = entries.flatMap(({ failure }) => failure ?? []);
  const injected = addCounts(entries.map(({ faults }) => faults));
  return {
    settings: {
      seeds: `${seeds[0] ?? 'none'}..${seeds.at(-1) ?? 'none'}`,
      commits: [...new Set(entries.map(({ commit }) => commit))],
      faults: injected,
      decisions: addCounts(entries.map(({ decisions }) => decisions)),
      failures,
    },
    rows: [
      numberRow({ name: 'node-hours', unit: '1', ours: nodeHours, limit: atLeast(NODE_HOURS) }),
      numberRow({
        name: 'node-hours without injected faults',
        unit: '1',
        ours: nodeHoursOf(entries.filter(({ mix }) => mix === 'none')),
      }),
      numberRow({ name: 'fleets', unit: '1', ours: entries.length }),
      numberRow({ name: 'fleets that broke an invariant', unit: '1', ours: failures.length, limit: atMost(0) }),
      numberRow({
        name: 'faults injected',
        unit: '1',
        ours: Object.values(injected).reduce((sum, count) => sum + count, 0),
      }),
      numberRow({ name: 'node-hours a second of processor time', unit: '1/s', ours: nodeHours / cpuSeconds }),
    ],
    samples: { entries },
  };
}

function readJournal(): Entry[] {
  if (!existsSync(JOURNAL)) return [];
  const lines = readFileSync(JOURNAL, 'utf8')
    .split('\n')
    .filter(line => line !== '');
  return lines.map(line => entrySchema.parse(JSON.parse(line)));
}

function append(entry: Entry | undefined): void {
  mkdirSync(dirname(JOURNAL), { recursive: true });
  appendFileSync(JOURNAL, `${JSON.stringify(entry)}\n`);
}
