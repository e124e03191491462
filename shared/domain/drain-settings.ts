/**
 * Settings of drains, from the configuration (docs/configuration.md). Patterns are kept as text that parsed; the code
 * that matches compiles them.
 */
import type { DurationMs } from './time.ts';

export const DRAIN_MODES = ['Immediate', 'DeleteAfterTimeout', 'AllowCompletion'] as const;
/**
 * `Immediate` evicts at once. `DeleteAfterTimeout` leaves pods alone until a deadline and deletes those that are left.
 * `AllowCompletion` waits for them to end.
 */
export type DrainMode = (typeof DRAIN_MODES)[number];

/** Pods of the namespaces that a pattern matches are drained this way. Of several patterns the most forceful mode applies. */
export interface NamespaceMode {
  /** Go's `filepath.Match`. */
  readonly name: string;
  readonly mode: DrainMode;
}

/** Pods that a label selector matches are drained this way; of several entries the first that matches applies. */
export interface PodDrainPolicy {
  readonly name: string;
  /** Go's `filepath.Match`. */
  readonly namespace: string;
  /** Text of a label selector. */
  readonly podSelector: string;
  readonly mode: DrainMode;
}

/** A custom resource that somebody else's controller answers. */
export interface CustomDrainSettings {
  /** Text of a label selector on Nodes; empty: all nodes. Nodes that it leaves out are drained by the built-in modes. */
  readonly nodeSelector: string;
  /** Key of the ConfigMap with the template. */
  readonly templateFileName: string;
  readonly namespace: string;
  readonly apiGroup: string;
  readonly version: string;
  readonly kind: string;
  /** Plural of the kind in URLs; undefined: asked of the API server. */
  readonly resource: string | undefined;
  /** From the creation of the custom resource on. */
  readonly timeout: DurationMs;
  /** Case-sensitive. */
  readonly statusConditionType: string;
  /** Case-insensitive. */
  readonly statusConditionStatus: string;
  /** The drain has failed when this condition is True. */
  readonly failedConditionType: string;
  /** The controller must change the custom resource at least this often; undefined: it need not. */
  readonly heartbeat: DurationMs | undefined;
  /** The mode in which pods are drained if the custom drain fails; undefined: the drain fails. */
  readonly fallbackMode: DrainMode | undefined;
}

export interface DrainSettings {
  /** RE2 that is searched for in a namespace's name; empty: no namespace is a system namespace. */
  readonly systemNamespaces: string;
  /** Sent with evictions; undefined: each pod's own grace period. */
  readonly evictionGracePeriod: DurationMs | undefined;
  /** From the health event on. */
  readonly deleteAfterTimeout: DurationMs;
  /** A pod that is not ready for longer is not waited for. */
  readonly notReadyTimeout: DurationMs;
  /** Only pods that carry the device annotation are drained. */
  readonly gpuPodsOnly: boolean;
  /** An event that asks for COMPONENT_RESET drains only the pods that use the component. */
  readonly partialDrain: boolean;
  /** One metric per drained GPU. */
  readonly partialDrainEntityMetric: boolean;
  readonly namespaceModes: readonly NamespaceMode[];
  readonly podDrainPolicies: readonly PodDrainPolicy[];
  readonly customDrain: CustomDrainSettings | undefined;
}

/** Settings that tell which HealthEvents are news of this cluster. */
export interface HealthEventSettings {
  /** Nothing begins for an older one, unless the Node shows that it still stands. */
  readonly maxEventAge: DurationMs;
  /** Other names of this cluster, beside the one that Curfew is deployed with. */
  readonly clusterNames: readonly string[];
}
