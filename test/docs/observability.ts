/** The tables of `docs/observability.md`. */
import { DOCUMENTS, type Document } from './documents.ts';

export function documentOf(file: string): Document {
  const document = DOCUMENTS.find(each => each.file === file);
  if (document === undefined) throw new Error(`there is no ${file}`);
  return document;
}

/** The rows of the tables under a heading, without their heads, as cells. */
export function rowsOf({ text }: Document, heading: string): readonly (readonly string[])[] {
  const section = text.split(/^## /m).find(each => each.startsWith(`${heading}\n`)) ?? '';
  const lines = section.split('\n').filter(line => line.startsWith('|'));
  const rows = lines.map(line =>
    line
      .slice(1, -1)
      .split('|')
      .map(cell => cell.trim()),
  );
  return rows.slice(rows.findIndex(([first = '']) => /^-+$/.test(first)) + 1);
}

export interface AuditRow {
  readonly function: string;
  readonly decision: string;
  readonly reasons: readonly string[];
  /** Other reasons occur as well. */
  readonly isOpen: boolean;
}

export function auditReference(): readonly AuditRow[] {
  return rowsOf(documentOf('docs/observability.md'), 'Audit lines').map(([name = '', decision = '', reasons = '']) => ({
    function: name.replaceAll('`', ''),
    decision: decision.replaceAll('`', ''),
    reasons: reasons.match(/\w+/g) ?? [],
    isOpen: reasons.includes('…'),
  }));
}
