/**
 * Calls that take time, as all do outside of simulations: the clock has gone on when an answer comes. Without it virtual time stands still
 * through a whole run of a function, and a clock that is read too late shows nowhere.
 */
import { toDurationMs, type DurationMs } from '../shared/domain/time.ts';
import { aroundCalls } from '../runtime/around-calls.ts';
import { never, type Lifetime } from '../runtime/lifetime.ts';
import type { Scheduler } from '../runtime/scheduler.ts';
import type { EnvironmentPorts, ForwarderPorts } from '../runtime/system-parts.ts';

export interface CallTime {
  /** From the call to its answer; the call takes effect halfway. */
  readonly duration: DurationMs;
  readonly scheduler: Scheduler;
  /** Of the process that calls. */
  readonly lifetime: Lifetime;
}

/** The ports of one function environment. */
export function slowEnvironment(ports: EnvironmentPorts, time: CallTime): EnvironmentPorts {
  return {
    ...ports,
    kubernetes: slow(ports.kubernetes, time),
    records: slow(ports.records, time),
    dueIndex: slow(ports.dueIndex, time),
    wakeUps: slow(ports.wakeUps, time),
    bus: slow(ports.bus, time),
    instances: slow(ports.instances, time),
    hooks: slow(ports.hooks, time),
    deadLetters: slow(ports.deadLetters, time),
  };
}

/** The ports of one forwarder process. What a watch tells comes at once. */
export function slowForwarder({ watch, bus, clock }: ForwarderPorts, time: CallTime): ForwarderPorts {
  const { list, resolve, versionsOf } = slow(
    { list: watch.list.bind(watch), resolve: watch.resolve.bind(watch), versionsOf: watch.versionsOf.bind(watch) },
    time,
  );
  return {
    watch: { list, resolve, versionsOf, watch: (type, options) => watch.watch(type, options) },
    bus: slow(bus, time),
    clock,
  };
}

/** The port, whose methods must all return promises. */
function slow<Port extends object>(port: Port, { duration, scheduler, lifetime }: CallTime): Port {
  const there = toDurationMs(Math.floor(duration / 2));
  const back = toDurationMs(duration - there);
  return aroundCalls(port, async ({ proceed }) => {
    await scheduler.sleep(there);
    // The time-out of the function may have ended it meanwhile.
    if (!lifetime.alive) return await never();
    try {
      return await proceed();
    } finally {
      await scheduler.sleep(back);
    }
  });
}
