/** Mistakes in the forwarder. */
import { minutes } from '../../shared/domain/time.ts';
import { WatchExpired, type ClusterWatch, type WatchEvent } from '../../shared/ports/cluster-watch.ts';
import { laterEntriesAreRefused } from './fault.ts';
import type { Mutant } from './mutant.ts';

export const FORWARDER_MUTANTS: readonly Mutant[] = [
  {
    name: 'forwarder-drops-refused-entries',
    mistake: 'takes entries that the bus refused for published',
    breaks: ['I5'],
    scenario: 'drain-asked-on-the-node.yaml#drain-asked-on-the-node-and-by-a-monitor',
    fault: () => laterEntriesAreRefused(minutes(30)),
    mutation: {
      forwarder: ports => ({
        ...ports,
        bus: {
          async publish(entries) {
            await ports.bus.publish(entries);
            return entries.map(() => ({ kind: 'published' }));
          },
        },
      }),
    },
  },
  {
    name: 'forwarder-drops-failed-calls',
    mistake: 'logs that the bus could not be reached, and goes on',
    breaks: ['I5'],
    scenario: 'repair-survives-a-bus-outage.yaml#repair-survives-a-bus-outage',
    mutation: {
      forwarder: ports => ({
        ...ports,
        bus: {
          publish: entries =>
            ports.bus.publish(entries).catch(() => entries.map(() => ({ kind: 'published' as const }))),
        },
      }),
    },
  },
  {
    name: 'forwarder-ignores-deletions',
    mistake: 'does not pass on that an object is gone',
    breaks: ['I5'],
    scenario: 'drain-asked-on-the-node.yaml#drain-asked-on-the-node-and-by-a-monitor',
    mutation: {
      forwarder: ports => ({
        ...ports,
        watch: {
          ...methodsOfWatch(ports.watch),
          watch: (type, options) => withoutDeletions(ports.watch.watch(type, options)),
        },
      }),
    },
  },
  {
    name: 'forwarder-goes-on-from-a-version-that-is-gone',
    mistake: 'watches on from where it was when the API server says that its version has expired',
    breaks: ['I5'],
    scenario: 'cluster-restored.yaml#a-hold-that-the-cluster-has-forgotten',
    mutation: {
      forwarder: ports => ({
        ...ports,
        watch: {
          ...methodsOfWatch(ports.watch),
          watch: (type, options) => withoutExpiry(ports.watch.watch(type, options)),
        },
      }),
    },
  },
];

const methodsOfWatch = (watch: ClusterWatch): ClusterWatch => ({
  resolve: (kind, signal) => watch.resolve(kind, signal),
  versionsOf: (kind, signal) => watch.versionsOf(kind, signal),
  list: (type, options) => watch.list(type, options),
  watch: (type, options) => watch.watch(type, options),
});

async function* withoutExpiry(events: AsyncIterable<WatchEvent>): AsyncGenerator<WatchEvent> {
  try {
    yield* events;
  } catch (error) {
    if (!(error instanceof WatchExpired)) throw error;
  }
}

async function* withoutDeletions(events: AsyncIterable<WatchEvent>): AsyncGenerator<WatchEvent> {
  for await (const event of events) if (event.type !== 'DELETED') yield event;
}
