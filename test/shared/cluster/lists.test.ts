import fc from 'fast-check';
import { expect, it } from 'vitest';
import { projectNode, projectNodeClaim, projectPod } from '../../../shared/cluster/lists.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { readNodeClaim } from '../../../shared/domain/node-claim.ts';
import { readNode } from '../../../shared/domain/node.ts';
import { readPod } from '../../../shared/domain/pod.ts';

const some = (...values: unknown[]): fc.Arbitrary<unknown> => fc.oneof(fc.constantFrom(...values), fc.jsonValue());
const part = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> =>
  fc.record(fields, { requiredKeys: [] });
const conditions = some([{ type: 'Ready', status: 'False', lastTransitionTime: '2024-11-01T15:00:00Z', reason: 'r' }]);
const containers = some([{ name: 'c', env: [{ name: 'A' }], resources: { limits: { 'nvidia.com/gpu': '1' } } }]);

const anObject: fc.Arbitrary<KubernetesObject> = fc
  .record(
    {
      labels: fc.constantFrom(undefined, { 'karpenter.sh/nodepool': 'p' }),
      annotations: fc.constantFrom(undefined, { a: 'b' }),
      spec: part({
        providerID: some('aws:///a/i-1'),
        nodeName: some('n1'),
        terminationGracePeriod: some('1h'),
        terminationGracePeriodSeconds: some(30),
        priorityClassName: some('system-node-critical'),
        tolerations: some([{ key: 'k', operator: 'Exists' }]),
        containers,
        initContainers: containers,
        volumes: some([
          { name: 'v', persistentVolumeClaim: { claimName: 'c' } },
          { name: 'w', ephemeral: {} },
        ]),
      }),
      status: part({
        providerID: some('aws:///a/i-1'),
        nodeName: some('n1'),
        phase: some('Running'),
        startTime: some('2024-11-01T15:00:00Z'),
        nodeInfo: some({ bootID: 'b', kernelVersion: 'k' }),
        conditions,
        images: some([{ names: ['x'] }]),
      }),
    },
    { requiredKeys: [] },
  )
  .map(({ labels, annotations, ...rest }) => {
    const metadata = {
      name: 'o',
      namespace: 'd',
      uid: 'u',
      resourceVersion: '7',
      creationTimestamp: '2024-11-01T14:00:00Z',
    };
    const kept = { ...metadata, ...(labels && { labels }), ...(annotations && { annotations }) };
    return { apiVersion: 'v1', kind: 'Node', metadata: kept, ...rest } as KubernetesObject;
  });

it('what is kept of a listed object reads as the whole does', () => {
  fc.assert(
    fc.property(anObject, object => {
      expect(readNode(projectNode(object))).toEqual(readNode(object));
      expect(readNodeClaim(projectNodeClaim(object))).toEqual(readNodeClaim(object));
      expect(readPod(projectPod(object))).toEqual(readPod(object));
    }),
  );
});

it('what field managers and kubectl note for themselves is not kept', () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', 'curfew.dev/do-not-repair': 'true' };
  const metadata = { name: 'n', uid: 'u', resourceVersion: '1', creationTimestamp: '2024-11-01T14:00:00Z' };
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { ...metadata, annotations, managedFields: [{ manager: 'kubelet' }] },
    spec: { providerID: 'aws:///a/i-1', taints: [{ key: 'a', effect: 'NoSchedule' }], podCIDR: '10.0.0.0/24' },
    status: { images: [{ names: ['x'] }], conditions: [] },
  } as unknown as KubernetesObject;
  expect(projectNode(node)).toEqual({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { ...metadata, annotations: { 'curfew.dev/do-not-repair': 'true' } },
    spec: { providerID: 'aws:///a/i-1', taints: [{ key: 'a', effect: 'NoSchedule' }] },
    status: { conditions: [], nodeInfo: {} },
  });
});
