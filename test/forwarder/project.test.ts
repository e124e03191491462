import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedParts, fingerprintOf, presentParts } from '../../forwarder/fingerprint.ts';
import { NO_WATCHED_NODES, podInterest } from '../../forwarder/project.ts';
import { WATCHED_RESOURCES } from '../../forwarder/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { aConfigMap, aNode, aNodeClaim, aNodePool, aPod, aPolicy, READY_CONDITION } from './builders.ts';

const projectOf = (kind: string) => {
  const resource = WATCHED_RESOURCES.find(watched => watched.kind === kind);
  if (resource === undefined) throw new Error(`${kind} is not watched`);
  return resource.project;
};

/** Names of the parts in which two versions of an object differ for everybody but the cluster itself. */
function difference(before: KubernetesObject, after: KubernetesObject): readonly string[] {
  const project = projectOf(before.kind);
  const { parts } = project(after);
  return changedParts(parts, fingerprintOf(project(before).parts), fingerprintOf(parts));
}

const condition = (overrides: object) => ({ status: { conditions: [{ ...READY_CONDITION, ...overrides }] } });
const meta = (metadata: Partial<KubernetesObject['metadata']>) => ({ metadata });
const DEADLINE = { annotations: { 'karpenter.sh/nodeclaim-termination-timestamp': '2024-11-01T15:00:00Z' } };
const nodeSpec = {
  providerID: 'aws:///us-west-2a/i-0abc',
  taints: [{ key: 'example.com/slow', effect: 'NoSchedule' }],
};
const labels = { 'karpenter.sh/nodepool': 'default', 'kubernetes.io/hostname': 'n1' };

describe('what is a change', () => {
  it.each<[string, KubernetesObject, KubernetesObject, readonly string[]]>([
    ['a heartbeat', aNode(), aNode(condition({ lastHeartbeatTime: '2024-11-01T15:00:00Z' })), []],
    ['a condition message', aNode(), aNode(condition({ message: 'other words' })), []],
    ['a condition status', aNode(), aNode(condition({ status: 'False' })), ['conditions', 'statuses']],
    ['a condition reason', aNode(), aNode(condition({ reason: 'KubeletNotReady' })), ['conditions']],
    ['a transition time', aNode(), aNode(condition({ lastTransitionTime: '2024-11-01T15:00:00Z' })), ['conditions']],
    ['a condition less', aNode(), aNode({ status: {} }), ['conditions', 'statuses']],
    ['images on a node', aNode(), aNode({ status: { conditions: [READY_CONDITION], images: [] } }), []],
    ['a resourceVersion', aNode(), aNode(meta({ resourceVersion: '2' })), []],
    ['a taint', aNode(), aNode({ spec: { ...nodeSpec, taints: [] } }), ['taints']],
    [
      'a taint value',
      aNode(),
      aNode({ spec: { ...nodeSpec, taints: [{ key: 'example.com/slow', value: 'very', effect: 'NoSchedule' }] } }),
      ['taints'],
    ],
    [
      'when a taint was added',
      aNode(),
      aNode({
        spec: {
          ...nodeSpec,
          taints: [{ key: 'example.com/slow', effect: 'NoSchedule', timeAdded: '2024-11-01T15:00:00Z' }],
        },
      }),
      [],
    ],
    ['a cordon', aNode(), aNode({ spec: { ...nodeSpec, unschedulable: true } }), ['unschedulable']],
    ['unschedulable written as false', aNode(), aNode({ spec: { ...nodeSpec, unschedulable: false } }), []],
    ['a providerID', aNode(), aNode({ spec: { ...nodeSpec, providerID: 'aws:///us-west-2a/i-0def' } }), ['providerID']],
    ['the pool label', aNode(), aNode(meta({ labels: { ...labels, 'karpenter.sh/nodepool': 'gpu' } })), ['labels']],
    [
      'the zone label',
      aNode(),
      aNode(meta({ labels: { ...labels, 'topology.kubernetes.io/zone': 'us-west-2b' } })),
      ['labels'],
    ],
    [
      "NVSentinel's state label",
      aNode(),
      aNode(meta({ labels: { ...labels, 'dgxc.nvidia.com/nvsentinel-state': 'draining' } })),
      ['drain'],
    ],
    ['a label of somebody else', aNode(), aNode(meta({ labels: { ...labels, 'nvidia.com/gfd.timestamp': '1' } })), []],
    [
      'a label whose domain only looks like ours',
      aNode(),
      aNode(meta({ labels: { ...labels, 'notkarpenter.sh/x': '1' } })),
      [],
    ],
    ['a mark of a drain', aNode(), aNode(meta({ annotations: { 'curfew.dev/drain': '{}' } })), ['drain']],
    [
      'a drain that waits for the pods',
      aNode(meta({ annotations: { 'curfew.dev/watch-pods': 'finalizer' } })),
      aNode(meta({ annotations: { 'curfew.dev/watch-pods': 'drain,finalizer' } })),
      ['drain'],
    ],
    [
      'a termination that waits for the pods',
      aNode(meta({ annotations: { 'curfew.dev/watch-pods': 'drain' } })),
      aNode(meta({ annotations: { 'curfew.dev/watch-pods': 'drain,finalizer' } })),
      ['annotations', 'drain'],
    ],
    ['a hold', aNode(), aNode(meta({ annotations: { 'karpenter.sh/do-not-disrupt': 'true' } })), ['protection']],
    ['its mark', aNode(), aNode(meta({ annotations: { 'curfew.dev/protected-until': 'indefinite' } })), ['protection']],
    ['a veto', aNode(), aNode(meta({ annotations: { 'curfew.dev/do-not-repair': 'true' } })), ['annotations']],
    [
      "NVSentinel's quarantine",
      aNode(),
      aNode(meta({ annotations: { quarantineHealthEvent: '[]' } })),
      ['annotations'],
    ],
    [
      'an annotation of somebody else',
      aNode(),
      aNode(meta({ annotations: { 'projectcalico.org/IPv4Address': '10.0.0.1' } })),
      [],
    ],
    ['a finalizer', aNode(), aNode(meta({ finalizers: ['curfew.dev/termination'] })), ['finalizers']],
    ['the order of finalizers', aNode(meta({ finalizers: ['a', 'b'] })), aNode(meta({ finalizers: ['b', 'a'] })), []],
    ['a deletion', aNode(), aNode(meta({ deletionTimestamp: '2024-11-01T15:00:00Z' })), ['deletionTimestamp']],
    [
      'two things at once',
      aNode(),
      aNode({ ...condition({ status: 'False' }), spec: {} }),
      ['conditions', 'providerID', 'statuses', 'taints'],
    ],

    [
      "a NodeClaim's condition, which nothing reads and Karpenter flips with every pod",
      aNodeClaim({ status: { nodeName: 'n1', conditions: [READY_CONDITION] } }),
      aNodeClaim({ status: { nodeName: 'n1', conditions: [{ type: 'Consolidatable', status: 'True' }] } }),
      [],
    ],
    ["a NodeClaim's node and instance", aNodeClaim(), aNodeClaim({ status: {} }), ['nodeName', 'providerID']],
    [
      "a NodeClaim's deadline, while it is being deleted",
      aNodeClaim(meta({ deletionTimestamp: '2024-11-01T15:00:00Z' })),
      aNodeClaim(meta({ deletionTimestamp: '2024-11-01T15:00:00Z', ...DEADLINE })),
      ['annotations'],
    ],
    ['the same before its deletion, which is what makes it count', aNodeClaim(), aNodeClaim(meta(DEADLINE)), []],
    ["a NodeClaim's grace period", aNodeClaim(), aNodeClaim({ spec: {} }), ['terminationGracePeriod']],

    ["a NodePool's spec", aNodePool(), aNodePool({ spec: { disruption: { budgets: [] } } }), ['spec']],
    ['the order of its keys', aNodePool(), aNodePool({ spec: { repair: {}, disruption: { budgets: [] } } }), []],
    ["a NodePool's resource count", aNodePool(), aNodePool({ status: { resources: { nodes: '4' } } }), []],
    [
      'any label of a NodePool, since policies select by it',
      aNodePool(),
      aNodePool(meta({ labels: { team: 'a' } })),
      ['labels'],
    ],

    ["a policy's spec", aPolicy(), aPolicy({ spec: { mode: 'Enforce' } }), ['spec']],
    ["a policy's status, which is ours", aPolicy(), aPolicy({ status: { conditions: [{ type: 'Ready' }] } }), []],

    ['the configuration', aConfigMap(), aConfigMap({ data: { 'config.toml': 'x = 1' } }), ['data']],
    ['a template', aConfigMap(), aConfigMap({ data: { 'config.toml': '', 'drain.yaml': '' } }), ['data']],
    ['an annotation of the ConfigMap', aConfigMap(), aConfigMap(meta({ annotations: { a: 'b' } })), []],

    [
      "a pod's protection",
      aPod(),
      aPod(meta({ annotations: { 'karpenter.sh/do-not-disrupt': '2h' } })),
      ['annotations'],
    ],
    [
      'another annotation of a pod',
      aPod(),
      aPod(meta({ annotations: { 'karpenter.sh/do-not-disrupt': '1h', a: 'b' } })),
      [],
    ],
    ['a pod that ends', aPod(), aPod({ status: { phase: 'Failed', startTime: '2024-11-01T14:02:00Z' } }), ['phase']],
    [
      'a pod that starts running',
      aPod({ status: { phase: 'Pending', startTime: '2024-11-01T14:02:00Z' } }),
      aPod(),
      [],
    ],
    ["a pod's node", aPod({ spec: {} }), aPod(), ['nodeName']],
    ["a pod's start", aPod({ status: { phase: 'Running' } }), aPod(), ['startTime']],
    ["a pod's deletion", aPod(), aPod(meta({ deletionTimestamp: '2024-11-01T15:00:00Z' })), ['deletionTimestamp']],
  ])('%s', (_what, before, after, expected) => {
    expect(difference(before, after)).toEqual(expected);
  });

  it('does not depend on the order of conditions', () => {
    const pressure = { type: 'DiskPressure', status: 'False' };
    const before = aNode({ status: { conditions: [READY_CONDITION, pressure] } });
    expect(difference(before, aNode({ status: { conditions: [pressure, READY_CONDITION] } }))).toEqual([]);
  });
});

describe('projection', () => {
  it('never throws, whatever spec, status and data are', () => {
    const kinds = WATCHED_RESOURCES.map(({ kind }) => kind);
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.jsonValue(), fc.jsonValue(), (kind, spec, status) => {
        const { parts } = projectOf(kind)({ ...aNode({ spec, status, data: status }), kind });
        expect(changedParts(parts, fingerprintOf(parts), fingerprintOf(structuredClone(parts)))).toEqual([]);
        expect(presentParts(parts)).toEqual(presentParts(parts).toSorted());
      }),
    );
  });

  it('does not depend on lists that a page comes without', () => {
    const list = [{ names: ['registry.example/web:1'] }];
    for (const object of [aNode(), aNodeClaim(), aPod()]) {
      const { unread = [] } = WATCHED_RESOURCES.find(({ kind }) => kind === object.kind) ?? {};
      const lists = Object.fromEntries(unread.map(name => [name, list]));
      const { metadata, status } = object;
      const whole = { ...object, metadata: { ...metadata, managedFields: list }, status: { ...status, ...lists } };
      expect(projectOf(object.kind)(whole)).toEqual(projectOf(object.kind)(object));
    }
  });

  it('hints at the pool, the node and the instance', () => {
    const hints = { nodePool: 'default', nodeName: 'n1', providerID: 'aws:///us-west-2a/i-0abc' };
    expect(projectOf('Node')(aNode()).hints).toEqual(hints);
    expect(projectOf('NodeClaim')(aNodeClaim()).hints).toEqual(hints);
    expect(projectOf('NodePool')(aNodePool()).hints).toEqual({ nodePool: 'default' });
    expect(projectOf('Pod')(aPod()).hints).toEqual({ nodeName: 'n1' });
  });

  it('leaves out a hint that is too long to be real', () => {
    expect(projectOf('Node')(aNode({ spec: { providerID: 'x'.repeat(2000) } })).hints).not.toHaveProperty('providerID');
  });

  it('remembers an object in less than a quarter of its size', () => {
    for (const object of [aNode(), aNodeClaim(), aPod()]) {
      const fingerprint = fingerprintOf(projectOf(object.kind)(object).parts);
      expect(fingerprint.length).toBeLessThan(JSON.stringify(object).length / 4);
    }
  });
});

describe('podInterest', () => {
  it.each([
    ['annotated', aPod(), new Set<string>(), 'itself'],
    [
      'annotated with nonsense',
      aPod(meta({ annotations: { 'karpenter.sh/do-not-disrupt': '' } })),
      new Set<string>(),
      'itself',
    ],
    ['plain', aPod(meta({ annotations: {} })), new Set<string>(), undefined],
    ['plain, on a node that is drained', aPod(meta({ annotations: {} })), new Set(['n1']), 'node'],
    ['plain, on another node', aPod(meta({ annotations: {} })), new Set(['n2']), undefined],
    ['plain, on no node', aPod({ ...meta({ annotations: {} }), spec: {} }), new Set(['n1']), undefined],
  ])('%s', (_what, pod, watchedNodes, expected) => {
    expect(podInterest(pod, { watchedNodes })).toBe(expected);
  });

  it('knows no drains by default', () => {
    expect(NO_WATCHED_NODES.watchedNodes.size).toBe(0);
  });
});
