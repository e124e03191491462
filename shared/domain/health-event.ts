/** NVSentinel's HealthEvent: what a monitor says about a node. Names are those of its JSON form. */

/** Number → name. */
export const RECOMMENDED_ACTIONS: ReadonlyMap<number, string> = new Map([
  [0, 'NONE'],
  [2, 'COMPONENT_RESET'],
  [5, 'CONTACT_SUPPORT'],
  [6, 'RUN_FIELDDIAG'],
  [15, 'RESTART_VM'],
  [24, 'RESTART_BM'],
  [25, 'REPLACE_VM'],
  [26, 'RUN_DCGMEUD'],
  [27, 'CUSTOM'],
  [99, 'UNKNOWN'],
]);
export const COMPONENT_RESET = 2;
/** The number of an action whose name is not in the list above. */
export const UNKNOWN_ACTION = 99;

/** Number → name. */
export const PROCESSING_STRATEGIES: ReadonlyMap<number, string> = new Map([
  [0, 'UNSPECIFIED'],
  [1, 'EXECUTE_REMEDIATION'],
  [2, 'STORE_ONLY'],
  [3, 'STORE_AND_ANALYSE'],
]);
export const EXECUTE_REMEDIATION = 1;

export interface Entity {
  /** `GPU_UUID`, `PCI`, `NIC`, … */
  readonly entityType: string;
  readonly entityValue: string;
}

export interface BehaviourOverrides {
  readonly force: boolean;
  readonly skip: boolean;
}

export interface HealthEvent {
  /** Unique; made by who stores the event first. */
  readonly id: string;
  readonly nodeName: string;
  readonly version: number;
  readonly agent: string;
  readonly componentClass: string;
  readonly checkName: string;
  readonly isFatal: boolean;
  /** A recovery. */
  readonly isHealthy: boolean;
  /** Free text, often with quotes, colons and line breaks. */
  readonly message: string;
  /** A number of `RECOMMENDED_ACTIONS`, or one of a newer version. */
  readonly recommendedAction: number;
  /** The name of an action that has no number here. */
  readonly recommendedActionName?: string;
  readonly customRecommendedAction: string;
  readonly errorCode: readonly string[];
  readonly entitiesImpacted: readonly Entity[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly generatedTimestamp: { readonly seconds: number; readonly nanos: number } | undefined;
  readonly quarantineOverrides: BehaviourOverrides | undefined;
  readonly drainOverrides: BehaviourOverrides | undefined;
  /** A number of `PROCESSING_STRATEGIES`. */
  readonly processingStrategy: number;
}

/**
 * The answer of NVSentinel's fault-quarantine to an event: `Quarantined`, `AlreadyQuarantined`, `UnQuarantined`,
 * `Cancelled`. A newer release may have more words, which mean nothing here.
 */
export type QuarantineStatus = string;
