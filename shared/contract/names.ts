/**
 * Names that several processes share or that users see: functions, event types, annotations, labels. Event reasons stand in
 * `reasons.ts`, metrics in `metrics.ts`, environment variables in `env.ts`, the table's in `table.ts`, tags in `tags.ts`.
 */
import { NODE_POOL_LABEL, TERMINATION_TIMESTAMP_ANNOTATION } from '../domain/node-claim.ts';
import { CORDONED_BY_REPAIR_ANNOTATION, DO_NOT_REPAIR_ANNOTATION } from '../domain/node.ts';
import { DO_NOT_DISRUPT_ANNOTATION } from '../domain/pod.ts';
import { QUARANTINE_ANNOTATION, STATE_LABEL } from '../domain/quarantine.ts';
import { FINALIZER_SOURCE, OPERATOR_SOURCE, REPAIR_SOURCE } from '../domain/source.ts';
import { KARPENTER_FINALIZER, TERMINATION_FINALIZER_ANNOTATION } from '../domain/termination.ts';

/** All of them are deployed. */
export const FUNCTION_NAMES = ['finalizer', 'drain', 'repair', 'grace-period', 'timer'] as const;
export type FunctionName = (typeof FUNCTION_NAMES)[number];

/** EventBridge `source` values. */
export const SOURCES = {
  forwarder: 'curfew.forwarder',
  timer: 'curfew.timer',
  finalizer: FINALIZER_SOURCE,
  drain: 'curfew.drain',
  repair: REPAIR_SOURCE,
  worker: 'curfew.worker',
  operator: OPERATOR_SOURCE,
} as const;

/** EventBridge `detail-type` of wake-ups; cluster events have `<Kind>Changed` (see `cluster-event.ts`). */
export const WAKE_UP = 'WakeUp';
/** EventBridge Scheduler's minute tick: the timer function sweeps, every other one checks its access to the API server. */
export const TICK = 'Tick';
/** EventBridge `detail-type` with which a worker answers a hook that was asked for by an event; its `source` is `curfew.worker`. */
export const HOOK_ANSWERED = 'TerminationHookAnswered';
/** `detail-type` of the message by which a person (`curfew orphans --forget`) closes an entry of the ledger of possible orphans. */
export const ORPHAN_FORGOTTEN = 'OrphanForgotten';
/** EventBridge `detail-type`, about a Node: pods of it, or volume attachments, changed or are gone. */
export const NODE_PODS_CHANGED = 'NodePodsChanged';
/** Nothing of a Node changed but the annotations that hold it for protected pods, which only their keeper reads. */
export const NODE_PROTECTION_CHANGED = 'NodeProtectionChanged';
/** EventBridge `detail-type` of changes of the kinds that FinalizerRules name. */
export const CUSTOM_RESOURCE_CHANGED = 'CustomResourceChanged';
/** EventBridge `detail-type` of changes of the kind that `[customDrain]` names. */
export const DRAIN_RESOURCE_CHANGED = 'DrainResourceChanged';
/** EventBridge `detail-type` of what concerns drains alone: their marks on a Node, its cordon, and pods that only a drain waits for. */
export const DRAINED_NODE_CHANGED = 'DrainedNodeChanged';
/** EventBridge `detail-type` of changes of the kinds by which `repair.actions` ask for help. */
export const REMEDIATION_CHANGED = 'RemediationChanged';
/** EventBridge `detail-type` of changes of the custom resources that stand for hooks of terminations. */
export const HOOK_RESOURCE_CHANGED = 'HookResourceChanged';
/** EventBridge `detail-type` of a monitor's report on a node, in NVSentinel's schema; from any `source`. */
export const HEALTH_EVENT = 'HealthEvent';
/** EventBridge `detail-type` with which anybody asks for the drain of a node; from any `source`. */
export const DRAIN_REQUESTED = 'DrainRequested';
/** EventBridge `detail-type` of the answer to each HealthEvent and DrainRequested; `source` is `curfew.drain`. */
export const DRAIN_COMPLETED = 'DrainCompleted';
/** EventBridge `detail-type` that the forwarder publishes every minute while it watches; an alarm rings when it stops. */
export const FORWARDER_HEARTBEAT = 'ForwarderHeartbeat';

/** The user's configuration: ConfigMap `curfew-config` in namespace `curfew`, key `config.toml`. */
export const CONFIG_MAP = { namespace: 'curfew', name: 'curfew-config', key: 'config.toml' } as const;

export const CURFEW_GROUP = 'curfew.dev';

/** Karpenter's names. */
export const KARPENTER = {
  terminationFinalizer: KARPENTER_FINALIZER,
  nodePoolLabel: NODE_POOL_LABEL,
  /** Keeps pods off a Node (`NoExecute`) until its NodeClaim has registered it. */
  unregisteredTaint: 'karpenter.sh/unregistered',
  doNotDisruptAnnotation: DO_NOT_DISRUPT_ANNOTATION,
  terminationTimestampAnnotation: TERMINATION_TIMESTAMP_ANNOTATION,
} as const;

/** Our own annotations. */
export const ANNOTATIONS = {
  /** On a Node, beside the do-not-disrupt annotation that is ours: until when. */
  protectedUntil: 'curfew.dev/protected-until',
  /** Veto against repair on a Node, NodeClaim or NodePool; a value may be an RFC 3339 expiry. */
  doNotRepair: DO_NOT_REPAIR_ANNOTATION,
  /** On the custom resource of a repair: which attempt it was made for, and the Node's name. One that lacks them is somebody else's. */
  repair: 'curfew.dev/repair',
  repairedNode: 'curfew.dev/repaired-node',
  /** On the custom resource of a drain: the UID of its Node. */
  madeForUid: 'curfew.dev/made-for-uid',
  /** On a NodeClaim or Node, beside our finalizer: its name, so that it is known as ours whatever becomes of NodePool and policy. */
  terminationFinalizer: TERMINATION_FINALIZER_ANNOTATION,
  /** On the custom resource of a hook: the key of its call. */
  terminationHook: 'curfew.dev/termination-hook',
  /** On a Node that a drain has cordoned, which is undone when that drain is cancelled: the drain's id. */
  cordonedByDrain: 'curfew.dev/cordoned-by-drain',
  /** On a Node that a repair has cordoned. Whoever takes the last of the two marks off opens the node. */
  cordonedByRepair: CORDONED_BY_REPAIR_ANNOTATION,
  /** On a Node, set by a person (`curfew drain`): asks for a drain with this id. Who takes it off again withdraws the request. */
  drainRequested: 'curfew.dev/drain-requested',
  /** On a Node while it is drained: which drain, since when and of what, as JSON. */
  drainUnderWay: 'curfew.dev/drain',
  /** On a Node: how the last drain that was asked for on it ended, as JSON with its `id`, `status`, `reason` and `message`. */
  drainAnswer: 'curfew.dev/drain-answer',
  /** On a Node, set by the functions that wait for its pods: the forwarder publishes them. The value says who wait, with commas. */
  watchPods: 'curfew.dev/watch-pods',
  /** On the ConfigMap `curfew-config`: with each new value the forwarder publishes everything again. */
  republish: 'curfew.dev/republish',
} as const;

/** NVSentinel's names on a Node. */
export const NVSENTINEL = {
  /** Label: how far quarantine, drain and remediation are. */
  stateLabel: STATE_LABEL,
  /** Annotation: JSON list of the HealthEvents that keep the node quarantined. */
  quarantineAnnotation: QUARANTINE_ANNOTATION,
  /** Annotations: `True` once a person has taken the quarantine back. */
  releasedAnnotations: ['quarantinedNodeUncordonedManually', 'quarantinedNodeUntaintedManually'],
} as const;

/** Default of `failedConditionType`; the design: "follows Kubernetes standard: DrainInProgress, DrainComplete, DrainFailed". */
export const FAILED_CONDITION_TYPE = 'DrainFailed';
