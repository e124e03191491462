/** What a node costs in clusters of 10 to 10,000 nodes: counted in the simulator, for a quiet cluster and one with churn. */
import { join } from 'node:path';
import * as z from 'zod';
import type { Bench, BenchContext, BenchOutcome } from './bench.ts';
import { COUNTED, type Counted } from './growth/tally.ts';
import { askOnce } from './measure/measured-process.ts';
import { numberRow, type Row } from './report/row.ts';

const PROCESS = join(import.meta.dirname, 'growth', 'growth-process.ts');
const NODE_FLAGS = ['--max-old-space-size=6144'];
/** Two of them publish everything again, as in eight hours of any day. */
const STRETCH = { hours: 9, from: 1 };
const A_DAY = 24 / (STRETCH.hours - STRETCH.from);
const SIZES = [10, 100, 1000, 10_000];
const QUICK_SIZES = [10, 100];

const runSchema = z.object({ tally: z.record(z.enum(COUNTED), z.number()), cpuMs: z.number() });

export const growth: Bench = {
  summary: 'what a node and day cost in clusters of 10 to 10,000 nodes, quiet and with churn',
  runsOnControlPlane: false,
  run: runGrowth,
};

async function runGrowth({ quick, progress }: BenchContext): Promise<BenchOutcome> {
  const rows: Row[] = [];
  const samples: Record<string, unknown> = {};
  for (const nodes of quick ? QUICK_SIZES : SIZES) {
    for (const churn of [false, true]) {
      const name = `${nodes} nodes, ${churn ? 'churn' : 'quiet'}`;
      progress.say(`growth: ${name}`);
      const run = await askOnce(PROCESS, 'run', runSchema, {
        argument: { nodes, churn, ...STRETCH },
        nodeFlags: NODE_FLAGS,
      });
      samples[name] = run;
      const perDay = (count: number): number => (count * A_DAY) / nodes;
      rows.push(
        ...COUNTED.map(what =>
          numberRow({
            name: `${name}: ${what} for each node and day`,
            unit: unitOf(what),
            ours: perDay(run.tally[what]),
          }),
        ),
        numberRow({
          name: `${name}: processor time of the whole simulation for each node and day`,
          unit: 'ms',
          ours: ((run.cpuMs / STRETCH.hours) * 24) / nodes,
        }),
      );
    }
  }
  return { settings: STRETCH, rows, samples };
}

const unitOf = (what: Counted): Row['ours']['unit'] => (what === 'bytes listed' ? 'B' : '1');
