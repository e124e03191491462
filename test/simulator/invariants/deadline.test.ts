import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { deadlineOf } from '../../../simulator/invariants/deadline.ts';
import { mirrorOf } from '../../builders/mirror.ts';

const DELETED = {
  resourceVersion: '1',
  creationTimestamp: '2024-11-01T14:00:00Z',
  deletionTimestamp: '2024-11-01T15:00:00Z',
};
const claim: KubernetesObject = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name: 'a-claim', uid: 'uid-of-claim', ...DELETED },
  spec: { terminationGracePeriod: '2m' },
  status: { providerID: 'aws:///z/i-a' },
};
const aNode = (name: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: `uid-of-${name}`, ...DELETED },
  spec: { providerID: `aws:///z/i-${name}` },
});

describe('the deadline of a Node whose NodeClaim went in the moment in which it was deleted', () => {
  it('is that of the NodeClaim', () => {
    const nodeclaims = [claim];
    const mirror = mirrorOf({ nodeclaims });
    const deadline = Date.parse('2024-11-01T15:02:00Z');
    expect(deadlineOf(claim, mirror)).toBe(deadline);
    nodeclaims.pop();
    expect(deadlineOf(aNode('a'), mirror)).toBe(deadline);
    expect(deadlineOf(aNode('b'), mirror)).toBeUndefined();
  });
});
