/** What `curfew validate` finds in a file. */
export interface Finding {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly column?: number;
  /** Path in the document; empty for the document as a whole. */
  readonly path: string;
  readonly message: string;
  /** Curfew accepts it, and it may do nothing of what its author expects. */
  readonly severity?: 'warning';
}

/** Whether Curfew refuses what was found. */
export const isFault = ({ severity }: Finding): boolean => severity === undefined;

/** One thing that was checked: a configuration, an object, a scenario. */
export interface Checked {
  readonly file: string;
  /** `Configuration`, or the kind of the object. */
  readonly kind: string;
  readonly name: string;
  readonly findings: readonly Finding[];
  /** The custom resource that the drain template renders, of a configuration with a custom drain. */
  readonly rendered?: string;
  /** What it does, in words. */
  readonly notes?: readonly string[];
}

/** `FILE:LINE:COLUMN: PATH: MESSAGE`, as editors and CI read it. */
export function formatFinding({ file, line, column, path, message, severity }: Finding): string {
  const place = column === undefined ? `${file}:${line}` : `${file}:${line}:${column}`;
  const kind = severity === undefined ? '' : `${severity}: `;
  return path === '' ? `${place}: ${kind}${message}` : `${place}: ${kind}${path}: ${message}`;
}
