import type { FunctionName } from '../contract/names.ts';
import type { JsonObject } from '../domain/kubernetes-object.ts';

/** The version of the fields of a line. It goes up when a field goes or changes its meaning, not when a field or a decision is added. */
export const AUDIT_VERSION = 1;

/** One line per decision: who looked at what, what was decided, why, on which numbers. */
export interface AuditRecord {
  readonly function: FunctionName;
  /** The decision's kind, e.g. `tolerate`, `blocked`, `repair`. */
  readonly decision: string;
  /** One CamelCase word. */
  readonly reason: string;
  readonly message: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  /** The numbers the decision was based on. */
  readonly details?: JsonObject;
}

export interface AuditLog {
  write(record: AuditRecord): void;
}
