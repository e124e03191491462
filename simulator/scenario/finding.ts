/** What is found in a file that a user writes: one form for every command that reads files, and for the notes of a run. */
import type { Place, ScenarioFault } from './scenario.ts';

/** `error`: it is refused. `warning`: it is accepted, and hardly meant. `note`: it is worth knowing. */
export type Severity = 'error' | 'warning' | 'note';

export interface Finding {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column?: number;
  /** Path in the document; empty for the document as a whole. */
  readonly path: string;
  readonly message: string;
  readonly severity: Severity;
}

/** A finding at a place: one about a name points at the key, any other at the value. */
export function findingAt(place: Place, message: string, severity: Severity = 'error'): Finding {
  const { file, line, path, column, valueColumn } = place;
  const pointed = /^unknown (field|key|table)/.test(message) ? column : (valueColumn ?? column);
  return { file, line, ...(pointed !== undefined && { column: pointed }), path, message, severity };
}

/** A fault of a scenario as a finding. */
export const toFinding = ({ place, message }: ScenarioFault, severity: Severity = 'error'): Finding =>
  findingAt(place, message, severity);

/** `FILE:LINE:COLUMN`, as editors and CI read it. */
export const formatPlace = ({ file, line, column }: Finding): string =>
  column === undefined ? `${file}:${line}` : `${file}:${line}:${column}`;

/** `FILE:LINE:COLUMN: SEVERITY: PATH: MESSAGE`. */
export function formatFinding(finding: Finding): string {
  const { path, message, severity } = finding;
  return [formatPlace(finding), severity, ...(path === '' ? [] : [path]), message].join(': ');
}
