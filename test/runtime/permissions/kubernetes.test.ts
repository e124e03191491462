import { describe, expect, it } from 'vitest';
import { ANY_CUSTOM_KIND, grantFor } from '../../../runtime/permissions/kubernetes.ts';

describe('a grant of any custom kind', () => {
  const grant = { group: ANY_CUSTOM_KIND, resource: ANY_CUSTOM_KIND, verbs: ['get', 'create'] } as const;
  const request = { verb: 'get', group: 'drain.example.com', resource: 'drainrequests', name: 'drain-n1-e1' } as const;
  const asks = (more: object) => grantFor([grant], { ...request, ...more }) === grant;

  it.each(['drain.example.com', 'slurm.io', 'notk8s.io', 'mycurfew.dev'])('covers %s', group => {
    expect(asks({ group })).toBe(true);
  });

  it.each([
    '',
    'apps',
    'policy',
    'k8s.io',
    'rbac.authorization.k8s.io',
    'karpenter.sh',
    'karpenter.k8s.aws',
    'curfew.dev',
  ])('does not cover the group "%s", which has rows of its own', group => {
    expect(asks({ group })).toBe(false);
  });

  it('covers its verbs alone, and no subresource', () => {
    expect(asks({ verb: 'create' })).toBe(true);
    expect(asks({ verb: 'delete' })).toBe(false);
    expect(asks({ subresource: 'status' })).toBe(false);
  });
});
