/** A custom resource whose making was not recorded, and whose node got well meanwhile. */
import { expect, it } from 'vitest';
import { minutes } from '../../../shared/domain/time.ts';
import { PERMISSIONS } from '../../../shared/contract/permissions.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { deployedIdentity } from '../../fakes/deployed-identity.ts';
import { type Crash, createRepairWorld, seedPool } from '../../fakes/repair-world.ts';

const FIX =
  'apiVersion: ops.example.com/v1\nkind: NodeFix\nmetadata:\n  namespace: prod\nspec:\n  node: {{ .NodeName }}\n';
const GRANT = { group: 'ops.example.com', resource: 'nodefixes', verbs: ['get', 'create', 'patch', 'delete'] } as const;

type Actions = readonly Readonly<Record<string, string>>[];

const THEN_TERMINATE: Actions = [
  { type: 'CustomResource', template: 'fix.yaml', timeout: '15m' },
  { type: 'Terminate' },
];

function dueWorld(actions = THEN_TERMINATE, onUse: (permission: string) => void = () => undefined) {
  const { kubernetes } = PERMISSIONS.repair;
  const permissions = { ...PERMISSIONS.repair, kubernetes: [...kubernetes, GRANT] };
  const world = createRepairWorld({ ...deployedIdentity('repair'), permissions, onUse });
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

type World = ReturnType<typeof dueWorld>;

/** Sweeps after each of these spans, in minutes. */
async function sweepFor(world: World, spans: readonly number[]): Promise<void> {
  for (const span of spans) {
    world.advance(minutes(span));
    await world.sweep();
  }
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

it('I3: no settings are read between the last look at the node and the act, for they could forbid it', async () => {
  const used: string[] = [];
  const world = dueWorld(THEN_TERMINATE, permission => used.push(permission));
  await world.look('n1');
  expect(used).toContain('create nodefixes.ops.example.com');
  const act = used.indexOf('create nodefixes.ops.example.com');
  expect(used.lastIndexOf('get configmaps curfew-config in curfew', act)).toBeLessThan(
    used.lastIndexOf('get nodes', act),
  );
});

const ADMISSION = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: 'keep' } };
const BINDING = {
  type: { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingadmissionpolicybindings' },
  name: 'keep',
};

/** An admission policy keeps it for half an hour, and the run that meets that first ends at the call. */
async function keptStory(crash: Crash | undefined) {
  const world = dueWorld();
  await world.look('n1');
  const resourceRules = [
    { apiGroups: ['ops.example.com'], apiVersions: ['v1'], operations: ['DELETE'], resources: ['nodefixes'] },
  ];
  const validations = [{ expression: 'false', message: 'it stays' }];
  const spec = { failurePolicy: 'Fail', matchConstraints: { resourceRules }, validations };
  world.seed({ ...ADMISSION, kind: 'ValidatingAdmissionPolicy', spec });
  const binding = { policyName: 'keep', validationActions: ['Deny'] };
  world.seed({ ...ADMISSION, kind: 'ValidatingAdmissionPolicyBinding', spec: binding });
  world.setCondition('n1', 'NetworkUnavailable', 'False');
  world.advance(minutes(1));
  const calls = await world.look('n1', crash);
  await sweepFor(world, [1, 1, 5, 5, 5]);
  const said = world.events.filter(({ message }) => message.includes('cannot be taken back')).length;
  world.core.delete(BINDING, { user: 'x' });
  await sweepFor(world, [5, 1]);
  const deletions = world.writes.filter(({ ref, verb }) => ref.type.resource === 'nodefixes' && verb === 'delete');
  const pool = world.store.all().find(({ id }) => id.startsWith('pool/'));
  return { calls, said, deletions: deletions.length, left: pool?.state['left'] };
}

it('I7, I9: is deleted as soon as admission lets it go, and said before, wherever the run ended', async () => {
  const { calls, ...undisturbed } = await keptStory(undefined);
  expect(undisturbed).toEqual({ said: 1, deletions: 1, left: undefined });
  const wrong: unknown[] = [];
  for (let call = 1; call <= calls; call++) {
    for (const side of ['before', 'after'] as const) {
      const { said, deletions, left } = await keptStory({ call, side });
      if (said < 1 || deletions !== 1 || left !== undefined) wrong.push({ call, side, said, deletions, left });
    }
  }
  expect({ calls, wrong }).toEqual({ calls, wrong: [] });
});

const TIMED_OUT = 'remediation.medik8s.io/nhc-timed-out';
const NODE_FIX = {
  type: { group: 'ops.example.com', version: 'v1', resource: 'nodefixes' },
  namespace: 'prod',
  name: 'n1',
};

/** The node stays unhealthy: after the time of the custom resource its NodeClaim is deleted. The run that makes it ends at the call. */
async function unhealthyStory(crash: Crash | undefined, meanwhile?: (world: World) => void) {
  const world = dueWorld();
  const calls = await world.look('n1', crash);
  world.advance(minutes(1));
  await world.look('n1');
  await sweepFor(world, [1, 1, 5, 5]);
  meanwhile?.(world);
  await sweepFor(world, [5, 1, 1, 5]);
  const writes = (resource: string, verb: string): number =>
    world.writes.filter(write => write.ref.type.resource === resource && write.verb === verb).length;
  return {
    calls,
    created: writes('nodefixes', 'create'),
    patched: writes('nodefixes', 'patch'),
    claims: writes('nodeclaims', 'delete'),
    timedOut: world.core.get(NODE_FIX).metadata.annotations?.[TIMED_OUT],
  };
}

it('I4: is made once, and told once that its time is over, wherever the run ended', async () => {
  const { calls, ...undisturbed } = await unhealthyStory(undefined);
  expect(undisturbed).toEqual({ created: 1, patched: 1, claims: 1, timedOut: expect.any(String) });
  const wrong: unknown[] = [];
  for (let call = 1; call <= calls; call++) {
    for (const side of ['before', 'after'] as const) {
      const { created, patched, claims, timedOut } = await unhealthyStory({ call, side });
      if (created !== 1 || patched !== 1 || claims !== 1 || timedOut === undefined)
        wrong.push({ call, side, created, patched, claims, timedOut });
    }
  }
  expect({ calls, wrong }).toEqual({ calls, wrong: [] });
});

/** What blocks further repairs of the pool once the run has ended, and what ends that. */
const BLOCKS: readonly [what: string, block: (world: World) => void, release: (world: World) => void][] = [
  [
    'a guard',
    world => world.setCondition('n2', 'NetworkUnavailable', 'True'),
    world => world.setCondition('n2', 'NetworkUnavailable', 'False'),
  ],
  ['a veto', world => setVeto(world, 'true'), world => setVeto(world, null)],
];

function setVeto(world: World, value: string | null): void {
  const body = { metadata: { annotations: { 'curfew.dev/do-not-repair': value } } };
  world.core.patch({ type: RESOURCES.Node, name: 'n1' }, { type: 'merge', body }, { user: 'somebody' });
}

it.each(BLOCKS)(
  'I4: is made once and stays, wherever the run ended, where %s blocks the next look',
  async (_, block, release) => {
    const blocked = async (crash: Crash | undefined) => {
      const world = dueWorld();
      const calls = await world.look('n1', crash);
      block(world);
      world.advance(minutes(2));
      await world.look('n1');
      await sweepFor(world, [1, 1]);
      release(world);
      await world.look('n1');
      await sweepFor(world, [1, 1, 5]);
      const verbs = world.writes.flatMap(({ ref, verb }) => (ref.type.resource === 'nodefixes' ? [verb] : []));
      return { calls, verbs };
    };
    const { calls, verbs } = await blocked(undefined);
    expect(verbs).toEqual(['create']);
    const wrong: unknown[] = [];
    for (let call = 1; call <= calls; call++) {
      for (const side of ['before', 'after'] as const) {
        const { verbs: after } = await blocked({ call, side });
        if (after.join() !== 'create') wrong.push({ call, side, verbs: after });
      }
    }
    expect({ calls, wrong }).toEqual({ calls, wrong: [] });
  },
);

it('I10: is not taken for another one of its name, which keeps nothing from going on', async () => {
  const { calls: _, ...after } = await unhealthyStory(undefined, world => {
    world.core.delete(NODE_FIX, { user: 'x' });
    world.seed({ apiVersion: 'ops.example.com/v1', kind: 'NodeFix', metadata: { namespace: 'prod', name: 'n1' } });
  });
  expect(after).toEqual({ created: 1, patched: 0, claims: 1, timedOut: undefined });
});

const DEFINITION = {
  type: { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
  name: 'nodefixes.ops.example.com',
};
const setServed = (world: World, served: boolean): void => {
  world.core.patch(
    DEFINITION,
    { type: 'json', body: [{ op: 'replace', path: '/spec/versions/0/served', value: served }] },
    { user: 'x' },
  );
};

/** The node gets well while the kind is not served, and the run that meets that first ends at the call. */
async function unseenStory(crash?: Crash, setNotServed = (world: World) => setServed(world, false)) {
  const world = dueWorld();
  await world.look('n1');
  setNotServed(world);
  world.setCondition('n1', 'NetworkUnavailable', 'False');
  world.advance(minutes(1));
  const calls = await world.look('n1', crash);
  await sweepFor(world, [1, 1, 5, 5, 5, 1]);
  const said = world.events.flatMap(({ message }) => (message.includes('cannot be taken back') ? [message] : []));
  const isKnown = world.store.all().some(({ id, state }) => id.startsWith('node/') && state['ours'] !== undefined);
  return { world, calls, said, isKnown };
}

it('I6, I12: is deleted once its kind is served again, and said before, wherever the run ended', async () => {
  const story = async (crash?: Crash) => {
    const { world, calls, said } = await unseenStory(crash);
    setServed(world, true);
    await sweepFor(world, [1, 4, 1]);
    const deletions = world.writes.filter(({ ref, verb }) => ref.type.resource === 'nodefixes' && verb === 'delete');
    return { calls, said, deletions: deletions.length };
  };
  const { calls, ...undisturbed } = await story();
  const text =
    'what the repair has left cannot be taken back: the API server does not serve nodefixes in ops.example.com/v1; it is tried again every five minutes';
  expect(undisturbed).toEqual({ said: [text], deletions: 1 });
  const wrong: unknown[] = [];
  for (let call = 1; call <= calls; call++) {
    for (const side of ['before', 'after'] as const) {
      const { said, deletions } = await story({ call, side });
      if (said.length < 1 || deletions !== 1) wrong.push({ call, side, said, deletions });
    }
  }
  expect({ calls, wrong }).toEqual({ calls, wrong: [] });
});

it('is gone with the definition of its kind, and nothing is said of it', async () => {
  const { said, isKnown } = await unseenStory(undefined, world => {
    world.core.delete(DEFINITION, { user: 'x' });
  });
  expect({ said, isKnown }).toEqual({ said: [], isKnown: false });
});

it('I12: is not forgotten because a replacement is launched meanwhile', async () => {
  const [first = {}] = THEN_TERMINATE;
  const story = async (crash?: Crash) => {
    const world = dueWorld([first, { type: 'ReplaceThenTerminate', timeout: '20m' }]);
    const calls = await world.look('n1', crash);
    setServed(world, false);
    await sweepFor(world, [2, 5, 5, 5, 1, 1]);
    const isLaunched = world.writes.some(({ ref, verb }) => ref.type.resource === 'nodeclaims' && verb === 'create');
    setServed(world, true);
    world.setCondition('n1', 'NetworkUnavailable', 'False');
    await sweepFor(world, [1, 5, 5, 5]);
    const verbs = world.writes.flatMap(({ ref, verb }) => (ref.type.resource === 'nodefixes' ? [verb] : []));
    return { calls, isLaunched, verbs };
  };
  const { calls } = await story();
  const wrong: unknown[] = [];
  for (let call = 1; call <= calls; call++) {
    const { isLaunched, verbs } = await story({ call, side: 'after' });
    const isMade = verbs.includes('create');
    if (isMade !== verbs.includes('delete')) wrong.push({ call, isLaunched, verbs });
  }
  expect({ calls, wrong }).toEqual({ calls, wrong: [] });
});
