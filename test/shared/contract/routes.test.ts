import { describe, expect, it } from 'vitest';
import { customResource, DRAIN_RESOURCES, WATCHED_RESOURCES, type KindRole } from '../../../forwarder/resources.ts';
import { compileEventPattern } from '../../../packages/local-aws/src/event-pattern.ts';
import { heartbeatPattern, matchesPattern, ROUTES } from '../../../shared/contract/routes.ts';

const event = (detailType: string, detail: Record<string, unknown>, source = 'curfew.forwarder') => ({
  source,
  'detail-type': detailType,
  detail,
});
const targets = (sent: ReturnType<typeof event>): readonly string[] =>
  ROUTES.filter(({ pattern }) => matchesPattern(pattern('prod'), sent)).map(({ target }) => target);

/** An object of this kind of the cluster, of which these parts changed. */
const changed = (kind: string, parts: readonly string[], rest: Record<string, unknown> = {}) =>
  event(`${kind}Changed`, {
    cluster: 'prod',
    change: 'Modified',
    subject: { kind },
    changed: parts,
    hints: {},
    ...rest,
  });

/** Every name of a part in the patterns, however deep. */
function partsIn(pattern: unknown): readonly string[] {
  if (typeof pattern !== 'object' || pattern === null) return [];
  return Object.entries(pattern).flatMap(([field, value]) => (field === 'changed' ? value : partsIn(value)));
}
/** Every part that the forwarder tells apart of some object. */
function knownParts(): ReadonlySet<string> {
  const metadata = { name: 'n', uid: 'u', resourceVersion: '1', creationTimestamp: '2024-11-01T15:00:00Z' };
  const wanted = { group: 'g', version: 'v1', kind: 'Thing' };
  const type = { group: 'g', version: 'v1', resource: 'things' };
  const roles: readonly KindRole[] = ['finalizer', 'drain', 'repair', 'hook'];
  const resources = [
    ...WATCHED_RESOURCES,
    ...DRAIN_RESOURCES,
    ...roles.map(role => customResource(wanted, type, role)),
  ];
  return new Set(
    resources.flatMap(({ project }) => Object.keys(project({ apiVersion: 'v1', kind: 'Thing', metadata }).parts)),
  );
}

describe('routes', () => {
  it('brings an event that cannot be read to the functions, which park it', () => {
    expect(targets(event('NodeClaimChanged', { cluster: 'prod', schemaVersion: 99 }))).toContain('repair');
  });

  it("take the events of the cluster's own forwarder", () => {
    expect(targets(changed('NodeClaim', ['labels']))).toEqual(['finalizer', 'repair']);
    expect(targets(changed('Node', ['labels']))).toEqual(['finalizer', 'drain', 'repair', 'grace-period']);
  });

  it.each([
    ['another cluster', event('NodeChanged', { cluster: 'staging' })],
    ['no cluster', event('NodeChanged', {})],
    ['another source', event('NodeChanged', { cluster: 'prod' }, 'somebody')],
    ['another kind', event('SecretChanged', { cluster: 'prod' })],
  ])('leave those of %s alone', (_, sent) => {
    expect(targets(sent)).toEqual([]);
  });

  it("count no other cluster's heartbeat", () => {
    expect(matchesPattern(heartbeatPattern('prod'), event('ForwarderHeartbeat', { cluster: 'prod' }))).toBe(true);
    expect(matchesPattern(heartbeatPattern('prod'), event('ForwarderHeartbeat', { cluster: 'staging' }))).toBe(false);
  });

  it('tell of the pods of a node those who empty nodes alone', () => {
    expect(targets(event('NodePodsChanged', { cluster: 'prod' }))).toEqual(['finalizer', 'drain']);
    expect(targets(event('DrainedNodeChanged', { cluster: 'prod' }))).toEqual(['drain']);
  });

  it.each([
    ['Node', 'annotations', ['finalizer', 'drain', 'repair', 'grace-period']],
    ['Node', 'bootID', ['finalizer', 'drain', 'repair']],
    ['Node', 'conditions', ['finalizer', 'drain', 'repair']],
    ['Node', 'drain', ['finalizer', 'drain']],
    ['Node', 'finalizers', ['finalizer', 'drain']],
    ['Node', 'protection', ['finalizer', 'drain', 'grace-period']],
    ['Node', 'taints', ['finalizer', 'drain']],
    ['Node', 'unschedulable', ['finalizer', 'drain']],
    ['NodeClaim', 'finalizers', ['finalizer']],
    ['NodeClaim', 'terminationGracePeriod', ['finalizer']],
    ['NodeClaim', 'providerID', ['finalizer', 'repair']],
    ['NodePool', 'spec', ['finalizer', 'repair', 'grace-period']],
  ])('tell of a %s of which the part %s changed alone whom it concerns', (kind, part, expected) => {
    expect(targets(changed(kind, [part]))).toEqual(expected);
  });

  it.each([
    ['came', { change: 'Added', changed: ['taints'] }],
    ['went', { change: 'Deleted', changed: [] }],
    ['is published once more', { resync: true, changed: [] }],
    ['changed in a part that concerns all, too', { changed: ['labels', 'taints'] }],
  ])('tell everybody of a Node that %s', (_, rest) => {
    expect(targets(changed('Node', [], rest))).toEqual(['finalizer', 'drain', 'repair', 'grace-period']);
  });

  it('name parts that the forwarder tells apart', () => {
    const named = ROUTES.flatMap(({ pattern }) => partsIn(pattern('prod')));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(part => !knownParts().has(part))).toEqual([]);
  });

  it('tell of the pods of a node whom the forwarder names, where it names somebody', () => {
    const pods = (hints: object) => targets(event('NodePodsChanged', { cluster: 'prod', hints }));
    expect(pods({ podsFor: 'finalizer' })).toEqual(['finalizer']);
    expect(pods({ podsFor: 'drain' })).toEqual(['drain']);
    expect(pods({ nodeName: 'n1' })).toEqual(['finalizer', 'drain']);
  });

  it('tell nobody who works on objects of a rule of their conditions, and who calls hooks of every sign of life', () => {
    const custom = (type: string, parts: readonly string[], hints: object = {}) =>
      targets(event(type, { cluster: 'prod', change: 'Modified', subject: { kind: 'Thing' }, changed: parts, hints }));
    expect(custom('DrainResourceChanged', ['conditions'])).toEqual(['drain']);
    expect(custom('DrainResourceChanged', ['conditions', 'generation'])).toEqual(['finalizer', 'drain']);
    expect(custom('CustomResourceChanged', ['finalizers'])).toEqual(['finalizer']);
    expect(custom('HookResourceChanged', ['version'], { hookKey: 'k' })).toEqual(['finalizer']);
  });

  it('tell of the annotations that hold a Node nobody but who holds it', () => {
    expect(targets(event('NodeProtectionChanged', { cluster: 'prod' }))).toEqual(['grace-period']);
  });

  it('tell of a pod with a protection nobody but its keeper: a node costs no look of those who do not empty it', () => {
    const annotated = { cluster: 'prod', change: 'Modified', subject: { kind: 'Pod' }, changed: ['annotations'] };
    expect(targets(event('PodChanged', annotated))).toEqual(['grace-period']);
  });

  it('take nothing of what EC2 says, which is of the whole account', () => {
    const says = (state: string) =>
      targets(event('EC2 Instance State-change Notification', { 'instance-id': 'i-0abc', state }, 'aws.ec2'));
    expect([says('terminated'), says('shutting-down')]).toEqual([[], []]);
  });

  it('match as the local bus does', () => {
    const kinds = ['Node', 'NodeClaim', 'Pod', 'ConfigMap', 'Secret'];
    const details = [
      {},
      { change: 'Deleted' },
      { resync: true },
      { resync: false, changed: ['taints'] },
      { changed: ['taints', 'labels'] },
      { changed: [], hints: { hookKey: 'k' } },
      { hints: { podsFor: 'finalizer' } },
      { hints: { podsFor: [] }, changed: 'ends' },
    ];
    const types = [...new Set(ROUTES.flatMap(({ pattern }) => pattern('prod')['detail-type']))];
    const sent = ['prod', 'staging'].flatMap(cluster =>
      details.flatMap(detail => [
        ...kinds.map(kind => changed(kind, [], { ...detail, cluster })),
        ...types.map(type => event(type, { subject: { kind: 'Node' }, ...detail, cluster })),
      ]),
    );
    for (const { pattern } of ROUTES) {
      const onBus = compileEventPattern(pattern('prod'));
      const matches = sent.map(each => matchesPattern(pattern('prod'), each));
      expect(sent.map(onBus)).toEqual(matches);
    }
    expect(sent.some(each => targets(each).length > 0)).toBe(true);
  });

  it('are short enough for EventBridge, which takes 2,048 characters', () => {
    for (const { pattern } of ROUTES) expect(JSON.stringify(pattern('c'.repeat(100))).length).toBeLessThan(2048);
  });
});
