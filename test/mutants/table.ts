/** The list of mistakes and of what finds each, as a document: `npm run mutants -- --document` writes it. */
import { fileURLToPath } from 'node:url';
import { readResults } from '../mutation/results.ts';
import { mutationSummary } from '../mutation/table.ts';
import type { Mutant } from './mutant.ts';

export const MUTANTS_DOCUMENT = fileURLToPath(new URL('../../docs/internals/mutants.md', import.meta.url));

const isGap = ({ seed, property }: Mutant): boolean => seed === undefined && property === undefined;

/** Cells that can be read. */
const inRows = (names: readonly string[], size = 25): readonly (readonly string[])[] =>
  names.length <= size ? [names] : [names.slice(0, size), ...inRows(names.slice(size), size)];

/** Markdown. */
export function mutantsDocument(mutants: readonly Mutant[]): string {
  const gaps = mutants.filter(isGap);
  const bySeed = mutants.filter(({ seed }) => seed !== undefined);
  const rows = bySeed.map(
    ({ name, mistake, breaks, seed }) => `| \`${name}\` | ${mistake} | ${breaks.join(', ')} | seed ${seed} |`,
  );
  const byTwoRuns = mutants.filter(each => !isGap(each) && each.seed === undefined);
  const pairs = byTwoRuns.map(({ name, property = '' }) => `\`${name}\` (${property})`);
  const lists = [...Map.groupBy(gaps, ({ breaks }) => breaks[0] ?? 'none')]
    .toSorted(([a], [b]) => Number(a.slice(1)) - Number(b.slice(1)))
    .flatMap(([broken, each]) =>
      inRows(each.map(({ name }) => `\`${name}\``)).map(names => `| ${broken} | ${names.join(', ')} |`),
    );
  return `# Mistakes that are put in on purpose

**Internals.** The command \`npm run mutants -- --document\` writes this page from \`test/mutants\`. The command \`npm run mutants -- --list\` tells what each mistake is.

The swarm finds ${bySeed.length} of ${mutants.length} mistakes by a seed of continuous integration. Two runs of one story find ${byTwoRuns.length}. The other ${gaps.length} are gaps of the swarm.

## Found by a seed

| mutant | a Curfew that | breaks | found by |
|---|---|---|---|
${rows.join('\n')}

## Found by two runs alone

| mutants, each with the property of two runs that it does not have |
|---|
| ${pairs.join(', ')} |

## Gaps: found by a scenario alone

No seed is known for these; a scenario of \`examples/scenarios\` finds each.

| breaks first | mutants |
|---|---|
${lists.join('\n')}

## Every small change of a rule

The mistakes above are those that somebody thought of. Stryker makes others: each comparison, condition, text and list of a file is changed by itself, and some test must fail.
The command \`npm run mutation -- FILE…\` does that in the files that hold a rule, and lists what no small test of their concern notices. Run \`npm run mutation:install\` before it.
Scenarios and the swarm do not take part. \`bench/results/mutation.json\` has the numbers of each file, and \`test/mutation/equivalents.json\` what no input tells from the original, and why.
${mutationSummary(readResults())}
`;
}
