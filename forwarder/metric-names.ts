/** The forwarder's metrics: what is counted, and its dimensions (few and bounded: never an object's name). */
interface MetricDefinition {
  readonly help: string;
  readonly labels: readonly string[];
  /** For durations: a histogram instead of a counter. */
  readonly bucketsSeconds?: readonly number[];
}

export const METRICS = {
  EventsSeen: { help: 'Watch and list entries received.', labels: ['resource'] },
  EventsSuppressed: {
    help: 'Entries in which nothing changed that matters, heartbeats above all.',
    labels: ['resource'],
  },
  EventsCoalesced: { help: 'Changes merged into one that was still waiting for the bus.', labels: ['resource'] },
  EventsRepeated: {
    help: 'Changes made without a change: resync, pods watched, state of a watch.',
    labels: ['resource'],
  },
  EventsPublished: { help: 'Events accepted by the bus.', labels: ['kind', 'change'] },
  EventsRejected: { help: 'Events that the bus refused for good; each has an audit line.', labels: ['kind', 'code'] },
  PublishRetried: { help: 'Entries that will be sent again.', labels: ['code'] },
  PublishFailed: { help: 'PutEvents calls that failed as a whole.', labels: [] },
  ListsCompleted: { help: 'Complete lists, the first one included.', labels: ['resource'] },
  WatchExpired: {
    help: 'Watches whose resourceVersion was too old (410), each followed by a list.',
    labels: ['resource'],
  },
  WatchStarted: { help: 'Watches opened.', labels: ['resource'] },
  WatchFailed: { help: 'Lists and watches that ended in an error or in silence.', labels: ['resource'] },
  ObjectsDeletedUnseen: { help: 'Deletions found by a list instead of by the watch.', labels: ['resource'] },
  ConsumerFailed: {
    help: 'Objects whose handling threw; they are handled again after the next list.',
    labels: ['resource'],
  },
  PublishDelay: {
    help: 'From seeing the latest change of an object to the bus accepting it.',
    labels: [],
    bucketsSeconds: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

export type MetricName = keyof typeof METRICS;
