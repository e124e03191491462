/** The messages that grace-period gets of a node and its pods, and how a node came to be held. */
import { clusterEvent, wakeUpOfNode } from '../messages.ts';
import type { Earlier, Message } from '../situation.ts';
import { podRef, removed, START } from './changes.ts';

export const DO_NOT_DISRUPT = 'karpenter.sh/do-not-disrupt';
export const MARK = 'curfew.dev/protected-until';

export const podEvent = (name: string, change: 'Added' | 'Modified' | 'Deleted'): Message =>
  clusterEvent('grace-period', {
    kind: 'Pod',
    apiVersion: 'v1',
    namespace: 'prod',
    name,
    uid: `uid-${name}`,
    change,
    hints: { nodeName: 'n1' },
  });

export const nodeEvent = (change: 'Added' | 'Modified' | 'Deleted', uid = 'uid-n1'): Message =>
  clusterEvent('grace-period', {
    kind: 'Node',
    apiVersion: 'v1',
    name: 'n1',
    uid,
    change,
    changed: ['annotations'],
    hints: { nodePool: 'default', nodeName: 'n1' },
  });

export const WAKE_UP = wakeUpOfNode('grace-period', 'n1');

/** An annotation that a run put back and died before it could count it. */
const UNCOUNTED = ['effort'];
export const BASE = { concern: 'grace-period', start: START, uncounted: UNCOUNTED } as const;
/** The node is held for pod p1. */
export const HELD: readonly Earlier[] = [{ kind: 'message', message: podEvent('p1', 'Added') }];
export const P1_DELETED = removed('pod p1 deleted', podRef('p1'), 'A');

export const annotation = (value: string | null): { metadata: { annotations: Record<string, string | null> } } => ({
  metadata: { annotations: { [DO_NOT_DISRUPT]: value } },
});
