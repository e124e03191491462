import { describe, expect, it } from 'vitest';
import type { JsonObject, KubernetesManifest } from '../src/kubernetes-object.ts';
import { EVENTS, LEASES, NODES, aNode, aServer, causesOf, node, refusal } from './server-under-test.ts';

function anEvent(more: JsonObject, namespace = 'default'): KubernetesManifest {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e', namespace },
    involvedObject: { kind: 'Node', name: 'n1' },
    reason: 'NodeRepairBlocked',
    ...more,
  };
}

function aLease(spec: JsonObject): KubernetesManifest {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l', namespace: 'default' }, spec };
}

describe('times in built-in kinds', () => {
  it('are kept in whole seconds of UTC', () => {
    const { api } = aServer();
    const condition = { type: 'Ready', status: 'True', lastTransitionTime: '2024-11-01T15:00:00.999Z' };
    const taint = { key: 'a', effect: 'NoSchedule', timeAdded: '2024-11-01T17:00:00+02:00' };
    const created = api.create(NODES, aNode('n1', { spec: { taints: [taint] }, status: { conditions: [condition] } }));
    expect(created).toMatchObject({
      spec: { taints: [{ timeAdded: '2024-11-01T15:00:00Z' }] },
      status: { conditions: [{ lastTransitionTime: '2024-11-01T15:00:00Z' }] },
    });
  });

  it("that are Go's zero time are no times", () => {
    const { api } = aServer();
    const condition = { type: 'Ready', status: 'False', lastTransitionTime: '0001-01-01T00:00:00Z' };
    const created = api.create(NODES, aNode('n1', { status: { conditions: [condition] } }));
    expect(created).toMatchObject({ status: { conditions: [{ type: 'Ready', status: 'False' }] } });
    expect(JSON.stringify(created)).not.toContain('0001-01-01');
  });

  it('that are none are refused', () => {
    const { api } = aServer();
    const status = { conditions: [{ type: 'Ready', lastHeartbeatTime: 'noon' }] };
    expect(refusal(() => api.create(NODES, aNode('n1', { status })))).toMatchObject({
      code: 400,
      message:
        'Node in version "v1" cannot be handled as a Node: parsing time "noon" as "2006-01-02T15:04:05Z07:00": cannot parse "noon" as "2006"',
    });
  });

  it.each([
    ['2024-11-01T15:00:00.123456Z', '2024-11-01T15:00:00.123456Z'],
    ['2024-11-01T17:00:00.123456+02:00', '2024-11-01T15:00:00.123456Z'],
  ])('of a lease have six digits: %s', (renewTime, stored) => {
    const { api } = aServer();
    expect(api.create(LEASES, aLease({ renewTime })).spec).toEqual({ renewTime: stored });
  });

  // What Date.prototype.toISOString writes is not a MicroTime: an API server refuses it.
  it.each(['2024-11-01T15:00:00.123Z', '2024-11-01T15:00:00Z'])('of a lease are refused without: %s', renewTime => {
    const { api } = aServer();
    const status = refusal(() => api.create(LEASES, aLease({ renewTime })));
    expect(status.code).toBe(400);
    expect(status.message).toContain(`cannot parse "${renewTime.slice(19)}" as ".000000"`);
  });
});

describe('what Go does not write', () => {
  it('is not stored: empty lists, and that a node is schedulable', () => {
    const { api } = aServer();
    const created = api.create(NODES, aNode('n1', { spec: { unschedulable: false, taints: [] } }, { finalizers: [] }));
    expect(created.spec).toEqual({});
    expect(created.metadata).not.toHaveProperty('finalizers');
    const cordoned = api.patch(node('n1'), { type: 'merge', body: { spec: { unschedulable: true } } });
    expect(cordoned.spec).toEqual({ unschedulable: true });
    expect(api.patch(node('n1'), { type: 'merge', body: { spec: { unschedulable: false } } }).spec).toEqual({});
  });
});

describe('a node', () => {
  it.each<[string, JsonObject[], string]>([
    [
      'the same taint twice',
      [
        { key: 'a', effect: 'NoSchedule' },
        { key: 'a', effect: 'NoSchedule' },
      ],
      'metadata.taints[1]: Duplicate value: {"key":"a","effect":"NoSchedule"}: taints must be unique by key and effect pair',
    ],
    [
      'an unknown effect',
      [{ key: 'a', effect: 'Evict' }],
      'metadata.taints[0].effect: Unsupported value: "Evict": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ],
    ['no effect', [{ key: 'a' }], 'metadata.taints[0].effect: Required value'],
  ])('cannot have %s', (_, taints, cause) => {
    const { api } = aServer();
    api.create(NODES, aNode('n1'));
    const status = refusal(() => api.patch(node('n1'), { type: 'merge', body: { spec: { taints } } }));
    expect(causesOf(status)).toEqual([cause]);
  });

  it('can have one key with two effects', () => {
    const { api } = aServer();
    const taints = [
      { key: 'a', effect: 'NoSchedule' },
      { key: 'a', effect: 'NoExecute' },
    ];
    expect(api.create(NODES, aNode('n1', { spec: { taints } })).spec?.taints).toEqual(taints);
  });
});

describe('an event', () => {
  it.each<[string, JsonObject, string]>([
    ['of a node stands in default', {}, 'kube-system'],
    [
      'of a pod stands in its namespace',
      { involvedObject: { kind: 'Pod', name: 'p', namespace: 'kube-system' } },
      'default',
    ],
  ])('%s', (_, more, elsewhere) => {
    const { api } = aServer();
    const status = refusal(() => api.create(EVENTS, anEvent(more, elsewhere)));
    expect(status.code).toBe(422);
    expect(status.message).toContain('does not match event.namespace');
    const home = elsewhere === 'default' ? 'kube-system' : 'default';
    expect(api.create(EVENTS, anEvent(more, home)).metadata.namespace).toBe(home);
  });

  it('with an eventTime says who reports it and what was done', () => {
    const { api } = aServer();
    const eventTime = '2024-11-01T15:00:00.000000Z';
    expect(
      causesOf(refusal(() => api.create(EVENTS, anEvent({ eventTime })))).map(cause => cause.split(':')[0]),
    ).toEqual(['reportingComponent', 'reportingComponent', 'reportingComponent', 'reportingInstance', 'action']);
    const said = { eventTime, reportingComponent: 'curfew.dev/repair', reportingInstance: 'repair', action: 'Repair' };
    expect(api.create(EVENTS, anEvent(said)).reportingInstance).toBe('repair');
    const tooLong = { ...said, message: 'x'.repeat(1025) };
    expect(causesOf(refusal(() => api.create(EVENTS, { ...anEvent(tooLong), metadata: { name: 'f' } })))).toEqual([
      'message: Invalid value: "": can have at most 1024 characters',
    ]);
  });
});

describe('a lease', () => {
  it('lasts for some time, and counts its transitions from zero', () => {
    const { api } = aServer();
    const status = refusal(() => api.create(LEASES, aLease({ leaseDurationSeconds: 0, leaseTransitions: -1 })));
    expect(causesOf(status)).toEqual([
      'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
    ]);
  });
});
