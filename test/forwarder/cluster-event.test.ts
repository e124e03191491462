/** What the event of a Node says of its conditions. */
import { expect, it } from 'vitest';
import { toEntry } from '../../forwarder/cluster-event.ts';
import { merge } from '../../forwarder/queue-entries.ts';
import { clusterEventSchema } from '../../shared/contract/cluster-event.ts';
import type { ObjectChange } from '../../forwarder/tracker.ts';
import { aChange } from './builders.ts';

const eventOf = (change: ObjectChange) => clusterEventSchema.parse(toEntry(change, 'test').detail);
const node = (change: Partial<ObjectChange>): ObjectChange =>
  aChange({ subject: { kind: 'Node', apiVersion: 'v1', name: 'n1', uid: 'u1' }, change: 'Modified', ...change });
const BY_TIME = node({ changed: ['conditions'] });
const BY_STATUS = node({ changed: ['conditions', 'statuses'] });

it('says whether a status changed, and does not call the statuses a part', () => {
  expect(eventOf(BY_TIME)).toMatchObject({ changed: ['conditions'], statusChanged: false });
  expect(eventOf(BY_STATUS)).toMatchObject({ changed: ['conditions'], statusChanged: true });
});

it('says that one did where a change that waited with it was of a status, so that it may be as before', () => {
  for (const [older, newer] of [
    [BY_TIME, BY_STATUS],
    [BY_STATUS, BY_TIME],
  ] as const)
    expect(eventOf(merge(older, newer)).statusChanged).toBe(true);
  expect(eventOf(merge(BY_TIME, BY_TIME)).statusChanged).toBe(false);
});

it('says nothing of it in any other event', () => {
  for (const change of [
    node({ changed: ['labels'] }),
    node({ changed: [] }),
    node({ change: 'Added', changed: ['conditions', 'statuses'] }),
    node({ change: 'Deleted', changed: [] }),
    { ...BY_TIME, subject: { ...BY_TIME.subject, kind: 'BatchReset' } },
  ])
    expect(eventOf(change)).not.toHaveProperty('statusChanged');
});
