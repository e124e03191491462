/** `npm run bench [-- NAME… --quick --control-plane --minutes N]`: runs benches one after the other, prints a table, writes `bench/results`. */
import { parseArgs } from 'node:util';
import { messageOf } from '../shared/errors.ts';
import type { Bench, BenchContext, BenchOutcome } from './bench.ts';
import { createProgress } from '../cli/progress.ts';
import { readEnvironment, readRun, writeRun } from './report/results.ts';
import { isKept } from './report/row.ts';
import { formatOther, formatTable } from './report/table.ts';

/** Each loads when it runs: no bench pays for another's imports. */
const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  init: async () => (await import('./init.ts')).init,
  simulate: async () => (await import('./simulate.ts')).simulate,
  protect: async () => (await import('./protect.ts')).protect,
  storm: async () => (await import('./storm.ts')).storm,
  memory: async () => (await import('./memory.ts')).memory,
  karpenter: async () => (await import('./karpenter.ts')).karpenter,
  scale: async () => (await import('./scale.ts')).scale,
  'scale-storm': async () => (await import('./scale.ts')).scaleStorm,
  terminate: async () => (await import('./terminate.ts')).terminate,
  growth: async () => (await import('./growth.ts')).growth,
  soak: async () => (await import('./soak.ts')).soak,
  fleets: async () => (await import('./fleets.ts')).fleets,
};
/** What runs without a name. */
const USUAL = Object.keys(BENCHES).filter(name => name !== 'soak' && name !== 'fleets');

const ALL_KEPT = 0;
const MISSED_OR_FAILED = 1;
const USAGE = 2;

async function main(): Promise<number> {
  const command = parseCommand();
  if (typeof command === 'string') return refuse(command);
  const { names, options } = command;
  const progress = createProgress(process.stderr);
  const environment = readEnvironment();
  const finished: { readonly bench: string; readonly outcome: BenchOutcome }[] = [];
  const others: string[] = [];
  const failures: string[] = [];
  for (const name of names) {
    const bench = await BENCHES[name]?.();
    if (bench === undefined || (options.controlPlane && !bench.runsOnControlPlane)) {
      return refuse(bench === undefined ? `there is no bench ${name}` : `${name} does not run on a control plane`);
    }
    const [resultName, otherName] = options.controlPlane
      ? [`${name}-control-plane`, name]
      : [name, `${name}-control-plane`];
    const measuredTime = new Date();
    try {
      progress.say(`${resultName}: ${bench.summary}`);
      const outcome = await bench.run({ ...options, progress });
      if (!options.quick) writeRun({ name: resultName, measuredTime, environment, outcome });
      finished.push({ bench: resultName, outcome });
      if (bench.runsOnControlPlane) others.push(formatOther(resultName, options.controlPlane, readRun(otherName)));
    } catch (error) {
      failures.push(
        `${resultName} failed: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}`,
      );
    } finally {
      progress.clear();
    }
  }
  const rows = finished.flatMap(({ bench, outcome }) => outcome.rows.map(row => ({ bench, row })));
  if (rows.length > 0) process.stdout.write(formatTable(rows));
  process.stdout.write(others.join(''));
  if (options.quick) process.stdout.write('Sizes were small: the limits are those of a full run.\n');
  for (const failure of failures) process.stderr.write(`${failure}\n`);
  return failures.length > 0 || rows.some(({ row }) => isKept(row) === false) ? MISSED_OR_FAILED : ALL_KEPT;
}

interface Command {
  readonly names: readonly string[];
  readonly options: Pick<BenchContext, 'quick' | 'controlPlane' | 'minutes'>;
}

/** What is wrong with the command line, as text. */
function parseCommand(): Command | string {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        'control-plane': { type: 'boolean', default: false },
        minutes: { type: 'string' },
      },
    });
    const names = positionals.length > 0 ? positionals : USUAL;
    const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
    if (minutes !== undefined && !(minutes > 0)) return '--minutes is a number above 0';
    return { names, options: { quick: values.quick, controlPlane: values['control-plane'], minutes } };
  } catch (error) {
    return messageOf(error);
  }
}

function refuse(problem: string): number {
  const names = Object.keys(BENCHES).join(', ');
  process.stderr.write(
    `${problem}\n\nnpm run bench [-- NAME… --quick --control-plane --minutes N]\nNames: ${names}; all but soak and fleets without one.\n`,
  );
  return USAGE;
}

process.exitCode = await main();
