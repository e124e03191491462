/** Which permissions count as used. */
import { describe, expect, it } from 'vitest';
import { PERMISSIONS, type KubernetesGrant } from '../../../shared/contract/permissions.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';
import type { AuditedRequest } from './audit-log.ts';
import { describeRefusal, unusedOf } from './permissions.ts';

const GRANTS: readonly KubernetesGrant[] = [
  { group: '', resource: 'nodes', verbs: ['get', 'list'] },
  { group: '', resource: 'pods', subresource: 'eviction', verbs: ['create'] },
  { group: 'coordination.k8s.io', resource: 'leases', verbs: ['patch'], namespace: 'curfew', names: ['one'] },
];

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
const unused = (...requests: readonly AuditedRequest[]): readonly string[] => unusedOf('repair', GRANTS, requests);

describe('permissions', () => {
  it('are taken one by one', () => {
    expect(unused()).toEqual([
      'get nodes',
      'list nodes',
      'create pods/eviction',
      'patch leases.coordination.k8s.io one in curfew',
    ]);
  });

  it('are used by a request of that verb, resource and subresource that was allowed', () => {
    expect(unused(request({}))).not.toContain('get nodes');
    expect(unused(request({ allowed: false }))).toContain('get nodes');
    expect(unused(request({ group: 'example.com' }))).toContain('get nodes');
    expect(unused(request({ subresource: 'status' }))).toContain('get nodes');
    expect(unused(request({ verb: 'impersonate' }))).toContain('get nodes');
    const eviction = request({ verb: 'create', resource: 'pods', subresource: 'eviction', namespace: 'shop' });
    expect(unused(eviction)).not.toContain('create pods/eviction');
  });

  it('on named objects of a namespace are used on these', () => {
    const patch = { verb: 'patch', group: 'coordination.k8s.io', resource: 'leases' };
    const lease = 'patch leases.coordination.k8s.io one in curfew';
    expect(unused(request({ ...patch, namespace: 'curfew', name: 'one' }))).not.toContain(lease);
    expect(unused(request({ ...patch, namespace: 'default', name: 'one' }))).toContain(lease);
    expect(unused(request({ ...patch, namespace: 'curfew', name: 'two' }))).toContain(lease);
  });

  it('that only faults make use of are not missed', () => {
    const { kubernetes } = PERMISSIONS.repair;
    expect(unusedOf('repair', kubernetes, [])).toContain('delete nodeclaims.karpenter.sh');
    expect(unusedOf('repair', kubernetes, [])).not.toContain('get nodeclaims.karpenter.sh');
  });

  it('that are missing are named by who wanted what', () => {
    const refused = request({ verb: 'patch', resource: 'nodes', allowed: false });
    expect(describeRefusal(refused)).toBe('somebody may not patch nodes n1');
  });
});
