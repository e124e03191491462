/** The ports of functions and of the forwarder, with faults. */
import { toDurationMs, addDuration } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { ClusterWatch, WatchEvent } from '../../shared/ports/cluster-watch.ts';
import type { EventBus } from '../../shared/ports/event-bus.ts';
import type { DueIndex } from '../../shared/ports/record-store.ts';
import type { EnvironmentPorts, ForwarderPorts } from '../../runtime/system-parts.ts';
import { never } from '../../runtime/lifetime.ts';
import type { Random } from '../random.ts';
import { withFaults, type FaultContext, type PortFaults } from './calls.ts';
import type { FaultInjector } from './injector.ts';
import { WATCH_FAULTS } from './mix.ts';

const CONFLICT = { kind: 'conflict', message: 'the object has been modified (injected)' } as const;

const API: PortFaults = {
  name: 'api',
  writes: ['create', 'patch', 'delete', 'evict'],
  conflict: method => (method === 'patch' || method === 'delete' ? CONFLICT : undefined),
};
const STORE: PortFaults = { name: 'store', writes: ['put', 'delete'] };
const INDEX: PortFaults = { name: 'index', writes: [] };
const QUEUE: PortFaults = { name: 'queue', writes: ['send'] };
const DEAD_LETTERS: PortFaults = { name: 'dead letters', writes: ['park'] };
const CLOUD: PortFaults = { name: 'cloud', writes: ['terminate', 'reboot', 'terminateInAutoScalingGroup'] };
const HOOKS: PortFaults = { name: 'hooks', writes: ['invoke'] };
const BUS: PortFaults = { name: 'bus', writes: ['publish'] };
const LIST: PortFaults = { name: 'api', writes: [] };

/** The ports of one function environment. Its clock is off by a constant of its own. */
export function faultyEnvironment(ports: EnvironmentPorts, context: FaultContext, random: Random): EnvironmentPorts {
  return {
    ...ports,
    kubernetes: withFaults(ports.kubernetes, API, context),
    records: withFaults(ports.records, STORE, context),
    dueIndex: withFaults(staleIndex(ports.dueIndex, context.injector), INDEX, context),
    wakeUps: withFaults(ports.wakeUps, QUEUE, context),
    bus: faultyBus(ports.bus, context),
    instances: withFaults(ports.instances, CLOUD, context),
    hooks: withFaults(ports.hooks, HOOKS, context),
    deadLetters: withFaults(ports.deadLetters, DEAD_LETTERS, context),
    clock: skewedClock(ports.clock, context.injector, random),
  };
}

/** The ports of one forwarder process. */
export function faultyForwarder(
  ports: ForwarderPorts,
  context: FaultContext,
  random: Random,
  compact: () => void,
): ForwarderPorts {
  return {
    watch: faultyWatch(ports.watch, context, compact),
    bus: faultyBus(ports.bus, context),
    clock: skewedClock(ports.clock, context.injector, random),
  };
}

function skewedClock(clock: Clock, injector: FaultInjector, random: Random): Clock {
  const { behind, ahead } = injector.mix.clockSkew;
  const skew = toDurationMs(random.integer(0, behind + ahead) - behind);
  return {
    now: () => (injector.active ? addDuration(clock.now(), skew) : clock.now()),
    sleep: (duration, signal) => clock.sleep(duration, signal),
  };
}

/** The index is eventually consistent: a record may not be in it yet. */
function staleIndex(index: DueIndex, injector: FaultInjector): DueIndex {
  return {
    shardCount: index.shardCount,
    async queryDue(shard, before, options) {
      const page = await index.queryDue(shard, before, options);
      return { ...page, records: page.records.filter(() => !injector.happens('staleIndex')) };
    },
  };
}

/** Single entries are refused, every other one of them although it was taken. */
function faultyBus(bus: EventBus, context: FaultContext): EventBus {
  const { injector } = context;
  let refusals = 0;
  const partial: EventBus = {
    async publish(entries) {
      const refused = entries.map(() => injector.happens('busEntry'));
      const taken = refused.map(isRefused => !isRefused || (refusals += 1) % 2 === 0);
      const outcomes = await bus.publish(entries.filter((_, index) => taken[index]));
      const remaining = outcomes.values();
      return entries.map((_, index) => {
        const outcome = taken[index] === true ? remaining.next().value : undefined;
        return refused[index] === true || outcome === undefined ? { kind: 'retry', code: 'InternalFailure' } : outcome;
      });
    },
  };
  return withFaults(partial, BUS, context);
}

function faultyWatch(watch: ClusterWatch, context: FaultContext, compact: () => void): ClusterWatch {
  const { list, resolve, versionsOf } = withFaults(
    {
      list: watch.list.bind(watch),
      resolve: watch.resolve.bind(watch),
      versionsOf: watch.versionsOf.bind(watch),
    },
    LIST,
    context,
  );
  return {
    list,
    resolve,
    versionsOf,
    watch: (type, options) => faultyStream(watch.watch(type, options), context.injector, compact),
  };
}

function faultyStream(
  stream: AsyncIterable<WatchEvent>,
  injector: FaultInjector,
  compact: () => void,
): AsyncIterable<WatchEvent> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = stream[Symbol.asyncIterator]();
      const end = async (): Promise<void> => {
        await iterator.return?.();
      };
      return {
        async next() {
          const event = await iterator.next();
          switch (injector.oneOf(WATCH_FAULTS)) {
            case 'watchExpired':
              compact();
              await end();
              throw new RetryableError('watching: connection lost (injected)', { reason: 'ECONNRESET' });
            case 'watchDrop':
              await end();
              throw new RetryableError('watching: connection lost (injected)', { reason: 'ECONNRESET' });
            case 'watchStall':
              await end();
              return await never();
            case undefined:
              return event;
          }
        },
        async return() {
          await end();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
