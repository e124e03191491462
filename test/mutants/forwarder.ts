/** Mistakes in the forwarder. */
import { minutes } from '../../shared/domain/time.ts';
import type { WatchEvent } from '../../shared/ports/cluster-watch.ts';
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
          resolve: (kind, signal) => ports.watch.resolve(kind, signal),
          versionsOf: (kind, signal) => ports.watch.versionsOf(kind, signal),
          list: (type, options) => ports.watch.list(type, options),
          watch: (type, options) => withoutDeletions(ports.watch.watch(type, options)),
        },
      }),
    },
  },
];

async function* withoutDeletions(events: AsyncIterable<WatchEvent>): AsyncGenerator<WatchEvent> {
  for await (const event of events) if (event.type !== 'DELETED') yield event;
}
