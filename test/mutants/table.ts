/** The list of mistakes and of what finds each, as a document: `npm run mutants -- --document` writes it. */
import { fileURLToPath } from 'node:url';
import type { Mutant } from './mutant.ts';

export const MUTANTS_DOCUMENT = fileURLToPath(new URL('../../docs/internals/mutants.md', import.meta.url));

const isGap = ({ seed, property }: Mutant): boolean => seed === undefined && property === undefined;

/** Cells that can be read. */
const inRows = (names: readonly string[], size = 20): readonly (readonly string[])[] =>
  names.length <= size ? [names] : [names.slice(0, size), ...inRows(names.slice(size), size)];

/** Markdown. */
export function mutantsDocument(mutants: readonly Mutant[]): string {
  const gaps = mutants.filter(isGap);
  const found = mutants.filter(each => !isGap(each));
  const bySeed = found.filter(({ seed }) => seed !== undefined).length;
  const rows = found.map(
    ({ name, mistake, breaks, seed, property = '' }) =>
      `| \`${name}\` | ${mistake} | ${breaks.join(', ')} | ${seed === undefined ? property : `seed ${seed}`} |`,
  );
  const lists = [...Map.groupBy(gaps, ({ breaks }) => breaks[0] ?? 'none')]
    .toSorted(([a], [b]) => Number(a.slice(1)) - Number(b.slice(1)))
    .flatMap(([broken, each]) =>
      inRows(each.map(({ name }) => `\`${name}\``)).map(names => `| ${broken} | ${names.join(', ')} |`),
    );
  return `# Mistakes that are put in on purpose

**Internals.** The command \`npm run mutants -- --document\` writes this page from \`test/mutants\`. The command \`npm run mutants -- --list\` tells what each mistake is.

The swarm finds ${bySeed} of ${mutants.length} mistakes by a seed of continuous integration. Two runs of one story find ${found.length - bySeed}. The other ${gaps.length} are gaps of the swarm.

## Found by a seed or by two runs

| mutant | a Curfew that | breaks | found by |
|---|---|---|---|
${rows.join('\n')}

## Gaps: found by a scenario alone

No seed is known for these; a scenario of \`examples/scenarios\` finds each.

| breaks first | mutants |
|---|---|
${lists.join('\n')}

## Every small change of a rule

The mistakes above are those that somebody thought of. Stryker makes others: each comparison, condition, text and list of a file is changed by itself, and some test must fail.
\`bench/results/mutation.json\` has how many of these changes the small tests of that rule notice. Scenarios and the swarm do not take part, so it is a lower bound.
Rules of grace periods, terminations, FinalizerRules, orphans and the timer: 97 % or more. The rule of drains: 90 to 100 % in \`decide.ts\` and each file behind it that is listed. Repair: 94 % or more of its decision for a pool, its guards, its ladder, its verdicts on nodes and attempts, and its reservations. Each survivor there has its reason beside it.
`;
}
