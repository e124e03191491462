/** The replacement of an unhealthy node: its name, its NodeClaim, and whether the NodePool has room for it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  pauseAfterFailure,
  unexpiredPause,
  replacementClaim,
  replacementName,
  replacementStatusOf,
  launchCapacityFault,
} from '../../../../../functions/repair/node/rule/replacement.ts';
import type { JsonObject, JsonValue, KubernetesObject } from '../../../../../shared/domain/kubernetes-object.ts';
import type { NodeView } from '../../../../../shared/domain/node.ts';
import type { NodeClaimView } from '../../../../../shared/domain/node-claim.ts';
import { at, aNodePool, NOW } from '../../../../builders/pool.ts';
import { aCondition, aPoolNode, claimOf, READY } from '../../../../builders/repair.ts';

describe('the name of a replacement', () => {
  it.each([
    ['names the pool and the unhealthy NodeClaim by the first 8 characters of its UID', 1, 'web-curfew-12345678'],
    ['counts further attempts', 2, 'web-curfew-12345678-2'],
  ])('%s', (_, attempt, name) => {
    expect(replacementName('web', '123456789', attempt)).toBe(name);
  });

  it('loses the end of a long name of a pool, and what cannot stand before a hyphen', () => {
    expect(replacementName(`${'a'.repeat(45)}.-b`, '12345678', 1)).toBe(`${'a'.repeat(45)}-curfew-12345678`);
    expect(replacementName(`a.-${'b'.repeat(43)}`, '12345678', 1)).toBe(`a.-${'b'.repeat(43)}-curfew-12345678`);
  });

  it('can be the value of a label, whatever the pool is called', () => {
    const pools = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/);
    fc.assert(
      fc.property(pools, fc.integer({ min: 1, max: 1_000 }), (pool, attempt) => {
        const name = replacementName(pool, '0a1b2c3d-4e5f', attempt);
        expect(name).toMatch(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
        expect(name.length).toBeLessThanOrEqual(63);
        const [start = ''] = name.split('-curfew-0a1b2c3d');
        expect(pool.startsWith(start)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});

describe('a replacement', () => {
  const NEW = aPoolNode('new', READY);
  const taint = (key: string) => ({ taints: [{ key, value: '' }] });
  const READY_CLAIM: Partial<NodeClaimView> = {
    name: 'r1',
    uid: 'uid-r1',
    annotations: { 'curfew.dev/replaces': 'uid-n1' },
    startupTaints: ['example.com/starting'],
    conditions: [aCondition('Initialized', 'True')],
  };
  const status = (claim: Partial<NodeClaimView> = {}, node: Partial<NodeView> = {}, uid: string | null = 'uid-r1') => {
    const there = claimOf(NEW, { ...READY_CLAIM, ...claim });
    return replacementStatusOf(uid === null ? { name: 'r1' } : { name: 'r1', uid }, {
      claims: new Map([
        ['uid-other', claimOf(aPoolNode('other'), { name: 'other', uid: 'uid-other' })],
        [there.uid, there],
      ]),
      nodesByName: new Map([[NEW.name, { ...NEW, ...node }]]),
    }).kind;
  };

  it.each<[string, string, Partial<NodeClaimView>, Partial<NodeView>]>([
    ['is ready when its NodeClaim is Initialized and its Node Ready', 'ready', {}, {}],
    ['may still have the taint of ours', 'ready', {}, taint('curfew.dev/reserved')],
    ['is not ready before it is Initialized', 'unready', { conditions: [aCondition('Initialized', 'False')] }, {}],
    ['is not ready of which nothing is told', 'unready', { conditions: [] }, {}],
    ['is not ready before its Node is', 'unready', {}, { conditions: [aCondition('Ready', 'False')] }],
    ['is not ready with a start-up taint', 'unready', {}, taint('example.com/starting')],
    ['is not ready with a taint of readiness', 'unready', {}, taint('readiness.k8s.io/network')],
    ['is not ready with each of them beside others', 'unready', {}, { taints: [...taint('a').taints, ...taint('readiness.k8s.io/b').taints] }], // prettier-ignore
    ['is launching before its NodeClaim names a Node', 'launching', { nodeName: undefined }, {}],
    ['I10 is launching where another instance has the name of its Node', 'launching', {}, { providerID: 'aws:///us-west-2a/i-9' }], // prettier-ignore
    ['is gone when it is being deleted', 'gone', { deletionTime: NOW }, {}],
    ['is gone where another NodeClaim has its name', 'gone', { uid: 'uid-later' }, {}],
  ])('%s', (_, kind, claim, node) => {
    expect(status(claim, node)).toBe(kind);
  });

  it('of which no UID is recorded is found by its name, and only with our mark', () => {
    expect(status({}, {}, null)).toBe('ready');
    expect(status({ annotations: {} }, {}, null)).toBe('gone');
    expect(status({ name: 'r2' }, {}, null)).toBe('gone');
  });
});

const LIKE: KubernetesObject = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: {
    name: 'default-x',
    uid: 'uid-claim',
    resourceVersion: '1',
    creationTimestamp: '2024-11-01T00:00:00Z',
    labels: { 'only-of-the-claim': 'yes' },
    annotations: {
      'karpenter.sh/nodepool-hash': '77',
      'karpenter.sh/nodepool-hash-version': 'v3',
      'karpenter.sh/nodeclaim-termination-timestamp': '2024-11-01T15:32:48Z',
    },
  },
  spec: {
    nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'of-the-claim' },
    expireAfter: '1h',
    requirements: [
      { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['m7g.large', 'm7g.xlarge'] },
      { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['us-west-2a', 'us-west-2b'] },
      { key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] },
      'no requirement',
      { operator: 'Exists' },
    ],
    resources: { requests: { cpu: '1900m', pods: '9' } },
  },
  status: { capacity: { cpu: '2', memory: '8Gi' } },
};
const NODE = aPoolNode('n1', undefined, {
  labels: {
    'topology.kubernetes.io/zone': 'us-west-2a',
    'karpenter.sh/capacity-type': 'spot',
    'kubernetes.io/arch': 'arm64',
    'kubernetes.io/os': 'linux',
  },
});
const TEMPLATE = {
  metadata: { labels: { team: 'web', number: 7 }, annotations: { note: 'of the pool' } },
  spec: {
    nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'of-the-pool' },
    expireAfter: '720h',
    terminationGracePeriod: '1h',
    startupTaints: [{ key: 'example.com/starting', effect: 'NoSchedule' }],
    taints: [{ key: 'gpu', effect: 'NoExecute' }],
    requirements: [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['any'] }],
  },
};
const claim = (template: JsonObject, like = LIKE, node = NODE) =>
  replacementClaim({ name: 'r1', pool: aNodePool({ template }), unhealthyClaim: like, node });

describe('the NodeClaim of a replacement', () => {
  it('is one of the NodePool, by its template, of the size of the unhealthy node and in its place', () => {
    expect(claim(TEMPLATE)).toEqual({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: {
        name: 'r1',
        labels: { team: 'web', 'karpenter.sh/nodepool': 'default' },
        annotations: {
          note: 'of the pool',
          'karpenter.sh/nodepool-hash': '77',
          'karpenter.sh/nodepool-hash-version': 'v3',
          'karpenter.sh/do-not-disrupt': 'true',
          'curfew.dev/replaces': 'uid-n1',
        },
        ownerReferences: [{ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: 'default', uid: 'uid-p' }],
      },
      spec: {
        nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'of-the-pool' },
        expireAfter: '720h',
        terminationGracePeriod: '1h',
        startupTaints: [{ key: 'example.com/starting', effect: 'NoSchedule' }],
        taints: [
          { key: 'gpu', effect: 'NoExecute' },
          { key: 'curfew.dev/reserved', effect: 'NoSchedule' },
        ],
        requirements: [
          { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['m7g.large', 'm7g.xlarge'] },
          { operator: 'Exists' },
          { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['us-west-2a'] },
          { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] },
          { key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] },
        ],
        resources: { requests: { cpu: '1900m', pods: '9' } },
      },
    });
  });

  it('takes the class of the unhealthy one where the template has none, and nothing else that the template leaves out', () => {
    const { spec } = claim({});
    expect(spec).toMatchObject({ nodeClassRef: { name: 'of-the-claim' } });
    expect(Object.keys(spec as JsonObject).toSorted()).toEqual(['nodeClassRef', 'requirements', 'resources', 'taints']);
  });

  it('asks for what the unhealthy one asks, of a node without labels too', () => {
    const { spec: _, ...bare } = LIKE;
    expect(claim({}, LIKE, aPoolNode('n1', undefined, { labels: {} })).spec).toMatchObject({
      requirements: [
        { key: 'node.kubernetes.io/instance-type' },
        { key: 'topology.kubernetes.io/zone', values: ['us-west-2a', 'us-west-2b'] },
        { operator: 'Exists' },
      ],
    });
    expect(claim({}, { ...bare, metadata: { ...LIKE.metadata, annotations: {} } })).toMatchObject({
      metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true', 'curfew.dev/replaces': 'uid-n1' } },
      spec: { taints: [{ key: 'curfew.dev/reserved' }] },
    });
    expect(Object.keys(claim({}, bare).spec as JsonObject).toSorted()).toEqual(['requirements', 'taints']);
  });

  it('keeps what the template says of disruption, for when the marks go', () => {
    const annotations = { 'karpenter.sh/do-not-disrupt': 'false' };
    expect(claim({ metadata: { annotations } }).metadata.annotations).toMatchObject({
      'karpenter.sh/do-not-disrupt': 'true',
      'curfew.dev/do-not-disrupt-of-pool': 'false',
    });
  });
});

interface Pool {
  readonly limits?: JsonObject;
  readonly used?: JsonObject;
  readonly replicas?: JsonValue;
  readonly unknown?: number;
  readonly claims?: number;
  readonly like?: KubernetesObject;
}

function fault({ limits, used, replicas, unknown = 0, claims = 3, like = LIKE }: Pool): string | undefined {
  const spec = { ...(limits && { limits }), ...(replicas !== undefined && { replicas }) };
  const pool = { ...aNodePool(spec), status: { ...(used && { resources: used }) } };
  return launchCapacityFault(pool, { unhealthyClaim: like, uncounted: unknown, claims });
}

const { status: _, ...NEVER_LAUNCHED } = LIKE;

describe('a NodePool', () => {
  it.each<[string, Pool]>([
    ['without limits', {}],
    ['whose limit is reached exactly', { limits: { cpu: '10' }, used: { cpu: '8' } }],
    ['whose nodes are one less than its limit', { limits: { nodes: '4' }, used: { nodes: '3' } }],
    ['of which no use is told yet', { limits: { cpu: '2' } }],
    ['whose limits are of nothing that the node has', { limits: { 'nvidia.com/gpu': '0' } }],
    ['that is static and misses a node', { replicas: 4 }],
    ['whose replicas are no number', { replicas: '1' }],
    ['with room for all that it does not know of', { limits: { cpu: '14' }, used: { cpu: '8' }, unknown: 2 }],
    [
      'by what a node asks that was never launched',
      { limits: { cpu: '9900m' }, used: { cpu: '8' }, like: NEVER_LAUNCHED },
    ],
    ['where the capacity is known and counts, and not the requests', { limits: { pods: '9' } }],
  ])('%s has room for one more', (_case, pool) => {
    expect(fault(pool)).toBeUndefined();
  });

  it.each<[string, Pool, string]>([
    ['that is static and has its nodes', { replicas: 3 }, 'NodePool default is static, and has its 3 nodes'],
    ['that is static and has more', { replicas: 2 }, 'NodePool default is static, and has its 2 nodes'],
    [
      'whose limit would be passed',
      { limits: { memory: '20Gi', cpu: '9999m' }, used: { cpu: '8' } },
      'limit cpu of NodePool default is "9999m": there is no room for one more',
    ],
    [
      'whose number of nodes would be passed',
      { limits: { nodes: 3 }, used: { nodes: '3' } },
      'limit nodes of NodePool default is 3: there is no room for one more',
    ],
    [
      'whose room goes to one that it does not know of yet',
      { limits: { cpu: '13' }, used: { cpu: '8' }, unknown: 2 },
      'limit cpu of NodePool default is "13": there is no room for one more',
    ],
    [
      'whose limit would be passed by what a node asks that was never launched',
      { limits: { cpu: '9899m' }, used: { cpu: '8' }, like: NEVER_LAUNCHED },
      'limit cpu of NodePool default is "9899m": there is no room for one more',
    ],
  ])('%s has none', (_case, pool, message) => {
    expect(fault(pool)).toBe(message);
  });

  it.each(['x', '', '-1', ' 1', '1 ', '1Xi', '1Kii', '1e', '1e123', '1.5.2', 'x1', true, null, ['1'], {}])(
    'with a limit that nobody can read has none: %j',
    cpu => {
      expect(fault({ limits: { cpu } })).toBe('limit cpu of NodePool default cannot be read');
    },
  );
});

/** Whether as much as that may be used under this limit. */
const holds = (limit: JsonValue, used: JsonValue): boolean =>
  fault({ limits: { disk: limit }, used: { disk: used } }) === undefined;

describe('quantities', () => {
  it.each<[JsonValue, JsonValue]>([
    ['1', '1000m'],
    [2, '2'],
    ['2.', '2'],
    ['1.5', '1500m'],
    ['1m', '1000u'],
    ['1m', '1000000n'],
    ['1k', '1000'],
    ['1M', '1000k'],
    ['1G', '1000M'],
    ['1T', '1000G'],
    ['1P', '1000T'],
    ['1E', '1000P'],
    ['1Ki', '1024'],
    ['1Mi', '1024Ki'],
    ['1Gi', '1024Mi'],
    ['1Ti', '1024Gi'],
    ['1Pi', '1024Ti'],
    ['1Ei', '1024Pi'],
    ['0.5Ki', '512'],
    ['12e2', '1200'],
    ['1E12', '1T'],
  ])('of one size are written as %s and %s', (one, other) => {
    expect(holds(one, other)).toBe(true);
    expect(holds(other, one)).toBe(true);
  });

  it.each<[string, string]>([
    ['999m', '1'],
    ['1', '1001m'],
    ['1k', '1Ki'],
    ['1.25', '1.26'],
    ['9', '10'],
  ])('differ: %s is less than %s', (less, more) => {
    expect(holds(more, less)).toBe(true);
    expect(holds(less, more)).toBe(false);
  });

  it.each<[string, string, string]>([
    ['1n', '1m', '0'],
    ['1.0001', '1001m', '1'],
    ['1.1', '1100m', '1099m'],
    ['1000001n', '2m', '1m'],
  ])('are rounded up to thousandths: %s is %s, and more than %s', (fine, whole, below) => {
    expect(holds(whole, fine)).toBe(true);
    expect(holds(fine, whole)).toBe(true);
    expect(holds(below, fine)).toBe(false);
  });
});

describe('after a launch that failed its pool launches nothing', () => {
  it('for 5 minutes, twice as long after each further one, and an hour at most', () => {
    let pause = pauseAfterFailure(undefined, NOW);
    const waits = [pause.until - NOW];
    for (let failure = 2; failure <= 6; failure++) {
      pause = pauseAfterFailure(pause, NOW);
      waits.push(pause.until - NOW);
    }
    expect(waits.map(wait => wait / 60_000)).toEqual([5, 10, 20, 40, 60, 60]);
    expect(pause.failures).toBe(6);
  });

  it('and knows of the failure until a day after the pause', () => {
    const pause = { failures: 1, until: at(5) };
    expect(unexpiredPause(pause, at(24 * 60 + 4.9))).toEqual(pause);
    expect(unexpiredPause(pause, at(24 * 60 + 5))).toBeUndefined();
  });
});
