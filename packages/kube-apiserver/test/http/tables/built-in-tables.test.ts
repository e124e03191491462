import { describe, expect, test } from 'vitest';
import { columnsOf } from '../../../src/http/tables/columns-of-resource.ts';
import { tableOf } from '../../../src/http/tables/table.ts';
import type { ResourceInfo } from '../../../src/types.ts';
import type { KubernetesObject } from '../../../src/kubernetes-object.ts';

const now = Date.parse('2026-01-01T00:10:00Z');

function resource(groupResource: string): ResourceInfo {
  const [name = '', ...group] = groupResource.split('.');
  return {
    group: group.join('.'),
    version: 'v1',
    resource: name,
    kind: 'Kind',
    listKind: 'KindList',
    singular: 'kind',
    shortNames: [],
    categories: [],
    namespaced: false,
    hasStatus: false,
    verbs: [],
    subresources: [],
  };
}

/** The row of one object by column name. */
function row(groupResource: string, fields: Record<string, unknown>): Record<string, unknown> {
  const { metadata = {}, ...rest } = fields;
  const object: KubernetesObject = {
    apiVersion: 'v1',
    kind: 'Kind',
    metadata: {
      name: 'x',
      uid: 'u',
      resourceVersion: '7',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(typeof metadata === 'object' ? metadata : {}),
    },
    ...rest,
  };
  const info = resource(groupResource);
  const table = tableOf(info, [object], {}, { includeObject: 'None', metaVersion: 'v1', now });
  return Object.fromEntries(columnsOf(info).map(({ name }, index) => [name, table.rows[0]?.cells[index]]));
}

describe('the table of nodes', () => {
  test('says whether a node is ready and takes pods, its roles, age and version', () => {
    const labels = { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'edge', other: 'x' };
    const status = {
      conditions: [{ type: 'Ready', status: 'True' }],
      nodeInfo: { kubeletVersion: 'v1.36.0', kernelVersion: '6.1', architecture: 'arm64' },
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
    };
    expect(row('nodes', { metadata: { labels }, spec: { unschedulable: true }, status })).toEqual({
      Name: 'x',
      Status: 'Ready,SchedulingDisabled',
      Roles: 'edge,worker',
      Age: '10m',
      Version: 'v1.36.0',
      'Internal-IP': '10.0.0.1',
      'External-IP': '<none>',
      'OS-Image': '<unknown>',
      'Kernel-Version': '6.1 (arm64)',
      'Container-Runtime': '<unknown>',
    });
  });

  test.each([
    [[], 'Unknown'],
    [[{ type: 'Ready', status: 'False' }], 'NotReady'],
    [[{ type: 'Ready', status: 'Unknown' }], 'NotReady'],
  ])('with conditions %j says %s', (conditions, status) => {
    expect(row('nodes', { status: { conditions } })).toMatchObject({ Status: status, Roles: '<none>' });
  });
});

describe('the table of events', () => {
  test('tells who it is about and when it was last seen, for old and new events', () => {
    const involvedObject = { kind: 'Node', name: 'n1' };
    const old = {
      involvedObject,
      type: 'Warning',
      reason: 'R',
      message: 'm\n',
      lastTimestamp: '2026-01-01T00:09:00Z',
      count: 4,
    };
    expect(row('events', old)).toMatchObject({ 'Last Seen': '60s', Object: 'node/n1', Message: 'm', Count: 4 });
    const fresh = {
      regarding: { kind: 'Node', name: 'n1' },
      note: 'm',
      eventTime: '2026-01-01T00:05:00.000000Z',
      series: { count: 9, lastObservedTime: '2026-01-01T00:08:00.000000Z' },
      reportingController: 'curfew',
      reportingInstance: 'i',
    };
    expect(row('events.events.k8s.io', fresh)).toMatchObject({
      'Last Seen': '2m',
      'First Seen': '5m',
      Count: 9,
      Source: 'curfew, i',
      Object: 'node/n1',
    });
  });
});

describe('the tables of other kinds', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    [
      'poddisruptionbudgets.policy',
      { spec: { minAvailable: '50%' }, status: { disruptionsAllowed: 2 } },
      { 'Min Available': '50%', 'Max Unavailable': 'N/A', 'Allowed Disruptions': 2 },
    ],
    ['leases.coordination.k8s.io', { spec: { holderIdentity: 'me' } }, { Holder: 'me', Age: '10m' }],
    ['namespaces', { status: { phase: 'Active' } }, { Status: 'Active' }],
    ['configmaps', { data: { a: '', b: '' }, binaryData: { c: '' } }, { Data: 3 }],
    ['secrets', { type: 'Opaque', data: { a: '' } }, { Type: 'Opaque', Data: 1 }],
    [
      'deployments.apps',
      {
        spec: {
          selector: { matchLabels: { app: 'a' }, matchExpressions: [{ key: 'k', operator: 'In', values: ['2', '1'] }] },
          template: { spec: { containers: [{ name: 'c', image: 'i:1' }] } },
        },
        status: { readyReplicas: 0, updatedReplicas: 1 },
      },
      { Ready: '0/1', 'Up-to-date': 1, Available: 0, Containers: 'c', Images: 'i:1', Selector: 'app=a,k in (1,2)' },
    ],
    [
      'daemonsets.apps',
      { spec: { template: { spec: { nodeSelector: { b: '2', a: '1' } } } }, status: { numberReady: 3 } },
      { Ready: 3, Desired: 0, 'Node Selector': 'a=1,b=2' },
    ],
    [
      'jobs.batch',
      { spec: { completions: 2 }, status: { succeeded: 1, startTime: '2026-01-01T00:08:00Z' } },
      { Status: 'Running', Completions: '1/2', Duration: '2m' },
    ],
    [
      'services',
      {
        spec: { type: 'LoadBalancer', clusterIP: '10.1.1.1', ports: [{ port: 80, nodePort: 30080, protocol: 'TCP' }] },
      },
      { 'External-IP': '<pending>', 'Port(s)': '80:30080/TCP', Selector: '<none>' },
    ],
    [
      'volumeattachments.storage.k8s.io',
      { spec: { attacher: 'ebs', nodeName: 'n', source: { persistentVolumeName: 'pv' } }, status: { attached: true } },
      { Attacher: 'ebs', PV: 'pv', Node: 'n', Attached: true },
    ],
    [
      'persistentvolumes',
      {
        spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], claimRef: { namespace: 'a', name: 'b' } },
      },
      { Capacity: '1Gi', 'Access Modes': 'RWO', Claim: 'a/b' },
    ],
    [
      'rolebindings.rbac.authorization.k8s.io',
      { roleRef: { kind: 'Role', name: 'r' }, subjects: [{ kind: 'ServiceAccount', namespace: 'n', name: 's' }] },
      { Role: 'Role/r', ServiceAccounts: 'n/s', Users: '' },
    ],
    ['customresourcedefinitions.apiextensions.k8s.io', {}, { 'Created At': '2026-01-01T00:00:00Z' }],
  ])('%s', (groupResource, fields, expected) => {
    expect(row(groupResource, fields)).toMatchObject({ Name: 'x', ...expected });
  });
});
