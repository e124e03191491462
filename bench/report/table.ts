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

const API_SERVERS = { embedded: 'the embedded API server', real: 'a real kube-apiserver' } as const;

/**
 * Which API server both sides of a bench used, and the limits of its latest full run on the other one: a limit holds for each of the
 * two by itself.
 */
export function formatOther(
  bench: string,
  controlPlane: boolean,
  other: { readonly measuredTime: string; readonly rows: readonly Row[] } | undefined,
): string {
  const [own, foreign] = controlPlane
    ? [API_SERVERS.real, API_SERVERS.embedded]
    : [API_SERVERS.embedded, API_SERVERS.real];
  const start = `${bench}: both sides on ${own}.`;
  if (other === undefined) return `${start} It was not measured on ${foreign}.\n`;
  const judged = other.rows
    .filter(({ limit }) => limit !== undefined)
    .map(row => `${row.name} ${formatJudged(row)} (${formatLimit(row.limit, row)}: ${isKept(row) ? 'yes' : 'NO'})`);
  return `${start} On ${foreign}, measured ${other.measuredTime.slice(0, 10)}: ${judged.join('; ')}.\n`;
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
