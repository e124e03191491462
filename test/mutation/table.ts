/** What the document of mistakes says of Stryker's. */
import { killedPercent, mutantCount, type Results, type Row } from './results.ts';
import { concernOf } from './rules.ts';

/** Sentences, with a number for each concern. */
export function mutationSummary({ files }: Results): string {
  const rows = Object.entries(files);
  const concerns = [...Map.groupBy(rows, ([file]) => concernOf(file))].map(([concern, each]) => {
    const noticed = percentOf(each.map(([, row]) => row));
    return `${noticed} % in \`${concern}\``;
  });
  const [[file, row] = ['', undefined]] = rows.toSorted(([, a], [, b]) => killedPercent(a) - killedPercent(b));
  const least = row === undefined ? '' : ` The fewest in one file: ${killedPercent(row)} % in \`${file}\`.`;
  return `They notice ${concerns.join(', ')}.${least}`;
}

function percentOf(rows: readonly Row[]): number {
  const killed = rows.reduce((sum, row) => sum + row.killed, 0);
  return Math.floor((100 * killed) / rows.reduce((sum, row) => sum + mutantCount(row), 0));
}
