/** The list of mistakes and of what finds each, as a document (`npm run generate` writes it, test/mutants/table.test.ts compares it). */
import type { Mutant } from './mutant.ts';

/** What finds the mistake in the gate. */
function finderOf({ seed, scenario, property }: Mutant): string {
  if (scenario !== undefined) return `\`${scenario.split('#')[1] ?? scenario}\``;
  if (property !== undefined) return `two runs: ${property}`;
  return seed === undefined ? 'nothing' : `seed ${seed}`;
}

const isGap = ({ seed, property }: Mutant): boolean => seed === undefined && property === undefined;

/** Markdown. */
export function mutantsDocument(mutants: readonly Mutant[]): string {
  const gaps = mutants.filter(isGap);
  const bySeed = mutants.filter(({ seed }) => seed !== undefined);
  const rows = (listed: readonly Mutant[]): string =>
    listed
      .map(each => `| \`${each.name}\` | ${each.mistake} | ${each.breaks.join(', ')} | ${finderOf(each)} |`)
      .join('\n');
  const head = '| mutant | a Curfew that | breaks | found by |\n|---|---|---|---|\n';
  const found = mutants.filter(each => !isGap(each));
  return `# Mistakes that are put in on purpose

**Internals.** Written by \`npm run generate\` from \`test/mutants\`. \`npm run mutants -- NAME\` puts one in and looks for it.

Of ${mutants.length} mistakes, the swarm finds ${bySeed.length} by a seed of continuous integration, and two runs of one story find ${found.length - bySeed.length}. The other ${gaps.length} are gaps of the swarm.

## Found by a seed or by two runs

${head}${rows(found)}

## Gaps: found by a scenario alone

No seed is known for these. A scenario of \`examples/scenarios\` finds each.

${head}${rows(gaps)}
`;
}
