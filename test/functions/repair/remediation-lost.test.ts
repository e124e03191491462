/** A custom resource whose making was not recorded, and whose node got well meanwhile. */
import { expect, it } from 'vitest';
import { minutes } from '../../../shared/domain/time.ts';
import { PERMISSIONS } from '../../../shared/contract/permissions.ts';
import { deployedIdentity } from '../../fakes/deployed-identity.ts';
import { createRepairWorld, seedPool, type Crash } from '../../fakes/repair-world.ts';

const FIX =
  'apiVersion: ops.example.com/v1\nkind: NodeFix\nmetadata:\n  namespace: prod\nspec:\n  node: {{ .NodeName }}\n';
const GRANT = { group: 'ops.example.com', resource: 'nodefixes', verbs: ['get', 'create', 'patch', 'delete'] } as const;

function dueWorld() {
  const { kubernetes } = PERMISSIONS.repair;
  const permissions = { ...PERMISSIONS.repair, kubernetes: [...kubernetes, GRANT] };
  const world = createRepairWorld({ ...deployedIdentity('repair'), permissions });
  const actions = [{ type: 'CustomResource', template: 'fix.yaml', timeout: '15m' }, { type: 'Terminate' }];
  seedPool(world, ['n1', 'n2', 'n3', 'n4', 'n5'], {
    policies: [{ conditionType: 'NetworkUnavailable', toleration: '10m' }],
    actions,
  });
  world.core.patch(
    { type: { group: '', version: 'v1', resource: 'configmaps' }, namespace: 'curfew', name: 'curfew-config' },
    { type: 'merge', body: { data: { 'fix.yaml': FIX } } },
    { user: 'x' },
  );
  world.seed({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'prod' } });
  world.seed({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'nodefixes.ops.example.com' },
    spec: {
      group: 'ops.example.com',
      scope: 'Namespaced',
      names: { plural: 'nodefixes', singular: 'nodefix', kind: 'NodeFix', listKind: 'NodeFixList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  });
  world.setCondition('n1', 'NetworkUnavailable', 'True');
  world.advance(minutes(10));
  return world;
}

async function story(crash: Crash | undefined) {
  const world = dueWorld();
  const calls = await world.look('n1', crash);
  world.setCondition('n1', 'NetworkUnavailable', 'False');
  for (const span of [1, 2, 5]) {
    world.advance(minutes(span));
    if (span === 1) await world.look('n1');
    await world.sweep();
  }
  const verbs = world.writes.filter(({ ref }) => ref.type.resource === 'nodefixes').map(({ verb }) => verb);
  return { calls, verbs };
}

it('I7: is deleted wherever the run ended', async () => {
  const { calls } = await story(undefined);
  const left: unknown[] = [];
  for (let call = 1; call <= calls; call++) {
    for (const side of ['before', 'after'] as const) {
      const { verbs } = await story({ call, side });
      if (verbs.filter(verb => verb === 'create').length !== verbs.filter(verb => verb === 'delete').length)
        left.push({ call, side, verbs });
    }
  }
  expect({ calls, left }).toEqual({ calls, left: [] });
});
