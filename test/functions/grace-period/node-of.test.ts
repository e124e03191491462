import { describe, expect, it } from 'vitest';
import { nodeOf } from '../../../functions/grace-period/node-of.ts';
import type { InboxMessage } from '../../../shared/contract/inbox-message.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';

const event = (kind: 'Pod' | 'Node' | 'NodePool', name: string, nodeName?: string): InboxMessage => ({
  kind: 'clusterEvent',
  event: {
    schemaVersion: 1,
    cluster: 'test',
    groupKey: name,
    eventKey: name,
    observedTime: '2024-11-01T15:00:00Z',
    changed: [],
    change: 'Modified',
    subject: { apiVersion: 'v1', kind, name, uid: `uid-${name}` },
    resourceVersion: '1',
    hints: { ...(nodeName !== undefined && { nodeName }) },
  },
});
const wakeUp = (kind: string, name: string): InboxMessage => ({
  kind: 'wakeUp',
  owner: 'grace-period',
  subject: { apiVersion: 'v1', kind, name },
  wakeTime: toEpochMs(0),
});

describe('the node of a message', () => {
  it.each([
    ['a pod', event('Pod', 'web-0', 'n1'), 'Node/n1'],
    ['a node', event('Node', 'n1'), 'Node/n1'],
    ['a wake-up', wakeUp('Node', 'n1'), 'Node/n1'],
    ['a pool of that name', event('NodePool', 'n1'), 'NodePool/n1'],
    ['a round', wakeUp('Round', 'n1'), 'Round/n1'],
    ['a tick', { kind: 'tick' }, 'tick'],
  ] satisfies [string, InboxMessage, string][])('%s', (_name, message, name) => {
    expect(nodeOf(message)).toBe(name);
  });
});
