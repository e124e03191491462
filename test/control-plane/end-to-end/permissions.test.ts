/** Which permissions count as used. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../shared/domain/time.ts';
import type { AuditedRequest } from './audit-log.ts';
import { describePermission, describeRefusal, permissionsIn, unusedOf } from './permissions.ts';

const folder = mkdtempSync(join(tmpdir(), 'curfew-permissions-'));
const file = join(folder, 'rbac.yaml');
writeFileSync(
  file,
  `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: some }
rules:
  - { apiGroups: [''], resources: [nodes, pods/eviction], verbs: [get, create] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: some, namespace: curfew }
rules:
  - { apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [one], verbs: [patch] }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: some, namespace: curfew }
`,
);
afterAll(() => rmSync(folder, { recursive: true }));

const request = (changes: Partial<AuditedRequest>): AuditedRequest => ({
  time: toEpochMs(0),
  user: 'somebody',
  verb: 'get',
  group: '',
  resource: 'nodes',
  subresource: undefined,
  namespace: undefined,
  name: 'n1',
  code: 200,
  allowed: true,
  requestObject: undefined,
  responseObject: undefined,
  ...changes,
});
const unused = (...requests: readonly AuditedRequest[]): readonly string[] =>
  unusedOf(permissionsIn([file]), requests).map(describePermission);

describe('permissions', () => {
  it('are taken one by one out of ClusterRoles and Roles', () => {
    expect(permissionsIn([file]).map(describePermission)).toEqual([
      'get nodes',
      'create nodes',
      'get pods/eviction',
      'create pods/eviction',
      'patch leases.coordination.k8s.io one in curfew',
    ]);
  });

  it('are used by a request of that verb, resource and subresource that was allowed', () => {
    expect(unused(request({}))).not.toContain('get nodes');
    expect(unused(request({ allowed: false }))).toContain('get nodes');
    expect(unused(request({ group: 'example.com' }))).toContain('get nodes');
    expect(unused(request({ subresource: 'status' }))).toContain('get nodes');
    expect(unused(request({ verb: 'create', resource: 'pods', subresource: 'eviction' }))).not.toContain(
      'create pods/eviction',
    );
  });

  it('of a Role are used in its namespace, on the objects that it names', () => {
    const patch = { verb: 'patch', group: 'coordination.k8s.io', resource: 'leases' };
    const lease = 'patch leases.coordination.k8s.io one in curfew';
    expect(unused(request({ ...patch, namespace: 'curfew', name: 'one' }))).not.toContain(lease);
    expect(unused(request({ ...patch, namespace: 'default', name: 'one' }))).toContain(lease);
    expect(unused(request({ ...patch, namespace: 'curfew', name: 'two' }))).toContain(lease);
  });

  it('that are missing are named by who wanted what', () => {
    const refused = request({ verb: 'patch', resource: 'nodes', allowed: false });
    expect(describeRefusal(refused)).toBe('somebody may not patch nodes n1');
  });
});
