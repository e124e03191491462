/** Which permissions count as used. */
import { describe, expect, it } from 'vitest';
import { PERMISSIONS } from '../../../shared/contract/permissions.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';
import type { AuditedRequest } from './audit-log.ts';
import { describeRefusal, unusedOf } from './permissions.ts';

const LEASE = {
  verb: 'patch',
  group: 'coordination.k8s.io',
  resource: 'leases',
  namespace: 'curfew',
  name: 'curfew-forwarder',
};
const PATCH_LEASE = 'patch leases.coordination.k8s.io curfew-forwarder in curfew';

const request = (changes: Partial<AuditedRequest>): AuditedRequest => ({
  time: toEpochMs(0),
  received: toEpochMs(0),
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
  unusedOf('forwarder', PERMISSIONS.forwarder.kubernetes, requests);

describe('permissions', () => {
  it('that nothing simulated uses must be used, each', () => {
    expect(unused()).toEqual([
      'create leases.coordination.k8s.io in curfew',
      'get leases.coordination.k8s.io curfew-forwarder in curfew',
      PATCH_LEASE,
    ]);
  });

  it('are used by a request of that verb, resource, namespace and name that was allowed', () => {
    expect(unused(request(LEASE))).not.toContain(PATCH_LEASE);
    for (const other of [
      { allowed: false },
      { verb: 'get' },
      { verb: 'impersonate' },
      { group: 'example.com' },
      { subresource: 'status' },
      { namespace: 'default' },
      { name: 'two' },
    ]) {
      expect(unused(request({ ...LEASE, ...other }))).toContain(PATCH_LEASE);
    }
  });

  it('that scenarios or faults make use of are not missed', () => {
    expect(unusedOf('repair', PERMISSIONS.repair.kubernetes, [])).toEqual([]);
  });

  it('that are missing are named by who wanted what', () => {
    const refused = request({ verb: 'patch', resource: 'nodes', allowed: false });
    expect(describeRefusal(refused)).toBe('somebody may not patch nodes n1');
  });
});
