/** The outcome of `curfew validate` for one thing that it checked. */
import type { Finding } from '../../simulator/scenario/finding.ts';

/** A configuration, an object, a scenario. */
export interface CheckedInput {
  readonly file: string;
  /** `Configuration`, or the kind of the object. */
  readonly kind: string;
  readonly name: string;
  readonly findings: readonly Finding[];
  /** The custom resource that the drain template renders, of a configuration with a custom drain. */
  readonly rendered?: string;
  /** Its effect, in words. */
  readonly notes?: readonly string[];
}

/** Whether Curfew refuses what was found. */
export const isError = ({ severity }: Finding): boolean => severity === 'error';

/** In the order of the file. */
export const byPlace = (a: Finding, b: Finding): number =>
  a.file === b.file ? a.line - b.line || (a.column ?? 0) - (b.column ?? 0) : 0;
