/**
 * The invariants I1 to I12 (ARCHITECTURE.md), checked while a scenario runs. A check reads raw objects and records,
 * and the calls that functions make; it shares no rule with what it watches. Its instants are milliseconds since 1970 and its durations milliseconds, as plain numbers.
 */
import type { FunctionName } from '../../shared/contract/names.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { AuditRecord } from '../../shared/ports/audit-log.ts';
import type { NewRecord } from '../../shared/ports/record-store.ts';
import type { DurationMs, EpochMs } from '../../shared/domain/time.ts';
import type { ObservedWrite } from '../../packages/kube-apiserver/src/types.ts';
import type { Mirror } from './mirror.ts';

/** I5, and a minute between two looks of the checks; ms. */
export const LONGEST_DELAY = 6 * 60_000;

/** A function that notes an instant down may do so by a clock that is this much behind; ms. */
export const CLOCK_LAG = 2_000;

export type InvariantName = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'I8' | 'I9' | 'I10' | 'I11' | 'I12';

export interface Violation {
  readonly invariant: InvariantName;
  readonly time: EpochMs;
  /** The facts. */
  readonly message: string;
}

/** A call that a function made in one run, as it asked for it; `answer` once it has one. */
export interface PortCall {
  readonly port: 'kubernetes' | 'records' | 'instances' | 'hooks' | 'bus';
  readonly method: string;
  readonly args: readonly unknown[];
  readonly time: EpochMs;
  outcome:
    | { readonly kind: 'pending' }
    | { readonly kind: 'answered'; readonly value: unknown }
    | { readonly kind: 'failed'; readonly error: unknown };
}

/** What one function did with one message so far. */
export interface Run {
  readonly by: FunctionName;
  readonly startTime: EpochMs;
  readonly calls: PortCall[];
}

/** What somebody else put on the bus. */
export interface BusEventSeen {
  readonly detailType: string;
  readonly detail: unknown;
}

export interface Named {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

/** Until when the last denial of a change of that object holds it, ms; of a Node, also of a pod on it. Minus infinity: there was none. */
export type LastDenial = (resource: string, { name, namespace }: Named) => number;

/** The policies as they are in force for terminations; one stays as it is where nobody here knows which version the function has seen. */
export type PoliciesInForce = (policies: readonly KubernetesObject[]) => readonly KubernetesObject[];

export interface CheckContext {
  readonly now: () => EpochMs;
  /** What is in the cluster. */
  readonly mirror: Mirror;
  readonly policiesInForce: PoliciesInForce;
  /** Of the instance in the cloud; undefined when there is none. */
  readonly instanceState: (providerID: string) => string | undefined;
  /** What a check of EC2 says of it; undefined: nothing. */
  readonly instanceCheck: (providerID: string, check: string) => string | undefined;
  /** All objects of a resource that is not mirrored, by its plural and group; none when it is not served. */
  readonly objects: (resource: string) => readonly KubernetesObject[];
  /** The object as it is now, by its UID; undefined: it is gone, or its kind is not served. */
  readonly current: (object: KubernetesObject) => KubernetesObject | undefined;
  /** Whether the clean-up of that FinalizerRule fails at the moment. */
  readonly failsCleanup: (rule: string) => boolean;
  /** Whether calls about the instance fail at the moment. */
  readonly failsInstance: (providerID: string) => boolean;
  /** How far a function's clock may be off. */
  readonly clockTolerance: DurationMs;
  readonly lastDenial: LastDenial;
  /** The same of the object alone: not, of a Node, of a pod on it. */
  readonly lastDenialOfItself: LastDenial;
  /** Until when the scenario lets the API server refuse changes of that object alone, or its next try may wait; ms. */
  readonly refusedUntil: LastDenial;
  /** Since when nothing is disturbed: no fault, no outage, no refusal but of changes of one object (`lastDenial`). Undefined while something is. */
  readonly quietSince: () => EpochMs | undefined;
  /** What the table has of that instant: all, what stood in an older backup, or nothing at all. */
  readonly memoryOf: (time: number) => 'whole' | 'older' | 'none';
  readonly violate: (invariant: InvariantName, message: string) => void;
}

/** One group of invariants. Every hook may be left out. */
export interface Check {
  /** A function is about to make a call. */
  readonly onCall?: (call: PortCall, run: Run) => void;
  /** A call that took effect before the checks began to look: to be remembered, not judged. */
  readonly onPast?: (call: PortCall, run: Run) => void;
  /** A call has its answer, or failed. */
  readonly onAnswer?: (call: PortCall, run: Run) => void;
  /** A write of Curfew that the API server accepted. */
  readonly onWrite?: (write: ObservedWrite, by: string) => void;
  /** A decision of a function, as it is in the audit log. */
  readonly onAudit?: (record: AuditRecord) => void;
  /** A message failed and will come again. */
  readonly onFailure?: (by: FunctionName, error: unknown) => void;
  /** A message will not be tried again. */
  readonly onBuried?: (by: FunctionName, reason: string, explanation: string) => void;
  readonly onRun?: (run: Run) => void;
  readonly onBusEvent?: (event: BusEventSeen) => void;
  /** The API server went back to a snapshot; the mirror shows what it has now. */
  readonly onClusterRestored?: () => void;
  /** A message comes that was late by far. */
  readonly onLateMessage?: () => void;
  /** A record of a function was stored; undefined: it was removed. */
  readonly onRecord?: (key: string, record: NewRecord | undefined) => void;
  /** Once a simulated minute, and at the end. */
  readonly onMinute?: () => void;
}

export type MakeCheck = (context: CheckContext) => Check;
