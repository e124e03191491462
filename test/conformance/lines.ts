/** The lines of the conformance fixtures, by their stable ids, and the tables of Karpenter's behaviour that tests name by row. */
import { readFileSync } from 'node:fs';

export interface ConformanceLine {
  readonly id: string;
  readonly text: string;
}

const fixture = (name: string): string =>
  readFileSync(new URL(`../fixtures/conformance/${name}`, import.meta.url), 'utf8');

/** Table rows `| H1 | T | given -> expected |`. */
export function karpenterLines(): readonly ConformanceLine[] {
  return [...fixture('karpenter-scenarios.md').matchAll(/^\| ([A-Z]\d+) \| [^|]* \| (.*) \|$/gm)].map(
    ([, id = '', text = '']) => ({ id, text }),
  );
}

/** List items `- **1** given -> expected`; their ids are numbers there, `NV1` here. */
export function nvsentinelLines(): readonly ConformanceLine[] {
  return [...fixture('nvsentinel-scenarios.md').matchAll(/^- \*\*(\d+)\*\* (.*)$/gm)].map(([, id = '', text = '']) => ({
    id: `NV${id}`,
    text,
  }));
}

const rows = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);

/** Activity of a protection (A) and worked resolution of a toleration (R). */
export const TABLE_ROWS: readonly string[] = [...rows('A', 23), ...rows('R', 17)];
