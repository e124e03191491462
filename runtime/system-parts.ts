/** What the whole of Curfew in one process is made of, and where others take part. */
import type { Forwarder } from '../forwarder/forwarder.ts';
import type { ForwarderSettings } from '../forwarder/settings.ts';
import type { Envelope } from '../shared/contract/envelope.ts';
import type { FunctionName } from '../shared/contract/names.ts';
import type { Component, Permissions } from '../shared/contract/permissions.ts';
import type { DurationMs } from '../shared/domain/time.ts';
import type { AuditLog } from '../shared/ports/audit-log.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { ClusterWatch } from '../shared/ports/cluster-watch.ts';
import type { DeadLetters } from '../shared/ports/dead-letters.ts';
import type { EventBus } from '../shared/ports/event-bus.ts';
import type { FunctionDeps } from '../shared/ports/function-deps.ts';
import type { Hooks } from '../shared/ports/hooks.ts';
import type { Instances } from '../shared/ports/instances.ts';
import type { KubernetesApi } from '../shared/ports/kubernetes-api.ts';
import type { MetricSink } from '../shared/ports/metrics.ts';
import type { DueIndex, RecordStore } from '../shared/ports/record-store.ts';
import type { ReconcilerFactory } from './functions.ts';
import type { InboxSettings, WaitingMessage } from './inbox.ts';
import type { Lifetime } from './lifetime.ts';
import type { Scheduler } from './scheduler.ts';

export interface WaitingInInbox extends WaitingMessage {
  readonly target: FunctionName;
}

/** What one function environment is made of; the recorder of Kubernetes Events is built on `kubernetes`. */
export type EnvironmentPorts = Omit<FunctionDeps, 'events' | 'cluster'>;

export interface ForwarderPorts {
  readonly watch: ClusterWatch;
  readonly bus: EventBus;
  readonly clock: Clock;
}

/** A message that will not be tried again. */
export type BuriedMessage = Parameters<DeadLetters['park']>[0];

/** Where a test, a trace or the fault injection takes part. Every hook may be left out. */
export interface SystemHooks {
  /** Replaces the ports of one function environment, which ends with `lifetime`. */
  readonly environment?: (ports: EnvironmentPorts, name: FunctionName, lifetime: Lifetime) => EnvironmentPorts;
  /** Replaces the ports of one forwarder process. */
  readonly forwarder?: (ports: ForwarderPorts, lifetime: Lifetime) => ForwarderPorts;
  /** Takes a message on its way into an inbox: delivers it once, later, twice. */
  readonly deliver?: (target: FunctionName, delay: DurationMs, send: (delay: DurationMs) => void) => void;
  /** A run of that function begins in the environment that ends with `lifetime`. */
  readonly onRun?: (name: FunctionName, lifetime: Lifetime) => void;
  readonly onBuried?: (message: BuriedMessage) => void;
  /** A message that failed and will come again; `error` is a bug unless it is a `RetryableError`. */
  readonly onFailed?: (name: FunctionName, error: unknown) => void;
  /** Each permission that a call makes use of, in the words of `permissions/describe.ts`. */
  readonly onPermissionUsed?: (part: Component, permission: string) => void;
  /** A call outside the part's row of the permission table. */
  readonly onPermissionRefused?: (part: Component, message: string) => void;
}

export interface SystemParts {
  readonly cluster: string;
  readonly scheduler: Scheduler;
  /** The cluster as one function sees it. */
  readonly kubernetes: (by: FunctionName) => KubernetesApi;
  readonly watch: ClusterWatch;
  readonly records: RecordStore;
  readonly dueIndex: DueIndex;
  readonly instances: (by: FunctionName) => Instances;
  /** Hooks as one function calls them; default: by events, and no Lambda functions. */
  readonly callHooks?: (by: FunctionName) => Hooks;
  readonly audit: AuditLog;
  readonly metrics?: MetricSink;
  readonly forwarder?: Partial<ForwarderSettings>;
  /** For the jitter of retries; without it every delay is exact. */
  readonly random?: () => number;
  readonly inboxes?: Partial<InboxSettings>;
  /** Replaces the function of that name; for tests that prove what a mistake would do. */
  readonly reconcilers?: Readonly<Partial<Record<FunctionName, ReconcilerFactory>>>;
  /** Replaces rows of the permission table; for tests that prove what a missing permission does. */
  readonly permissions?: Readonly<Partial<Record<Component, Permissions>>>;
  readonly hooks?: SystemHooks;
}

export interface System {
  /** Starts the forwarder and the minute tick. Once only. */
  start(): void;
  /** Ends everything; what waits in inboxes stays there. */
  stop(): Promise<void>;
  /** Publishes an event as somebody else on the bus; throws when the bus cannot take it. Answers whether some rule does. */
  publish(envelope: Omit<Envelope, 'id' | 'time'>): boolean;
  /** Puts a message straight into the inbox of one function. */
  send(target: FunctionName, body: string, delay?: DurationMs): void;
  /** The forwarder's process dies at this instant, with all that it knew; another one starts after `downtime`. */
  restartForwarder(downtime?: DurationMs): void;
  readonly forwarder: Pick<Forwarder, 'ready' | 'stats'>;
  /** Messages in each inbox. */
  depth(name: FunctionName): number;
  /** All messages that are not finished; another system can take them over. */
  waiting(): readonly WaitingInInbox[];
  takeOver(message: WaitingInInbox): void;
}
