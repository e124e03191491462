/**
 * The whole of Curfew in one process, over ports: forwarder ─▶ bus ─▶ routes ─▶ one inbox per function ─▶ the function, and the
 * minute tick. Time comes from the scheduler alone, so the same code runs on virtual time (simulator) and on real time.
 */
import { createForwarder, type Forwarder } from '../forwarder/forwarder.ts';
import type { ForwarderSettings } from '../forwarder/settings.ts';
import { createHooks, type InvokeFunction } from '../shared/adapters/hooks/hooks.ts';
import { boundedAuditLog } from '../shared/adapters/log/bounded-audit.ts';
import { createEventRecorder } from '../shared/adapters/kubernetes/event-recorder.ts';
import type { Envelope } from '../shared/contract/envelope.ts';
import { FUNCTION_TIMEOUT_SECONDS, MAX_RECEIVES, VISIBILITY_TIMEOUT_SECONDS } from '../shared/contract/inbox.ts';
import { SOURCES, TICK, type FunctionName } from '../shared/contract/names.ts';
import { PERMISSIONS, type Part, type Permissions } from '../shared/contract/permissions.ts';
import { DEPLOYED_FUNCTIONS, matchesPattern, ROUTES, type DeployedFunction } from '../shared/contract/routes.ts';
import { toWakeUpEnvelope } from '../shared/contract/wake-up.ts';
import { addDuration, minutes, seconds, toIsoText, type DurationMs } from '../shared/domain/time.ts';
import { invariant } from '../shared/errors.ts';
import type { AuditLog } from '../shared/ports/audit-log.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { ClusterWatch } from '../shared/ports/cluster-watch.ts';
import type { DeadLetters } from '../shared/ports/dead-letters.ts';
import type { EventBus } from '../shared/ports/event-bus.ts';
import type { FunctionDeps } from '../shared/ports/function-deps.ts';
import type { Hooks } from '../shared/ports/hooks.ts';
import type { WakeUpSender } from '../shared/ports/inbox.ts';
import type { Instances } from '../shared/ports/instances.ts';
import type { KubernetesApi } from '../shared/ports/kubernetes-api.ts';
import type { MetricSink } from '../shared/ports/metrics.ts';
import type { DueIndex, RecordStore } from '../shared/ports/record-store.ts';
import { createFunctionRunner, type RunnerDeps } from './function-runner.ts';
import { RECONCILERS, type ReconcilerFactory } from './functions.ts';
import { createInbox, type Inbox, type InboxSettings, type WaitingMessage } from './inbox.ts';
import { portsWithin, type Identity } from './permissions/ports.ts';
import { createLifetime, mortal, mortalClock, mortalStream, type Lifetime } from './lifetime.ts';
import type { Cancel, Scheduler } from './scheduler.ts';

export interface WaitingInInbox extends WaitingMessage {
  readonly target: FunctionName;
}

/** What one function environment is made of; the recorder of Kubernetes Events is built on `kubernetes`. */
export type EnvironmentPorts = Omit<FunctionDeps, 'events'>;

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
  readonly onPermissionUsed?: (part: Part, permission: string) => void;
  /** A call outside the part's row of the permission table. */
  readonly onPermissionRefused?: (part: Part, message: string) => void;
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
  readonly permissions?: Readonly<Partial<Record<Part, Permissions>>>;
  readonly hooks?: SystemHooks;
}

export interface System {
  /** Starts the forwarder and the minute tick. Once only. */
  start(): void;
  /** Ends everything; what waits in inboxes stays there. */
  stop(): Promise<void>;
  /** Publishes an event as somebody else on the bus; throws when the bus cannot take it. */
  publish(envelope: Omit<Envelope, 'id' | 'time'>): void;
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

/** The deployed settings. */
const INBOX_SETTINGS: InboxSettings = {
  visibilityTimeout: seconds(VISIBILITY_TIMEOUT_SECONDS),
  maxReceiveCount: MAX_RECEIVES,
};
const TICK_PERIOD = minutes(1);

/** Lambda functions run in AWS only. */
const noFunctions: InvokeFunction = async functionName => ({
  kind: 'failed',
  message: `function ${functionName} cannot be run here: there is no AWS account`,
});

const NO_METRICS: MetricSink = { count: () => undefined, milliseconds: () => undefined };

export function createSystem(parts: SystemParts): System {
  const { scheduler, hooks = {}, metrics = NO_METRICS } = parts;
  const inboxes = new Map<FunctionName, Inbox>();
  let events = 0;

  const inboxOf = (name: FunctionName): Inbox => {
    const inbox = inboxes.get(name);
    invariant(inbox !== undefined, `${name} is deployed`);
    return inbox;
  };
  const deliver = (target: FunctionName, body: string, delay: DurationMs): void => {
    const inbox = inboxOf(target);
    if (hooks.deliver === undefined) inbox.send(body, delay);
    else hooks.deliver(target, delay, actualDelay => inbox.send(body, actualDelay));
  };

  const route = (source: string, detailType: string, detail: Envelope['detail']): void => {
    const envelope: Envelope = {
      id: `event-${(events += 1)}`,
      source,
      'detail-type': detailType,
      time: toIsoText(scheduler.now()),
      detail,
    };
    const body = JSON.stringify(envelope);
    for (const { target, pattern } of ROUTES) {
      if (matchesPattern(pattern(parts.cluster), envelope)) deliver(target, body, seconds(0));
    }
  };
  const bus: EventBus = {
    async publish(entries) {
      for (const { source, detailType, detail } of entries) route(source, detailType, { ...detail });
      return entries.map(() => ({ kind: 'published' }));
    },
  };
  const wakeUps: WakeUpSender = {
    async send(sent) {
      for (const { wakeUp, delay } of sent) deliver(wakeUp.owner, JSON.stringify(toWakeUpEnvelope(wakeUp)), delay);
    },
  };

  const bury = (message: BuriedMessage): void => hooks.onBuried?.(message);

  /** What stands outside of the table's row is refused, whatever is behind the port. */
  const identityOf = (part: Part): Identity => ({
    user: `curfew:${part}`,
    permissions: parts.permissions?.[part] ?? PERMISSIONS[part],
    onUse: permission => hooks.onPermissionUsed?.(part, permission),
    onRefusal: message => hooks.onPermissionRefused?.(part, message),
  });

  function environment(name: DeployedFunction, lifetime: Lifetime): RunnerDeps {
    const { records, dueIndex } = parts;
    const audit = boundedAuditLog(parts.audit);
    const identity = identityOf(name);
    const ports: EnvironmentPorts = {
      records,
      dueIndex,
      wakeUps,
      bus,
      audit,
      metrics,
      kubernetes: parts.kubernetes(name),
      instances: parts.instances(name),
      deadLetters: { park: async message => bury(message) },
      clock: scheduler,
      hooks:
        parts.callHooks?.(name) ??
        createHooks({ ...portsWithin({ bus }, identity), cluster: parts.cluster, invokeFunction: noFunctions }),
    };
    const permitted = portsWithin(ports, identity);
    const seen = hooks.environment?.(permitted, name, lifetime) ?? permitted;
    const kubernetes = mortal(lifetime, seen.kubernetes);
    const clock = mortalClock(lifetime, seen.clock);
    return {
      audit: seen.audit,
      metrics: seen.metrics,
      kubernetes,
      clock,
      records: mortal(lifetime, seen.records),
      dueIndex: mortal(lifetime, seen.dueIndex),
      wakeUps: mortal(lifetime, seen.wakeUps),
      bus: mortal(lifetime, seen.bus),
      instances: mortal(lifetime, seen.instances),
      deadLetters: mortal(lifetime, seen.deadLetters),
      hooks: mortal(lifetime, seen.hooks),
      events: createEventRecorder({
        kubernetes,
        clock,
        instance: name,
        onFailure: () => metrics.count('EventNotRecorded'),
      }),
    };
  }

  for (const name of DEPLOYED_FUNCTIONS) {
    const reconciler = parts.reconcilers?.[name] ?? RECONCILERS[name];
    invariant(reconciler !== undefined, `runtime/functions.ts lists the deployed function ${name}`);
    const runner = createFunctionRunner({
      cluster: parts.cluster,
      name,
      reconciler,
      scheduler,
      metrics,
      timeout: seconds(FUNCTION_TIMEOUT_SECONDS),
      environment: lifetime => environment(name, lifetime),
      ...(hooks.onRun && { onRun: lifetime => hooks.onRun?.(name, lifetime) }),
    });
    const inbox = createInbox({
      name,
      scheduler,
      settings: { ...INBOX_SETTINGS, ...parts.inboxes },
      consume: ({ body, receiveCount }) =>
        runner.run(body, receiveCount).catch((error: unknown) => {
          hooks.onFailed?.(name, error);
          throw error;
        }),
      bury: ({ body, receiveCount }) =>
        bury({
          function: name,
          body,
          reason: 'TooManyReceives',
          explanation: `received ${receiveCount} times without success`,
        }),
    });
    inboxes.set(name, inbox);
  }

  function startForwarder(): { forwarder: Forwarder; lifetime: Lifetime } {
    const lifetime = createLifetime();
    const ports: ForwarderPorts = portsWithin({ watch: parts.watch, bus, clock: scheduler }, identityOf('forwarder'));
    const seen = hooks.forwarder?.(ports, lifetime) ?? ports;
    const forwarder = createForwarder({
      watch: {
        resolve: (kind, signal) => mortal(lifetime, seen.watch).resolve(kind, signal),
        list: (type, options) => mortal(lifetime, seen.watch).list(type, options),
        watch: (type, options) => mortalStream(lifetime, seen.watch.watch(type, options)),
      },
      bus: mortal(lifetime, seen.bus),
      clock: mortalClock(lifetime, seen.clock),
      metrics,
      config: { ...parts.forwarder, cluster: parts.cluster },
      ...(parts.random === undefined ? {} : { random: parts.random }),
    });
    forwarder.start();
    return { forwarder, lifetime };
  }

  let running: ReturnType<typeof startForwarder> | undefined;
  let nextStart: Cancel | undefined;
  let nextTick: Cancel | undefined;

  const tick = (): void => {
    nextTick = scheduler.at(addDuration(scheduler.now(), TICK_PERIOD), tick);
    const envelope: Envelope = { source: SOURCES.timer, 'detail-type': TICK, detail: {} };
    deliver('timer', JSON.stringify(envelope), seconds(0));
  };

  return {
    start() {
      invariant(nextTick === undefined, 'a system is started once');
      running = startForwarder();
      nextTick = scheduler.at(addDuration(scheduler.now(), TICK_PERIOD), tick);
    },
    async stop() {
      nextTick?.();
      nextStart?.();
      await running?.forwarder.stop();
    },
    publish: ({ source, 'detail-type': detailType, detail }) => route(source, detailType, detail),
    send: (target, body, delay = seconds(0)) => deliver(target, body, delay),
    restartForwarder(downtime = seconds(0)) {
      running?.lifetime.end();
      nextStart?.();
      nextStart = scheduler.at(addDuration(scheduler.now(), downtime), () => {
        running = startForwarder();
      });
    },
    forwarder: {
      ready: () => started(running).forwarder.ready(),
      stats: () => started(running).forwarder.stats(),
    },
    depth: name => inboxOf(name).depth(),
    waiting: () => [...inboxes].flatMap(([target, inbox]) => inbox.waiting().map(message => ({ target, ...message }))),
    takeOver: ({ target, ...message }) => inboxOf(target).takeOver(message),
  };
}

function started<T>(running: T | undefined): T {
  invariant(running !== undefined, 'the system is started first');
  return running;
}
