/** Input of `decide` for drains: the message in hand, the node, its pods, the rules in force, and our record. */
import type { DrainLimitsInForce } from '../../../shared/domain/drain-limits.ts';
import type { DrainSettings } from '../../../shared/domain/drain-settings.ts';
import type { HealthEvent } from '../../../shared/domain/health-event.ts';
import type { GroupVersionKind, KubernetesObject, ResourceType } from '../../../shared/domain/kubernetes-object.ts';
import type { PodView } from '../../../shared/domain/pod.ts';
import type { ProtectionPolicy } from '../../../shared/domain/protection.ts';
import type { DurationMs, EpochMs } from '../../../shared/domain/time.ts';
import type { ModeOf } from './pods.ts';
import type { DrainRecord } from '../record.ts';
import type { DrainRequest, NodeFault, Timestamps } from '../request-record.ts';

/** The configuration in force, with its patterns compiled. */
export interface DrainConfiguration {
  readonly settings: DrainSettings;
  readonly modeOf: ModeOf;
  /** Whether the custom drain applies to a node with these labels. */
  readonly isCustom: (nodeLabels: Readonly<Record<string, string>>) => boolean;
}

/** Settings that the policies and the NodePool give a drain of the node. */
export interface PoliciesInForce {
  readonly kind: 'known';
  /** The mode in which drains of the pool are decided. */
  readonly mode: 'Enforce' | 'Observe';
  /** Fault of a policy without any readable version that may select the pool: it may say `Observe`. */
  readonly unreadable: string | undefined;
  /** Limits of the policy whose `drain` block is in force. */
  readonly limits: DrainLimitsInForce;
  readonly protection: ProtectionPolicy;
  readonly isProtectionOverridden: boolean;
}

/** A kind is not served that may say something of the node: nobody knows what is in force. */
export interface PoliciesNotServed {
  readonly kind: 'notServed';
  readonly message: string;
}

/** State of a drain that the Node's conditions show; `drained` stays until the node is opened. */
export type DrainConditionState = 'inProgress' | 'drained' | 'nothing';

export interface DrainedNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly unschedulable: boolean;
  /** Our mark beside a cordon: the id of the drain that cordoned. */
  readonly cordonMark: string | undefined;
  /** Such a mark that is left over: somebody has uncordoned the node since. The cordon beside it is not ours. */
  readonly uncordonedMark?: string | undefined;
  /** A repair has cordoned it, and opens it at its end. */
  readonly isCordonedByRepair?: boolean;
  /** Ids that NVSentinel's quarantine annotation lists; undefined: there is no such annotation. */
  readonly quarantine: readonly string[] | 'unreadable' | undefined;
  /** The faults that the annotation lists; read only where one is asked about. */
  readonly quarantineFaults?: () => readonly NodeFault[];
  /** A person took the quarantine back. */
  readonly isReleased: boolean;
  /** A person asks for a drain with this id, by an annotation. */
  readonly requestedId: string | undefined;
  /** The request that was answered, by the Node's annotation: it counts where the record is lost. */
  readonly answer?: { readonly id: string } | undefined;
  /** The Node's annotation about the drain under way; see `node-annotations.ts`. */
  readonly underWay: string | undefined;
  readonly uid: string;
  /** Time since which its kubelet has not answered. */
  readonly kubeletSilentSince: EpochMs | undefined;
  /** State of its drain, by our own conditions. */
  readonly shownDrain: DrainConditionState;
  /** The forwarder publishes its pods for drains. */
  readonly isWatched: boolean;
}

/** The other nodes of the pool. */
export interface PoolDrains {
  /** Nodes of the pool, this one among them. */
  readonly total: number;
  /** Other nodes whose drain is under way, or takes a slot. */
  readonly drainingCount: number;
  /** Other nodes whose drain waits. */
  readonly waiters: readonly WaitingDrain[];
}

export interface WaitingDrain {
  readonly uid: string;
  /** Time from which the first of its requests counts: the oldest goes first. */
  readonly since: EpochMs;
}

/** A message that asks for a drain. `receivedTime`: first receipt, by which its age is judged; undefined: it has no age. */
export type RequestMessage =
  /** A `DrainRequested`: its sender waits for the answer. */
  | { readonly kind: 'drainRequested'; readonly request: DrainRequest; readonly receivedTime: EpochMs | undefined }
  | { readonly kind: 'healthEvent'; readonly request: DrainRequest; readonly receivedTime: EpochMs | undefined }
  /** A person asks on the Node: such a request has no age. */
  | { readonly kind: 'askedOnNode'; readonly request: DrainRequest };

/** A message that ends something. */
export type EndMessage =
  /** A monitor reports that a fault is over; that says nothing of the quarantine. */
  | {
      readonly kind: 'recovered';
      readonly event: HealthEvent;
      readonly timestamps: Timestamps | undefined;
      /** The request of this event, if somebody waits for its answer. */
      readonly drainRequest: DrainRequest | undefined;
    }
  | DueRecovery
  | QuarantineEnd
  /** A person took back the quarantine of this one event, or repair its request. */
  | { readonly kind: 'cancelled'; readonly id: string; readonly requestedBy?: string }
  /** A person took back the request on the Node. */
  | { readonly kind: 'withdrawn'; readonly id: string };

/** A recovery that was deferred, and whose fault has not come back. */
export interface DueRecovery {
  readonly kind: 'dueRecovery';
  readonly event: HealthEvent;
  readonly timestamps: Timestamps | undefined;
}

/** The quarantine of the whole node is over. `timestamps`: absent where the Node alone shows it. */
export interface QuarantineEnd {
  readonly kind: 'unQuarantined';
  readonly timestamps?: Timestamps | undefined;
}

/** A message about the drains of a node. */
export type IncomingMessage = RequestMessage | EndMessage;

/** The custom resource, as a look found it. */
export type FoundResource =
  /** There is no custom drain. */
  | { readonly kind: 'notAsked' }
  /** Its CustomResourceDefinition is missing, or serves these versions and not the one that is asked for. */
  | { readonly kind: 'notServed'; readonly requestedKind: GroupVersionKind; readonly versions: readonly string[] }
  /** It cannot be read. */
  | { readonly kind: 'unavailable'; readonly message: string }
  | { readonly kind: 'absent'; readonly name: string; readonly type: ResourceType }
  | {
      readonly kind: 'present';
      readonly name: string;
      readonly type: ResourceType;
      readonly object: KubernetesObject;
      /** The object was made for this drain. */
      readonly isOurs: boolean;
    };

interface NodeObservation {
  readonly now: EpochMs;
  readonly node: DrainedNode;
  readonly record: DrainRecord;
}

/** A node for which nothing is asked and nothing is under way: only Node and record are read. */
export interface IdleObservation extends NodeObservation {
  readonly kind: 'idle';
  readonly incoming: DueRecovery | QuarantineEnd | undefined;
}

/** A node that is drained, or about which there is a message: all that surrounds it is read, too. */
export interface DrainObservation extends NodeObservation {
  readonly kind: 'drain';
  /** The message in hand, until it is in the record. */
  readonly incoming: IncomingMessage | undefined;
  /** The configuration in force; undefined: none was ever valid. */
  readonly configuration: DrainConfiguration | undefined;
  /** Greatest age of an event for which a drain begins. */
  readonly maxEventAge: DurationMs;
  readonly inForce: PoliciesInForce | PoliciesNotServed;
  /** The other nodes of the pool, read while the drain waits in the queue. */
  readonly poolDrains: PoolDrains | undefined;
  /** All pods on the node. */
  readonly pods: readonly PodView[];
  readonly resource: FoundResource;
}

/** A node whose drain nothing pauses: what it goes by is known. */
export interface ReadyObservation extends DrainObservation {
  readonly configuration: DrainConfiguration;
  readonly inForce: PoliciesInForce;
}

/** Input of `decide`. */
export type Observation = IdleObservation | DrainObservation;
