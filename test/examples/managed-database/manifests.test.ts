import { expect, it } from 'vitest';
import {
  CLEANUP_FUNCTION,
  CONTROLLER_USER,
  FINALIZER,
  MANAGED_DATABASES,
} from '../../../examples/managed-database/names.ts';
import { kubernetesGroupOf, permissionsOnFinalizerRuleKind } from '../../../shared/contract/permissions.ts';
import { createWorld, readManifests } from './world.ts';

const { group, resource, version } = MANAGED_DATABASES;

it('the rule names what the code names', () => {
  expect(readManifests('rule.yaml')).toMatchObject([
    {
      spec: {
        group,
        version,
        kind: 'ManagedDatabase',
        finalizerName: FINALIZER,
        cleanup: { lambda: { functionName: CLEANUP_FUNCTION } },
      },
    },
  ]);
});

it('Curfew gets exactly the rights that it needs on the kind', () => {
  const manifests = readManifests('rbac.yaml');
  for (const part of ['finalizer', 'forwarder'] as const) {
    const role = manifests.find(
      ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === `curfew-${part}-${resource}`,
    );
    expect(role).toMatchObject({
      rules: permissionsOnFinalizerRuleKind(part, { group, resource }).map(({ subresource, verbs }) => ({
        apiGroups: [group],
        resources: [subresource === undefined ? resource : `${resource}/${subresource}`],
        verbs,
      })),
    });
  }
  const text = JSON.stringify(manifests);
  expect(text).toContain(kubernetesGroupOf('finalizer'));
  const [, , namespace, name] = CONTROLLER_USER.split(':');
  expect(text).toContain(JSON.stringify({ kind: 'ServiceAccount', name, namespace }));
});

it('the definition refuses names that are not for users, and a new name', async () => {
  const world = createWorld('postgres://nobody@127.0.0.1:9/postgres');
  for (const dbName of ['template1', 'pg_data', 'Orders', 'a b', 'x'.repeat(64), '']) {
    expect(() => world.create(dbName, 'refused')).toThrow(
      /is a name that PostgreSQL keeps|should match|[Tt]oo long|pattern/,
    );
  }
  world.create('orders');
  expect(() => world.rename('orders', 'sales')).toThrow('cannot change, because a database keeps its name');
  await world.stop();
});
