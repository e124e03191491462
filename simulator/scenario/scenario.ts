/** A scenario, parsed: what exists, what happens when, and what is expected (docs/scenarios.md). */
import type { Confirmation } from '../../shared/domain/repair-policy.ts';
import type { JsonObject, JsonValue } from '../../shared/domain/kubernetes-object.ts';
import type { Component } from '../../shared/contract/permissions.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import type { DurationMs, EpochMs } from '../../shared/domain/time.ts';
import type { InstanceState } from '../../shared/ports/instances.ts';

export const ACTORS = ['kubelet', 'karpenter', 'disruption', 'cloud'] as const;
/** Karpenters that decide by themselves; they act where a scenario names them. */
export const ACTING_KARPENTERS = ['karpenter-1.14', 'karpenter-1.15'] as const;
export type Actor = (typeof ACTORS)[number] | (typeof ACTING_KARPENTERS)[number];

/** Where something stands in its file. */
export interface Place {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Of the key, or of what stands there without one. From 1. */
  readonly column?: number;
  /** Of a scalar value that stands on the line of its key. */
  readonly valueColumn?: number;
  /** `spec.steps[2].at`. */
  readonly path: string;
}

/** `"true"` on what the generator draws: whole terminations and drains are judged in it (`simulator/invariants/checks.ts`). */
export const GENERATED_ANNOTATION = 'sim.curfew.dev/generated';

export interface Scenario {
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly file: string;
  readonly start: EpochMs;
  readonly end: EpochMs;
  /** How long each call of Curfew's takes; undefined: no time at all. */
  readonly callDuration?: DurationMs | undefined;
  readonly config: string | undefined;
  readonly templates: Readonly<Record<string, string>>;
  readonly actors: ReadonlySet<Actor>;
  readonly objects: readonly PlacedManifest[];
  /** In order of time; equal times in the order of the file. */
  readonly steps: readonly Step[];
  readonly expectations: readonly Expectation[];
  /** What is in the file and was hardly meant; the run takes it as it is. */
  readonly doubts: readonly ScenarioFault[];
}

/** A manifest as it is in the file, and what identifies its object. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly body: JsonObject;
}

export interface PlacedManifest {
  readonly manifest: Manifest;
  readonly place: Place;
}

/** An object by the plural of its resource, `.group` added where two share it. */
export interface TargetRef {
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

export const CLOUD_FAILURES = ['throttle', 'error', 'none'] as const;
export type CloudFailure = (typeof CLOUD_FAILURES)[number];
/** What a check of EC2 says of an instance. */
export const CHECK_STATUSES = [
  'ok',
  'impaired',
  'initializing',
  'insufficient-data',
  'not-applicable',
  'suppressed',
] as const;
/** By the name of the check. */
export type CloudChecks = Readonly<Partial<Record<Confirmation, (typeof CHECK_STATUSES)[number] | undefined>>>;
/** Of the cluster that a scenario is about: `detail.cluster` of what is said on its bus. */
export const CLUSTER_NAME = 'simulated';

export const CLEANUP_RESULTS = ['succeed', 'fail', 'notFound', 'silent'] as const;
export type CleanupResult = (typeof CLEANUP_RESULTS)[number];
export const HOOK_RESULTS = ['succeed', 'fail', 'silent'] as const;
export type HookResult = (typeof HOOK_RESULTS)[number];
/** `ledger`: writes of what finalizers of ours stand for alone, as where one item of the table is throttled. */
export const OUTAGE_PARTS = ['api', 'bus', 'store', 'ledger'] as const;
/** Those that a whole cluster goes without for a while. */
export const WHOLE_PARTS = ['api', 'bus', 'store'] as const satisfies readonly OutagePart[];
export type OutagePart = (typeof OUTAGE_PARTS)[number];

/** What can be restored from a backup. */
export const RESTORABLE = ['table', 'cluster'] as const;

export const REFUSABLE_VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'evict'] as const;
export type RefusableVerb = (typeof REFUSABLE_VERBS)[number];

/** Which requests are refused: those that agree with every field that is there; at least `verb` or `resource` is. */
export interface RefusedRequests {
  readonly verb?: RefusableVerb | undefined;
  /** A plural, `.group` added where two share it. */
  readonly resource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** The part of Curfew that asks; undefined: all. */
  readonly by?: Component | undefined;
}

export type Refusal = RefusedRequests & { readonly as: RefusedAs };

/** By an HTTP status, or as the 404 of a kind that the server does not serve. */
export type RefusedAs = { readonly status: number } | { readonly notServed: true };

export const CONDITION_STATUSES = ['True', 'False', 'Unknown'] as const;

/** What a step states of a condition of a Node. */
export interface StatedCondition {
  readonly type: string;
  readonly status: (typeof CONDITION_STATUSES)[number];
  /** undefined: as it is, or none where the status changes. */
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

export const LAUNCH_RESULTS = ['succeed', 'insufficientCapacity', 'never'] as const;
export type LaunchResult = (typeof LAUNCH_RESULTS)[number];

export type StepAction =
  | { readonly kind: 'apply'; readonly manifest: Manifest }
  | { readonly kind: 'patch'; readonly target: TargetRef; readonly merge: JsonObject }
  | { readonly kind: 'condition'; readonly node: string; readonly condition: StatedCondition }
  | { readonly kind: 'delete'; readonly target: TargetRef; readonly gracePeriodSeconds?: number | undefined }
  | { readonly kind: 'busEvent'; readonly source: string; readonly detailType: string; readonly detail: JsonObject }
  | {
      readonly kind: 'cloud';
      readonly providerID: string;
      readonly fail?: CloudFailure | undefined;
      readonly state?: 'running' | 'stopped' | 'terminated' | undefined;
      readonly checks?: CloudChecks | undefined;
    }
  | {
      readonly kind: 'cleanup';
      readonly rule: string;
      readonly result: CleanupResult;
      readonly message?: string | undefined;
    }
  | {
      readonly kind: 'hook';
      readonly name: string;
      readonly result: HookResult;
      readonly message?: string | undefined;
    }
  | { readonly kind: 'launch'; readonly nodePool: string; readonly result: LaunchResult }
  | {
      readonly kind: 'refuse';
      readonly refusal: Refusal;
      /** undefined: to the end. */
      readonly for: DurationMs | undefined;
    }
  | { readonly kind: 'outage'; readonly of: OutagePart; readonly for: DurationMs }
  | { readonly kind: 'restart'; readonly part: 'forwarder' }
  | {
      readonly kind: 'delay';
      /** Whose inbox; undefined: all. */
      readonly function: FunctionName | undefined;
      readonly for: DurationMs;
      readonly by: DurationMs;
    }
  | { readonly kind: 'redrive'; readonly function: FunctionName }
  | { readonly kind: 'rollback'; readonly for: DurationMs }
  /** With what the runbook has an operator do next. `age` of the backup; undefined: there is none, and nothing is left. */
  | { readonly kind: 'restore'; readonly of: 'table'; readonly age: DurationMs | undefined }
  /** What the API server has stored: etcd is restored from a snapshot of that age. */
  | { readonly kind: 'restore'; readonly of: 'cluster'; readonly age: DurationMs };

export interface Step {
  readonly time: EpochMs;
  readonly action: StepAction;
  readonly place: Place;
}

/** Inclusive at both ends; undefined: open. */
export interface Window {
  readonly from: EpochMs | undefined;
  /** The last instant that counts. */
  readonly to: EpochMs | undefined;
}

export interface Times {
  readonly min: number;
  readonly max: number;
}

export interface TracePattern {
  readonly kind: 'write' | 'event' | 'audit';
  /** Deep subset of a trace line. */
  readonly fields: JsonObject;
  /** Dotted paths that must not exist in the line. */
  readonly absent: readonly string[];
}

export type Expectation = { readonly place: Place } & (
  | { readonly kind: 'trace'; readonly pattern: TracePattern; readonly window: Window; readonly times: Times }
  | {
      readonly kind: 'finalObject';
      readonly target: TargetRef;
      readonly exists: boolean;
      readonly match: JsonValue | undefined;
      readonly absent: readonly string[];
    }
  | { readonly kind: 'finalInstance'; readonly providerID: string; readonly state: InstanceState }
);

/** What is wrong with a file, and where. */
export interface ScenarioFault {
  readonly place: Place;
  readonly message: string;
}

export type ParsedScenarios =
  | { readonly ok: true; readonly scenarios: readonly Scenario[] }
  | { readonly ok: false; readonly faults: readonly ScenarioFault[] };
