/** Rows as text in columns. */
import { formatJudged, formatLimit, formatQuantity } from './format.ts';
import { isKept, type Row } from './row.ts';

const HEADINGS = ['bench', 'ours', 'reference', 'ratio/number', 'limit', 'ok?'] as const;

/** The whole table, a line per row, with the name of its bench in front; ends with a line break. */
export function formatTable(rows: readonly { readonly bench: string; readonly row: Row }[]): string {
  const lines = [HEADINGS, ...rows.map(({ bench, row }) => cellsOf(bench, row))];
  const widths = HEADINGS.map((_heading, column) => Math.max(...lines.map(cells => cells[column]?.length ?? 0)));
  const text = lines.map(cells =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  text.splice(1, 0, widths.map(width => '─'.repeat(width)).join('  '));
  return `${text.join('\n')}\n`;
}

function cellsOf(bench: string, row: Row): readonly string[] {
  const kept = isKept(row);
  return [
    `${bench} ${row.name}`,
    formatQuantity(row.ours),
    row.reference === undefined ? '' : formatQuantity(row.reference),
    formatJudged(row),
    formatLimit(row.limit, row),
    kept === undefined ? '' : kept ? 'yes' : 'NO',
  ];
}
