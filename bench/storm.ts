/**
 * Many nodes that are to be drained at once, against a bare loop that evicts the same pods through the same API server and knows nothing
 * else; and how long one drain takes whose pods stop at once. Cluster, loop and Curfew have a process each.
 */
import { join } from 'node:path';
import * as z from 'zod';
import type { Bench, BenchContext, BenchOutcome } from './bench.ts';
import { startMeasuredProcess, type MeasuredProcess } from './measure/measured-process.ts';
import { percentile } from './measure/statistics.ts';
import { usageSchema } from './measure/usage-schema.ts';
import { atLeast, atMost, numberRow, ratioRow } from './report/row.ts';
import { accessSchema, timesSchema } from './storm/objects.ts';

const processFile = (name: string): string => join(import.meta.dirname, 'storm', `${name}-process.ts`);
/** Least share of the bare loop's rate. */
const RATE_LIMIT = 0.7;
const SINGLE_LIMIT_MS = 1000;
const GIVE_UP_MS = 600_000;

interface Plan {
  readonly nodes: number;
  readonly podsPerNode: number;
  readonly rounds: number;
  readonly singles: number;
  readonly controlPlane: boolean;
}

const FULL = { nodes: 500, podsPerNode: 15, rounds: 3, singles: 20 };
/** Fewer rounds: making a node with its pods takes a real API server a tenth of a second. */
const FULL_ON_CONTROL_PLANE = { ...FULL, rounds: 2 };
const QUICK = { nodes: 20, podsPerNode: 15, rounds: 1, singles: 5 };

export const storm: Bench = {
  summary: 'drains of many nodes at once, against a bare eviction loop, and of one node',
  runsOnControlPlane: true,
  run: runStorm,
};

interface Measured {
  /** Accepted evictions a second, from the first request to the last of them. */
  readonly rate: number;
  /** CPU time per pod, of the process that drains. */
  readonly cpuMs: number;
  readonly endsMs: readonly number[];
}

async function runStorm({ quick, controlPlane, progress }: BenchContext): Promise<BenchOutcome> {
  const plan: Plan = { ...(quick ? QUICK : controlPlane ? FULL_ON_CONTROL_PLANE : FULL), controlPlane };
  const ours: Measured[] = [];
  const reference: Measured[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    progress.say('storm: the bare loop', { done: round, of: plan.rounds });
    reference.push(await bareLoop(plan));
    progress.say('storm: drains', { done: round, of: plan.rounds });
    ours.push(await drains(plan));
  }
  progress.say('storm: single drains');
  const singles = await oneAfterTheOther(plan);
  const ends = ours.flatMap(({ endsMs }) => endsMs);
  return {
    settings: { ...plan },
    rows: [
      ratioRow({
        name: 'pods evicted a second',
        unit: '1/s',
        ours: ours.map(({ rate }) => rate),
        reference: reference.map(({ rate }) => rate),
        limit: atLeast(RATE_LIMIT),
      }),
      ratioRow({
        name: 'CPU per pod',
        unit: 'ms',
        ours: ours.map(({ cpuMs }) => cpuMs),
        reference: reference.map(({ cpuMs }) => cpuMs),
      }),
      numberRow({ name: 'end of a drain in a storm, p50', unit: 'ms', ours: percentile(ends, 50) }),
      numberRow({ name: 'end of the last drain', unit: 'ms', ours: ours.map(({ endsMs }) => Math.max(...endsMs)) }),
      numberRow({
        name: 'single drain, p50',
        unit: 'ms',
        ours: percentile(singles, 50),
        limit: atMost(SINGLE_LIMIT_MS),
      }),
    ],
    samples: { ours, reference, singles },
  };
}

interface Processes {
  readonly cluster: MeasuredProcess;
  /** Who drains. */
  readonly drainer: MeasuredProcess;
}

async function withProcesses<Answer>(
  { nodes, podsPerNode, controlPlane }: Plan,
  drainerName: string,
  measure: (processes: Processes) => Promise<Answer>,
): Promise<Answer> {
  await using cluster = startMeasuredProcess(processFile('cluster'));
  const access = await cluster.ask('start', accessSchema, { nodes, podsPerNode, controlPlane });
  await using drainer = startMeasuredProcess(processFile(drainerName), { args: [JSON.stringify(access)] });
  await drainer.ask('ready', z.unknown());
  return await measure({ cluster, drainer });
}

const bareLoop = (plan: Plan): Promise<Measured> =>
  withProcesses(plan, 'bare-loop', processes =>
    measured(processes, plan, { drained: 0, act: () => processes.drainer.ask('evict', z.unknown()) }),
  );

const drains = (plan: Plan): Promise<Measured> =>
  withProcesses(plan, 'curfew', processes =>
    measured(processes, plan, {
      drained: plan.nodes,
      act: () => processes.drainer.ask('drain', z.unknown(), { from: 0, to: plan.nodes }),
    }),
  );

async function measured(
  { cluster, drainer }: Processes,
  { nodes, podsPerNode }: Plan,
  { drained, act }: { readonly drained: number; readonly act: () => Promise<unknown> },
): Promise<Measured> {
  const pods = nodes * podsPerNode;
  const before = await drainer.ask('usage', usageSchema);
  await cluster.ask('begin', z.unknown());
  const acted = act();
  const { evictedMs, endsMs } = await cluster.ask('until', timesSchema, {
    evicted: pods,
    drained,
    withinMs: GIVE_UP_MS,
  });
  await acted;
  const after = await drainer.ask('usage', usageSchema);
  return { rate: (pods * 1000) / evictedMs, cpuMs: (after.cpuMs - before.cpuMs) / pods, endsMs };
}

/** Milliseconds of each. */
function oneAfterTheOther(plan: Plan): Promise<number[]> {
  return withProcesses({ ...plan, nodes: plan.singles }, 'curfew', async ({ cluster, drainer }) => {
    const times: number[] = [];
    for (let node = 0; node < plan.singles; node++) {
      await cluster.ask('begin', z.unknown());
      await drainer.ask('drain', z.unknown(), { from: node, to: node + 1 });
      const wanted = { evicted: plan.podsPerNode, drained: 1, withinMs: GIVE_UP_MS };
      times.push(...(await cluster.ask('until', timesSchema, wanted)).endsMs);
    }
    return times;
  });
}
