/** A million promises: what arming one costs, what a sweep reads, how late the wake-ups are, and whether one is lost in a crash. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { synthesize } from '../cli/start/synthesize.ts';
import { minutes, seconds } from '../shared/domain/time.ts';
import type { Bench, BenchContext, BenchOutcome } from './bench.ts';
import { startMeasuredProcess } from './measure/measured-process.ts';
import { percentile, summarize } from './measure/statistics.ts';
import { whileWaiting } from './measure/while-waiting.ts';
import { atMost, numberRow, type Row } from './report/row.ts';
import { progressSchema, reportSchema, type Plan, type TimersReport } from './timers/report.ts';

const MEMORY_PROCESS = join(import.meta.dirname, 'timers', 'memory-process.ts');
const LOCAL_PATH_PROCESS = join(import.meta.dirname, 'timers', 'local-path-process.ts');
const LATENESS_MAX_MS = 2000;

export const timers: Bench = {
  summary: 'writes, sweeps and lateness with a million armed timers, a crash in between',
  runsOnControlPlane: false,
  run: runTimers,
};

/** A million over a month makes 23 due a minute; the window has more, so that its percentiles mean something. */
function plansFor(quick: boolean): { readonly memory: Plan; readonly dynamoDb: Plan } {
  if (quick) {
    return {
      memory: { armed: 20_000, due: 600, windowMs: minutes(20) },
      dynamoDb: { armed: 1_000, due: 200, windowMs: seconds(40) },
    };
  }
  return {
    memory: { armed: 1_000_000, due: 12_000, windowMs: minutes(60) },
    // Less than a million, because DynamoDB's stand-in writes some hundred items a second on a small machine.
    dynamoDb: { armed: 100_000, due: 3_000, windowMs: minutes(5) },
  };
}

async function runTimers(context: BenchContext): Promise<BenchOutcome> {
  const plans = plansFor(context.quick);
  const folder = mkdtempSync(join(tmpdir(), 'curfew-bench-'));
  try {
    const memory = await runProcess(MEMORY_PROCESS, 'memory', plans.memory, context);
    context.progress.say('timers: synthesizing the app');
    const assemblyDir = join(folder, 'cdk.out');
    await synthesize(assemblyDir);
    const dynamoDb = await runProcess(LOCAL_PATH_PROCESS, 'DynamoDB', { ...plans.dynamoDb, assemblyDir }, context);
    return {
      settings: { memory: plans.memory, dynamoDb: { ...plans.dynamoDb, implementation: dynamoDb.store } },
      rows: [...toRows('memory', plans.memory, memory), ...toRows('DynamoDB', plans.dynamoDb, dynamoDb)],
      samples: { memory: condensed(memory), dynamoDb: condensed(dynamoDb) },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runProcess(
  script: string,
  name: string,
  plan: Plan & { readonly assemblyDir?: string },
  { progress }: BenchContext,
): Promise<TimersReport> {
  await using process = startMeasuredProcess(script, { nodeFlags: ['--max-old-space-size=8192'] });
  return await whileWaiting(process.ask('run', reportSchema, plan), async () => {
    const { what, ...part } = await process.ask('progress', progressSchema);
    progress.say(`timers: ${name}: ${what}`, part);
  });
}

function toRows(name: string, { armed, due }: Plan, report: TimersReport): Row[] {
  const { quiet, busy, lateness } = report;
  const row = (what: string, rest: Omit<Parameters<typeof numberRow>[0], 'name'>): Row =>
    numberRow({ name: `${name}: ${what}`, ...rest });
  return [
    row('timers armed', { unit: '1', ours: armed }),
    row('writes each', {
      unit: '1',
      ours: report.writes / (name === 'memory' ? armed : armed - due),
      limit: atMost(1),
    }),
    row('armed per second', { unit: '1/s', ours: (1000 * armed) / report.armMs }),
    row('quiet sweep', { unit: 'ms', ours: quiet.map(sweep => sweep.durationMs) }),
    row('pages of a quiet sweep, per shard', {
      unit: '1',
      ours: Math.max(...quiet.map(sweep => sweep.pagesPerShard)),
      limit: atMost(1),
    }),
    row('busy sweep', { unit: 'ms', ours: busy.map(sweep => sweep.durationMs) }),
    row('wake-ups of a busy sweep', { unit: '1', ours: busy[0]?.wakeUps ?? 0 }),
    row('lateness p50', { unit: 'ms', ours: percentile(lateness, 50) }),
    row('lateness p99', { unit: 'ms', ours: percentile(lateness, 99), limit: atMost(LATENESS_MAX_MS) }),
    row('lateness of the last', { unit: 'ms', ours: percentile(lateness, 100) }),
    row('lost', { unit: '1', ours: report.lost, limit: atMost(0) }),
  ];
}

/** Thousands of single values say no more than these. */
function condensed({ lateness, ...rest }: TimersReport) {
  const at = [1, 10, 50, 90, 95, 99, 99.9, 100];
  return {
    ...rest,
    latenessMs: Object.fromEntries(at.map(percent => [`p${percent}`, percentile(lateness, percent)])),
    latenessCount: summarize(lateness).count,
  };
}
