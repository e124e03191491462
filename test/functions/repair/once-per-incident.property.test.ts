/** No action is taken twice for one incident, wherever a run ends, whatever calls the repair off in between. */
import { expect, it } from 'vitest';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { minutes } from '../../../shared/domain/time.ts';
import { type Crash, createRepairWorld, type RepairWorld, seedPool } from '../../fakes/repair-world.ts';

const REPAIR = { maxUnhealthy: '100%', actions: [{ type: 'Reboot', timeout: '10m' }, { type: 'Terminate' }] };

const change = (world: RepairWorld, type: keyof typeof RESOURCES, name: string, body: JsonObject): unknown =>
  world.core.patch({ type: RESOURCES[type], name }, { type: 'merge', body }, { user: 'somebody' });

/** What calls it off, and what ends that. */
const INTERRUPTIONS: readonly (readonly [string, (world: RepairWorld) => unknown, (world: RepairWorld) => unknown])[] =
  [
    ['nothing', () => undefined, () => undefined],
    [
      'a veto',
      world => change(world, 'Node', 'n1', { metadata: { annotations: { 'curfew.dev/do-not-repair': 'true' } } }),
      world => change(world, 'Node', 'n1', { metadata: { annotations: { 'curfew.dev/do-not-repair': null } } }),
    ],
    [
      'an edit',
      world => change(world, 'NodePool', 'default', { spec: { repair: null } }),
      world => change(world, 'NodePool', 'default', { spec: { repair: REPAIR } }),
    ],
    [
      'a recovery of two minutes',
      world => world.setCondition('n1', 'Ready', 'True'),
      world => world.setCondition('n1', 'Ready', 'False'),
    ],
  ];

async function story(
  [, begin, end]: (typeof INTERRUPTIONS)[number],
  crash: Crash | undefined,
): Promise<{ readonly calls: number; readonly world: RepairWorld }> {
  const world = createRepairWorld();
  seedPool(world, ['n1'], REPAIR);
  world.setCondition('n1', 'Ready', 'False');
  await world.look('n1');
  await world.run(minutes(29));
  const calls = await world.run(minutes(3), crash);
  // The message of a run that ended comes again.
  await world.look('n1');
  begin(world);
  await world.look('n1');
  await world.run(minutes(2));
  end(world);
  await world.look('n1');
  await world.run(minutes(90));
  return { calls, world };
}

it.each(INTERRUPTIONS)('I4: after %s', async (...interruption) => {
  const { calls } = await story(interruption, undefined);
  expect(calls).toBeGreaterThan(10);
  for (let call = 1; call <= calls; call++) {
    const { world } = await story(interruption, { call, side: call % 2 === 0 ? 'before' : 'after' });
    const deletions = world.writes.filter(({ verb, resource }) => verb === 'delete' && resource.kind === 'NodeClaim');
    const reboots = world.instanceCalls.filter(text => text.startsWith('reboot'));
    expect({ call, reboots: reboots.length <= 1, deletions: deletions.length }).toEqual({
      call,
      reboots: true,
      deletions: 1,
    });
  }
});
