import type { FunctionName } from '../contract/names.ts';
import type { JsonObject } from '../domain/kubernetes-object.ts';

/** Of the fields that a line of the log has. It goes up when one goes or changes its meaning, not when one comes or a new decision is said. */
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
