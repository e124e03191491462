/**
 * `npm run mutation [-- FILE…]`: makes Stryker's small changes in the files that hold a rule, or in the named ones, and lists those that no small test notices.
 * It keeps the numbers in bench/results/mutation.json; what no test could notice stands in `equivalents.json`. Scenarios and the swarm do not take part.
 * Exit code 0: at least nine of ten are noticed in each file. 1: not so. 2: a file holds no rule.
 */
import { messageOf } from '../../shared/errors.ts';
import { equivalentsOf } from './equivalents.ts';
import { instrument } from './instrument.ts';
import { fateOf, type Mutant, type Outcome } from './mutant.ts';
import { keepResults, killedPercent, mutantCount, type Row } from './results.ts';
import { concernOf, ruleFiles, testsOf } from './rules.ts';
import { runTests } from './run.ts';

const ENOUGH_PERCENT = 90;
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

async function measure(concern: string, paths: readonly string[]): Promise<Readonly<Record<string, Row>>> {
  const { sources, mutants } = await instrument(paths);
  const outcome = await runTests({ tests: testsOf(concern), sources });
  const reasons = equivalentsOf(concern);
  const rows: Record<string, Row> = {};
  for (const file of paths) {
    const own = mutants.filter(mutant => mutant.file === file);
    const row = rowOf(own, outcome, reasons);
    rows[file] = row;
    say(`${file}: ${killedPercent(row)} % of ${mutantCount(row)}`);
    for (const { id, line, change } of own) {
      const fate = fateOf(id, outcome);
      if (fate === 'notCovered') say(`  not reached  ${file}:${line}  ${change}`);
      if (fate === 'survived' && !reasons.has(change)) say(`  survived  ${file}:${line}  ${change}`);
    }
  }
  sayStale(reasons, paths, mutants, outcome);
  say(`${concern}: ${outcome.leftOut.length} tests left out, as too slow or good for one run only`);
  return rows;
}

function rowOf(mutants: readonly Mutant[], outcome: Outcome, reasons: ReadonlyMap<string, string>): Row {
  const fates = Map.groupBy(mutants, ({ id }) => fateOf(id, outcome));
  const survivors = Map.groupBy(fates.get('survived') ?? [], ({ change }) => reasons.get(change));
  const equivalent = [...survivors].flatMap(([reason, each]) => (reason === undefined ? [] : [[reason, each.length]]));
  return {
    measured: new Date().toISOString().slice(0, 10),
    killed: fates.get('killed')?.length ?? 0,
    survived: survivors.get(undefined)?.length ?? 0,
    notCovered: fates.get('notCovered')?.length ?? 0,
    equivalent: Object.fromEntries(equivalent),
  };
}

/** A reason for a change that is no longer possible, or that a test notices, is one too many: known only where all files of the concern took part. */
function sayStale(
  reasons: ReadonlyMap<string, string>,
  paths: readonly string[],
  mutants: readonly Mutant[],
  outcome: Outcome,
): void {
  const [path = ''] = paths;
  if (!ruleFiles().every(file => concernOf(file) !== concernOf(path) || paths.includes(file))) return;
  const left = new Set(mutants.filter(({ id }) => fateOf(id, outcome) === 'survived').map(({ change }) => change));
  for (const change of reasons.keys()) if (!left.has(change)) say(`  needs no reason any more: ${change}`);
}

async function run(named: readonly string[]): Promise<number> {
  const all = ruleFiles();
  const unknown = named.find(file => !all.includes(file));
  if (unknown !== undefined) {
    process.stderr.write(`${unknown} holds no rule\n`);
    return 2;
  }
  let isEnough = true;
  for (const [concern, paths] of Map.groupBy(named.length === 0 ? all : named, concernOf)) {
    const rows = await measure(concern, paths);
    keepResults(rows);
    isEnough &&= Object.values(rows).every(row => killedPercent(row) >= ENOUGH_PERCENT);
  }
  return isEnough ? 0 : 1;
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 2;
}
