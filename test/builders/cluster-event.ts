import type { InboxMessage, WatchedEvent } from '../../shared/contract/inbox-message.ts';

/** The message of a change of an object, as the forwarder publishes it. */
export function clusterEvent(
  event: Pick<WatchedEvent, 'subject'> & Partial<WatchedEvent>,
): Extract<InboxMessage, { kind: 'clusterEvent' }> {
  return {
    kind: 'clusterEvent',
    event: {
      schemaVersion: 1,
      cluster: 'test',
      change: 'Modified',
      resourceVersion: '1',
      changed: [],
      hints: {},
      groupKey: event.subject.name,
      eventKey: 'k',
      observedTime: '2024-11-01T15:00:00.000Z',
      ...event,
    },
  };
}
