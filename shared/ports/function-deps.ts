/** The ports that the composition root hands to a function; each concern asks for the slice that it uses. */
import type { InboxMessage } from '../contract/inbox-message.ts';
import type { AuditLog } from './audit-log.ts';
import type { Clock } from './clock.ts';
import type { DueIndex, RecordStore } from './record-store.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { EventBus } from './event-bus.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { Hooks } from './hooks.ts';
import type { Instances } from './instances.ts';
import type { KubernetesApi } from './kubernetes-api.ts';
import type { MetricSink } from './metrics.ts';
import type { WakeUpSender } from './inbox.ts';

export interface FunctionDeps {
  /** The name of the cluster that this function is deployed for. */
  readonly cluster: string;
  readonly kubernetes: KubernetesApi;
  readonly records: RecordStore;
  readonly dueIndex: DueIndex;
  readonly wakeUps: WakeUpSender;
  readonly bus: EventBus;
  readonly instances: Instances;
  readonly events: EventRecorder;
  readonly audit: AuditLog;
  readonly metrics: MetricSink;
  readonly clock: Clock;
  readonly deadLetters: DeadLetters;
  readonly hooks: Hooks;
}

/** Looks at what the message points to, decides, acts. Running it twice equals running it once. */
export type Reconcile = (message: InboxMessage) => Promise<void>;
