/** What the simulation allows by the table is what RBAC allows by the manifests: for every part, whatever is asked. */
import fc from 'fast-check';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import { rbacFiles } from '../../deploy/manifests.ts';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import type { UserInfo } from '../../packages/kube-apiserver/src/authorization/attributes.ts';
import { createRbacAuthorizer } from '../../packages/kube-apiserver/src/authorization/rbac.ts';
import { grantFor } from '../../runtime/permissions/kubernetes.ts';
import { CONFIG_MAP, FUNCTION_NAMES } from '../../shared/contract/names.ts';
import {
  FORWARDER_LEASE,
  kubernetesGroupOf,
  PERMISSIONS,
  type KubernetesVerb,
  type Component,
} from '../../shared/contract/permissions.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';

const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.exactOptional(z.string()) }),
});

const core = createApiServer({ clock: { now: () => 0 } });
core.seed({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: CONFIG_MAP.namespace } });
for (const { text } of rbacFiles()) {
  for (const document of parseAllDocuments(text)) core.seed(manifest.parse(document.toJS()));
}
const authorizer = createRbacAuthorizer(core);

const PARTS: readonly Component[] = [...FUNCTION_NAMES, 'forwarder'];
const userOf = (part: Component): UserInfo =>
  part === 'forwarder'
    ? { name: `system:serviceaccount:${CONFIG_MAP.namespace}:curfew-forwarder`, groups: [] }
    : { name: 'somebody', groups: [kubernetesGroupOf(part)] };

const VERBS: readonly KubernetesVerb[] = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
const TYPES = [...Object.values(RESOURCES), { group: '', resource: 'secrets' }, { group: 'apps', resource: 'nodes' }];

const request = fc
  .record(
    {
      verb: fc.constantFrom(...VERBS),
      type: fc.constantFrom(...TYPES),
      subresource: fc.constantFrom('status', 'eviction'),
      namespace: fc.constantFrom(CONFIG_MAP.namespace, 'default', 'kube-system'),
      name: fc.constantFrom(CONFIG_MAP.name, FORWARDER_LEASE.name, 'n1', ''),
    },
    { requiredKeys: ['verb', 'type'] },
  )
  .map(({ type: { group, resource }, ...rest }) => ({ group, resource, ...rest }));

describe('the permission table and the manifests', () => {
  it.each(PARTS)('allow %s the same', part => {
    const user = userOf(part);
    const { kubernetes } = PERMISSIONS[part];
    const seen = { allowed: 0, refused: 0 };
    fc.assert(
      fc.property(request, asked => {
        const allowed = grantFor(kubernetes, asked) !== undefined;
        expect(authorizer.authorize(user, asked).allowed).toBe(allowed);
        seen[allowed ? 'allowed' : 'refused'] += 1;
      }),
      { numRuns: 3000 },
    );
    expect(seen.refused).toBeGreaterThan(0);
    expect(seen.allowed > 0).toBe(kubernetes.length > 0);
  });
});
