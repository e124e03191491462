/** What lives in a process of its own and may die: the environment of a function, and the forwarder. Each within its permissions. */
import { createForwarder, type Forwarder } from '../forwarder/forwarder.ts';
import { createHooks, type InvokeFunction } from '../shared/adapters/hooks/hooks.ts';
import { createEventRecorder } from '../shared/adapters/kubernetes/event-recorder.ts';
import { boundedAuditLog } from '../shared/adapters/log/bounded-audit.ts';
import { PERMISSIONS, type Component } from '../shared/contract/permissions.ts';
import type { FunctionName } from '../shared/contract/names.ts';
import type { EventBus } from '../shared/ports/event-bus.ts';
import type { WakeUpSender } from '../shared/ports/inbox.ts';
import type { MetricSink } from '../shared/ports/metrics.ts';
import type { RunnerDeps } from './function-runner.ts';
import { createInProcessDeadLetters } from './in-process/dead-letters.ts';
import { createLifetime, mortal, mortalClock, mortalStream, type Lifetime } from './lifetime.ts';
import { portsWithin, type Identity } from './permissions/ports.ts';
import type { BuriedMessage, EnvironmentPorts, ForwarderPorts, SystemParts } from './system-parts.ts';

/** What all processes of a system share. */
export interface SharedParts {
  readonly parts: SystemParts;
  readonly bus: EventBus;
  readonly wakeUps: WakeUpSender;
  readonly metrics: MetricSink;
  readonly bury: (message: BuriedMessage) => void;
}

/** Lambda functions run in AWS only. */
const noFunctions: InvokeFunction = async functionName => ({
  kind: 'failed',
  message: `function ${functionName} cannot be run here: there is no AWS account`,
});

/** What stands outside of the table's row is refused, whatever is behind the port. */
const identityOf = ({ permissions, hooks = {} }: SystemParts, part: Component): Identity => ({
  user: `curfew:${part}`,
  permissions: permissions?.[part] ?? PERMISSIONS[part],
  ...(hooks.onPermissionUsed && { onUse: permission => hooks.onPermissionUsed?.(part, permission) }),
  onRefusal: message => hooks.onPermissionRefused?.(part, message),
});

/** The ports of one function environment, until `lifetime` ends. */
export function startEnvironment(
  { parts, bus, wakeUps, metrics, bury }: SharedParts,
  name: FunctionName,
  lifetime: Lifetime,
): RunnerDeps {
  const { records, dueIndex, scheduler, cluster, hooks = {} } = parts;
  const identity = identityOf(parts, name);
  const ports: EnvironmentPorts = {
    records,
    dueIndex,
    wakeUps,
    bus,
    audit: boundedAuditLog(parts.audit),
    metrics,
    kubernetes: parts.kubernetes(name),
    instances: parts.instances(name),
    deadLetters: createInProcessDeadLetters(bury),
    clock: scheduler,
    hooks:
      parts.callHooks?.(name) ??
      createHooks({ ...portsWithin({ bus }, identity), cluster, invokeFunction: noFunctions }),
  };
  const permitted = portsWithin(ports, identity);
  const seen = hooks.environment?.(permitted, name, lifetime) ?? permitted;
  const kubernetes = mortal(lifetime, seen.kubernetes);
  const clock = mortalClock(lifetime, seen.clock);
  return {
    cluster,
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

export interface RunningForwarder {
  readonly forwarder: Forwarder;
  readonly lifetime: Lifetime;
}

/** It has started when this returns. Ending its lifetime is a crash: nothing that is queued is published. */
export function startForwarder({
  parts,
  bus,
  metrics,
}: Pick<SharedParts, 'parts' | 'bus' | 'metrics'>): RunningForwarder {
  const { watch, scheduler, hooks = {}, cluster, random } = parts;
  const lifetime = createLifetime();
  const ports: ForwarderPorts = portsWithin({ watch, bus, clock: scheduler }, identityOf(parts, 'forwarder'));
  const seen = hooks.forwarder?.(ports, lifetime) ?? ports;
  const forwarder = createForwarder({
    watch: {
      resolve: (kind, signal) => mortal(lifetime, seen.watch).resolve(kind, signal),
      versionsOf: (kind, signal) => mortal(lifetime, seen.watch).versionsOf(kind, signal),
      list: (type, options) => mortal(lifetime, seen.watch).list(type, options),
      watch: (type, options) => mortalStream(lifetime, seen.watch.watch(type, options)),
    },
    bus: mortal(lifetime, seen.bus),
    clock: mortalClock(lifetime, seen.clock),
    metrics,
    config: { ...parts.forwarder, cluster },
    ...(random === undefined ? {} : { random }),
  });
  forwarder.start();
  return { forwarder, lifetime };
}
