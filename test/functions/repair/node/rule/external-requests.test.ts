/** The requests of other systems for nodes: those of NVSentinel, and Leases of medik8s. */
import { describe, expect, it } from 'vitest';
import { externalRequestsFor } from '../../../../../functions/repair/node/rule/other-work.ts';
import type { KubernetesObject } from '../../../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, seconds, toTimestamp } from '../../../../../shared/domain/time.ts';
import { aPoolNode, T } from '../../../../builders/repair.ts';

const NOW = addDuration(T, minutes(30));
const node = { ...aPoolNode('n1'), creationTime: T };

const withFields = (name: string, fields: Partial<KubernetesObject>, creationTime = NOW): KubernetesObject => ({
  apiVersion: 'example.com/v1',
  kind: 'RebootNode',
  ...fields,
  metadata: { name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: toTimestamp(creationTime) },
});

describe('a request of NVSentinel', () => {
  const of = (object: KubernetesObject): readonly (readonly [string, string])[] => [
    ...externalRequestsFor([node], [{ kind: 'RebootNode', object }], [], NOW),
  ];
  const answered = { conditions: [{ type: 'ExternalRemediationComplete', status: 'True' }] };
  const begun = { conditions: [{ type: 'ExternalRemediationComplete', status: 'False' }] };

  it.each<readonly [string, KubernetesObject, boolean]>([
    ['names its node', withFields('r', { spec: { nodeName: 'n1' } }), true],
    ['names its node in its health event', withFields('r', { spec: { healthEvent: { nodeName: 'n1' } } }), true],
    ['names another node', withFields('r', { spec: { nodeName: 'n2' } }), false],
    ['names none', withFields('r', { spec: { nodeName: 5 } }), false],
    ['has no spec', withFields('r', {}), false],
    ['is under way', withFields('r', { spec: { nodeName: 'n1' }, status: begun }), true],
    ['is answered', withFields('r', { spec: { nodeName: 'n1' }, status: answered }), false],
    ['is as old as the Node', withFields('r', { spec: { nodeName: 'n1' } }, T), true],
    ['is older than the Node', withFields('r', { spec: { nodeName: 'n1' } }, addDuration(T, seconds(-1))), false],
  ])('%s', (_, object, isForNode) => {
    expect(of(object)).toEqual(isForNode ? [['n1', 'RebootNode r']] : []);
  });

  it('counts where one of the times is not known', () => {
    const object = withFields('r', { spec: { nodeName: 'n1' } }, addDuration(T, seconds(-1)));
    const withoutTime = { ...object, metadata: { ...object.metadata, creationTimestamp: '' } };
    const requests = (each: KubernetesObject) => [{ kind: 'RebootNode', object: each }];
    expect(externalRequestsFor([node], requests(withoutTime), [], NOW).size).toBe(1);
    const unknown = { ...node, creationTime: undefined };
    expect(externalRequestsFor([unknown], requests(object), [], NOW).size).toBe(1);
  });
});

describe('a Lease of medik8s', () => {
  const of = (name: string, spec: KubernetesObject['spec']): readonly (readonly [string, string])[] => [
    ...externalRequestsFor([], [], [withFields(name, spec === undefined ? {} : { spec })], NOW),
  ];
  const held = { holderIdentity: 'nhc', renewTime: toTimestamp(NOW), leaseDurationSeconds: 60 };
  const renewedAgo = (ago: number) => ({ ...held, renewTime: toTimestamp(addDuration(NOW, seconds(-ago))) });

  it('is for the node of its name, as long as it lasts', () => {
    expect(of('node-n1', held)).toEqual([['n1', 'Lease node-n1 of nhc']]);
    expect(of('node-n1', renewedAgo(59))).toEqual([['n1', 'Lease node-n1 of nhc']]);
    expect(of('node-n1', renewedAgo(60))).toEqual([]);
  });

  it.each([
    ['of another name', 'pod-n1', held],
    ['that was released', 'node-n1', { ...held, holderIdentity: '' }],
    ['that was never renewed', 'node-n1', { ...held, renewTime: undefined }],
    ['without a duration', 'node-n1', { ...held, leaseDurationSeconds: undefined }],
    ['without a spec', 'node-n1', undefined],
  ] as const)('counts for nothing %s', (_, name, spec) => {
    expect(of(name, spec as KubernetesObject['spec'])).toEqual([]);
  });
});
