/** What a day comes to, as data: for a page, for a line of text, for a comparison. All times are milliseconds since 1970. */
import type { TraceHeader, TraceLine } from '../trace/lines.ts';

/** `from` inclusive, `to` exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
  /** It reaches the end of the trace: nobody knows how it ends. */
  readonly isOpen: boolean;
}

/** What a stretch of a node's day was. */
export type BarKind =
  'unhealthy' | 'tolerated' | 'held' | 'drain' | 'action' | 'reboot' | 'termination' | 'replacement' | 'protection';

export interface Bar extends Span {
  readonly kind: BarKind;
  /** What stands in it: a condition, a guard, an action. */
  readonly label: string;
  /** The message, with its numbers. */
  readonly detail: string;
  /** Of one that is held: the reason, one word. */
  readonly guard?: string | undefined;
  /** Index of the line that says so. */
  readonly line: number;
  /** Of a protection: when it ends by itself, also past the end of the node. */
  readonly until?: number | undefined;
}

/** It acts, and waits: a budget, a hook, pods that are stopping. */
export interface Wait extends Span {
  readonly by: 'drain' | 'termination';
  readonly reason: string;
  readonly detail: string;
  /** A PodDisruptionBudget forbids the eviction. */
  readonly isBudget: boolean;
  readonly line: number;
}

export interface Mark {
  readonly kind: 'event' | 'warning' | 'write' | 'other' | 'gone';
  readonly time: number;
  readonly text: string;
  readonly line: number;
}

export interface PodRow extends Span {
  readonly namespace: string;
  readonly name: string;
  /** Value of its do-not-disrupt annotation. */
  readonly protection: string | undefined;
  /** When it was deleted; it may run on for its grace period. */
  readonly deleted: number | undefined;
  /** Curfew took it although it was protected. */
  readonly isTaken: boolean;
  readonly line: number;
}

export interface HookRow extends Span {
  readonly name: string;
  readonly result: 'succeeded' | 'timed out' | 'failed' | 'not waited for' | 'running';
  readonly detail: string;
  readonly line: number;
}

export interface DrainRun extends Span {
  readonly outcome: 'succeeded' | 'cancelled' | 'failed' | 'running';
  /** Repair asked for it. */
  readonly isRepair: boolean;
  readonly line: number;
}

/** How a node went. */
export interface End {
  readonly time: number;
  readonly by: 'repair' | 'request' | 'others';
}

export interface Lane {
  readonly name: string;
  readonly uid: string | undefined;
  /** NodePool; `''` without one. */
  readonly pool: string;
  readonly zone: string;
  /** When the node appeared; the start of the trace when it was there. */
  readonly from: number;
  readonly end: End | undefined;
  readonly bars: readonly Bar[];
  readonly waits: readonly Wait[];
  readonly marks: readonly Mark[];
  readonly pods: readonly PodRow[];
  readonly hooks: readonly HookRow[];
  readonly drains: readonly DrainRun[];
  /** From the first action of a repair to its end. */
  readonly repairs: readonly Span[];
  readonly reboots: readonly number[];
  /** Hooks that were never called. */
  readonly skippedHooks: readonly string[];
  /** Hooks that were called, and not waited for. */
  readonly unawaitedHooks: readonly string[];
  /** Protected pods that Curfew took: `namespace/name`. */
  readonly takenPods: readonly string[];
  /** Indices of its decisions. */
  readonly decisions: readonly number[];
}

/** Something that the world did, above what Curfew made of it. */
export interface Happening {
  readonly time: number;
  readonly title: string;
  readonly detail: string;
  readonly nodes: readonly string[];
  readonly line: number;
}

/** A row of the table. */
export interface Row {
  readonly time: number;
  readonly kind: 'audit' | 'event' | 'write';
  readonly lane: string | undefined;
  readonly by: string;
  readonly decision: string;
  readonly reason: string;
  readonly action: string;
  readonly message: string;
  readonly object: string;
  readonly line: number;
}

/** A number over time: `values[i]` holds from `times[i]`. */
export interface Series {
  readonly times: readonly number[];
  readonly values: readonly number[];
}

export interface Strip {
  /** NodePool, or what is counted over all. */
  readonly title: string;
  readonly kind: 'unhealthy' | 'repairs';
  readonly count: Series;
  readonly size: Series;
  /** In nodes; empty without a limit. */
  readonly limit: Series;
  /** As it is written: `maxUnhealthy 30%`. */
  readonly limitText: string;
}

/** A part of a sentence; `nodes` are those that it counts. */
export interface Phrase {
  readonly text: string;
  readonly isNumber?: boolean;
  /** What the sentence is about. */
  readonly isHead?: boolean;
  readonly nodes?: readonly string[];
}

export interface Badge {
  /** Red wants a person, amber wants a look. */
  readonly severity: 'red' | 'amber';
  readonly title: string;
  readonly detail: string;
  readonly nodes: readonly string[];
  readonly time: number;
}

export interface Day {
  readonly header: Pick<TraceHeader, 'name' | 'source' | 'file'>;
  readonly start: number;
  readonly end: number;
  readonly lines: readonly TraceLine[];
  readonly lanes: readonly Lane[];
  readonly happenings: readonly Happening[];
  readonly rows: readonly Row[];
  readonly strips: readonly Strip[];
  readonly verdict: readonly Phrase[];
  readonly badges: readonly Badge[];
}
