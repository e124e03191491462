import { describe, expect, it } from 'vitest';
import { projectNode } from '../../../forwarder/project.ts';
import { FUNCTION_NAMES } from '../../../shared/contract/names.ts';
import { nodePartsOfOthers } from '../../../shared/contract/node-parts.ts';

const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', uid: 'u1', resourceVersion: '1', creationTimestamp: '2024-11-01T15:00:00Z' },
};

describe('parts of a Node that concern other functions alone', () => {
  it('are parts that the forwarder tells apart', () => {
    const parts = new Set(Object.keys(projectNode(node).parts));
    for (const name of FUNCTION_NAMES)
      expect([...nodePartsOfOthers(name)].filter(part => !parts.has(part))).toEqual([]);
  });

  it.each([
    ['repair', ['drain', 'finalizers', 'protection', 'taints', 'unschedulable']],
    ['finalizer', ['bootID', 'conditions', 'drain', 'protection', 'taints', 'unschedulable']],
    ['grace-period', ['bootID', 'conditions', 'drain', 'finalizers', 'taints', 'unschedulable']],
  ] as const)('are for %s what it decides nothing by', (owner, expected) => {
    expect([...nodePartsOfOthers(owner)]).toEqual(expected);
  });
});
