/** I9: a run that ends between any two calls says a decision twice rather than never. */
import { expect, it } from 'vitest';
import { minutes } from '../../../shared/domain/time.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { type Crash, createRepairWorld, type RepairWorld, seedPool } from '../../fakes/repair-world.ts';

const POOL = ['n1', 'n2', 'n3', 'n4', 'n5'];

function unhealthyWorld(repair: object, unhealthy: readonly string[] = ['n1']): RepairWorld {
  const world = createRepairWorld();
  seedPool(world, POOL, { policies: [{ conditionType: 'NetworkUnavailable', toleration: '10m' }], ...repair });
  for (const name of unhealthy) world.setCondition(name, 'NetworkUnavailable', 'True');
  return world;
}

async function dueWorld(repair: object, unhealthy?: readonly string[]): Promise<RepairWorld> {
  const world = unhealthyWorld(repair, unhealthy);
  await world.look('n1');
  world.advance(minutes(10));
  return world;
}

/** The look at a node that was unhealthy for a moment. */
async function toleratedWorld(): Promise<RepairWorld> {
  const world = unhealthyWorld({});
  await world.look('n1');
  return world;
}

const SITUATIONS: readonly [decision: string, prepare: () => Promise<RepairWorld>][] = [
  ['blocked', () => dueWorld({}, ['n1', 'n2'])],
  [
    'vetoed',
    async () => {
      const world = await dueWorld({});
      const body = { metadata: { annotations: { 'curfew.dev/do-not-repair': 'true' } } };
      world.core.patch({ type: RESOURCES.Node, name: 'n1' }, { type: 'merge', body }, { user: 'somebody' });
      return world;
    },
  ],
  [
    'wouldRepair',
    async () => {
      const world = await dueWorld({});
      world.seed({
        apiVersion: 'curfew.dev/v1alpha1',
        kind: 'NodeLifecyclePolicy',
        metadata: { name: 'observe' },
        spec: { mode: 'Observe' },
      });
      return world;
    },
  ],
  [
    'recovered',
    async () => {
      const world = await dueWorld({ actions: [{ type: 'Reboot', timeout: '15m' }, { type: 'Terminate' }] });
      await world.look('n1');
      world.setCondition('n1', 'NetworkUnavailable', 'False');
      world.advance(minutes(15));
      return world;
    },
  ],
  ['tolerate', async () => unhealthyWorld({})],
  ['refuse', async () => unhealthyWorld({ policies: [{ conditionType: 'NetworkUnavailable', toleration: '10x' }] })],
  [
    'ignore',
    async () => {
      const world = unhealthyWorld({});
      const body = { status: { conditions: [{ type: 'Ready', status: 'False' }] } };
      const options = { user: 'kubelet', subresource: 'status' } as const;
      world.core.patch({ type: RESOURCES.Node, name: 'n1' }, { type: 'merge', body }, options);
      return world;
    },
  ],
  [
    'ignore',
    async () => {
      const world = await toleratedWorld();
      world.setCondition('n1', 'NetworkUnavailable', 'False');
      return world;
    },
  ],
  [
    'close',
    async () => {
      const world = await toleratedWorld();
      world.core.delete({ type: RESOURCES.Node, name: 'n1' }, { user: 'karpenter' });
      return world;
    },
  ],
];

it.each(SITUATIONS)('%s', async (decision, prepare) => {
  const story = async (crash: Crash | undefined): Promise<{ calls: number; said: number }> => {
    const world = await prepare();
    // It may be gone by now.
    const uid = world.audit.find(({ name }) => name === 'n1')?.uid;
    const calls = await world.look('n1', crash, uid);
    for (let minute = 0; minute < 6; minute++) {
      world.advance(minutes(1));
      await world.look('n1', undefined, uid);
      await world.sweep();
    }
    return { calls, said: world.audit.filter(line => line.decision === decision && line.name === 'n1').length };
  };
  const { calls, said } = await story(undefined);
  expect(said).toBe(1);
  const unsaid: Crash[] = [];
  for (let call = 1; call <= calls; call++) {
    for (const side of ['before', 'after'] as const) {
      const after = await story({ call, side });
      if (after.said === 0) unsaid.push({ call, side });
    }
  }
  expect(unsaid).toEqual([]);
});
